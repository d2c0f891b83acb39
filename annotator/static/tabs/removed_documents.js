// The tab Documents, for admins: documents are chosen and removed, moved or copied, with one undo; the bin lists and
// restores them.

import { getPage, post } from '../core/api.js';
import { h, redraw } from '../core/dom.js';
import { Pages } from '../core/pages.js';
import { count } from '../core/text.js';
import { refreshAfterAct } from '../gradio/tabs.js';
import { MoreButton, Say, button, row, time, twice } from './people_parts.js';
import { DocumentTraces } from './document_traces.js';
import { DocumentTransfer } from './document_transfer.js';
import { WatchedList } from './watched_list.js';

/** @import { BinLine } from '../types' */

const PAGE = 20; // rows of the bin at first, and further ones with each press
const MOST = 1000; // that the server sends at once
const CHANGED = 'glossator:documents-chosen'; // event of the window

/** The chosen documents of one project; they stay chosen while Gradio draws the table anew, and on its other pages. */
const chosen = {
  project: '',
  /** @type {Set<string>} */
  ids: new Set(),
  /** @type {string[]} those that were removed last: the undo restores them */
  removed: [],
  telling: false,

  /** @param {string} project */
  show(project) {
    if (project === this.project) return;
    Object.assign(this, { project, ids: new Set(), removed: [] });
  },

  /**
   * @param {string} id
   * @param {boolean} on
   */
  set(id, on) {
    if (on) this.ids.add(id);
    else this.ids.delete(id);
    this.tell();
  },

  /** Once for all that happens now: fifty boxes appear together. */
  tell() {
    if (this.telling) return;
    this.telling = true;
    queueMicrotask(() => {
      this.telling = false;
      window.dispatchEvent(new Event(CHANGED));
    });
  },
};

/**
 * The box before the name of a document. Gradio writes its element, with the id and the name; for another document it
 * changes these and empties the element, so the box stands in a tree of its own.
 */
class DocumentChoice extends HTMLElement {
  static observedAttributes = ['data-document', 'data-name'];

  /** @type {HTMLInputElement} */
  box = h('input', {
    type: 'checkbox',
    on: { change: () => chosen.set(this.key, this.box.checked) },
  });

  constructor() {
    super();
    Object.assign(this.box.style, { width: '16px', height: '16px', margin: '0' }); // no style sheet reaches it
    this.attachShadow({ mode: 'open', delegatesFocus: true }).append(this.box);
  }

  get key() {
    return this.dataset.document ?? '';
  }

  connectedCallback() {
    window.addEventListener(CHANGED, this.follow);
    chosen.tell();
  }

  disconnectedCallback() {
    window.removeEventListener(CHANGED, this.follow);
    chosen.tell();
  }

  attributeChangedCallback() {
    this.box.ariaLabel = `Choose ${this.dataset.name}`;
    chosen.tell();
  }

  follow = () => {
    this.box.checked = chosen.ids.has(this.key);
  };
}

/** What can be done with the chosen documents, and the bin. Gradio writes its element, with the project. */
class DocumentBin extends WatchedList {
  static observedAttributes = ['data-project'];

  say = new Say();
  acts = h('div', { class: 'g-row-acts' });
  traces = new DocumentTraces(this.say);
  transfer = new DocumentTransfer({
    project: () => this.project,
    chosen: () => [...chosen.ids],
    act: (step) => this.act(step),
    say: this.say,
    moved: () => void (chosen.ids = new Set()),
  });
  number = 0; // of chosen documents, as drawn last
  list = h('ul', { class: 'g-rows', 'aria-label': 'Documents in the bin' });
  heading = h('summary', {}, 'Bin');
  /** @type {HTMLDetailsElement} */
  fold = h('details', { class: 'g-bin', hidden: true }, this.heading);
  total = 0;
  /** @type {Pages<BinLine>} */
  bin = new Pages(
    async (values) => {
      const page = await getPage('/projects/{project_id}/bin', { project_id: this.project, ...values });
      this.total = page.total ?? page.items.length;
      return page;
    },
    PAGE,
    MOST,
  );
  all = h(
    'div',
    {},
    twice('Empty bin', 'Confirm: delete all for good', () => this.empty(null)),
  );
  more = new MoreButton(this.bin, this.say, () => this.draw());

  connectedCallback() {
    window.addEventListener(CHANGED, this.drawActs);
    super.connectedCallback();
  }

  disconnectedCallback() {
    window.removeEventListener(CHANGED, this.drawActs);
    super.disconnectedCallback();
  }

  get topics() {
    return /** @type {const} */ (['documents']);
  }

  /** Gradio may change the project of the element that is there, and then empties it. */
  attributeChangedCallback() {
    chosen.show(this.project);
    queueMicrotask(() => {
      this.say.show('');
      this.fold.replaceChildren(this.heading, this.list, this.more.root, this.all);
      this.closePanels();
      this.replaceChildren(this.acts, this.transfer.root, this.traces.root, this.say.root, this.fold);
      this.drawActs();
      this.look();
    });
  }

  async load() {
    await this.say.load(() => this.bin.load());
    this.draw();
  }

  draw() {
    this.heading.textContent = `Bin: ${count(this.total, 'document')}`;
    this.fold.hidden = !this.total;
    this.all.hidden = this.total < 2;
    redraw(this.list, this.bin.items, () => this.bin.items.map((line) => this.line(line)));
    this.more.draw();
  }

  /** @param {BinLine} line */
  line(line) {
    const by = line.removed_by ? ` by ${line.removed_by}` : '';
    return row(
      line.name,
      [
        `${count(line.pages, 'page')}, ${count(line.answers, 'answer')}. Removed${by} `,
        time(line.removed_at),
        '. Deleted for good on ',
        time(line.deleted_at),
        '.',
      ],
      button('What holds it', () => this.traces.show(this.project, line.id)),
      button('Restore', () => this.restore([line.id])),
      twice('Delete', 'Confirm deletion', () => this.empty([line.id])),
    );
  }

  drawActs = () => {
    const here = [...(this.closest('[role=tabpanel]') ?? document).querySelectorAll('glossator-choice')].flatMap(
        (each) => (each instanceof HTMLElement && each.dataset.document ? [each.dataset.document] : []),
      ),
      number = chosen.ids.size,
      { removed } = chosen;
    if (this.number && !number) this.closePanels();
    this.number = number;
    redraw(this.acts, [number, removed, here.join(), this.transfer.drawn], () => [
      here.some((id) => !chosen.ids.has(id))
        ? button('Choose all on this page', () => here.forEach((id) => chosen.set(id, true)))
        : null,
      number ? button('Choose none', () => [...chosen.ids].forEach((id) => chosen.set(id, false))) : null,
      number === 1 ? button('What holds it', () => this.traces.show(this.project, [...chosen.ids].join())) : null,
      number ? button(`Remove ${count(number, 'document')}`, () => this.remove(), 'g-danger') : null,
      this.transfer.buttons(),
      removed.length ? button(`Undo: restore ${count(removed.length, 'document')}`, () => this.restore(removed)) : null,
    ]);
  };

  /** What they say is of documents that are chosen no more. */
  closePanels() {
    this.transfer.close();
    this.traces.close();
  }

  remove() {
    const ids = [...chosen.ids];
    this.closePanels();
    return this.act(async () => {
      const { documents } = await post(
        '/projects/{project_id}/documents/remove',
        { project_id: this.project },
        { documents: ids },
      );
      chosen.ids = new Set();
      chosen.removed = documents;
      return `${count(documents.length, 'document')} removed. The bin keeps them with their answers.`;
    });
  }

  /** @param {string[]} ids */
  restore(ids) {
    return this.act(async () => {
      const { documents } = await post(
        '/projects/{project_id}/bin/restore',
        { project_id: this.project },
        { documents: ids },
      );
      chosen.removed = chosen.removed.filter((id) => !documents.includes(id));
      return `${count(documents.length, 'document')} restored.`;
    });
  }

  /** @param {string[] | null} ids null: all */
  empty(ids) {
    return this.act(async () => {
      const { documents, stays } = await post(
        '/projects/{project_id}/bin/empty',
        { project_id: this.project },
        { documents: ids },
      );
      chosen.removed = chosen.removed.filter((id) => !documents.includes(id));
      return [`Deleting ${count(documents.length, 'document')} for good.`, ...stays].join(' ');
    });
  }

  /** @param {() => Promise<string>} step resolves to what it did */
  async act(step) {
    let done = '';
    if (await this.say.act(async () => (done = await step()))) this.say.show(done);
    chosen.tell();
    refreshAfterAct('documents');
    await this.look();
  }
}

export function watchRemovedDocuments() {
  customElements.define('glossator-choice', DocumentChoice);
  customElements.define('glossator-bin', DocumentBin);
}
