// The tab Questions, for admins: a question is removed with its answers, with one undo; the bin lists and restores
// them.

import { get, getPage, post } from '../core/api.js';
import { h, redraw, replace } from '../core/dom.js';
import { Pages } from '../core/pages.js';
import { count } from '../core/text.js';
import { refreshAfterAct } from '../gradio/tabs.js';
import { MoreButton, Say, button, row, time, twice } from './people_parts.js';
import { WatchedList } from './watched_list.js';

/** @import { QuestionHoldings, RemovedQuestionLine } from '../types' */

const PAGE = 20; // rows of the bin at first, and further ones with each press
const MOST = 1000; // that the server sends at once

/** Asks before a removal, says what it did, and shows the bin. Gradio writes its element, with the project. */
class QuestionBin extends WatchedList {
  static observedAttributes = ['data-project'];

  say = new Say();
  asking = h('section', { class: 'g-card', hidden: true, tabindex: '-1', 'aria-label': 'Removal of a question' });
  undo = h('div', { class: 'g-row-acts' });
  list = h('ul', { class: 'g-rows', 'aria-label': 'Questions in the bin' });
  heading = h('summary', {}, 'Bin');
  /** @type {HTMLDetailsElement} */
  fold = h('details', { class: 'g-bin', hidden: true }, this.heading);
  total = 0;
  /** @type {string[]} those that were removed last: the undo restores them */
  removed = [];
  /** @type {Pages<RemovedQuestionLine>} */
  bin = new Pages(
    async (values) => {
      const page = await getPage('/projects/{project_id}/removed-questions', { ...this.here, ...values });
      this.total = page.total ?? page.items.length;
      return page;
    },
    PAGE,
    MOST,
  );
  more = new MoreButton(this.bin, this.say, () => this.draw());

  get here() {
    return { project_id: this.project };
  }

  get topics() {
    return /** @type {const} */ (['questions']);
  }

  connectedCallback() {
    super.connectedCallback();
    this.tab = this.closest('[role=tabpanel]') ?? document.body;
    this.tab.addEventListener('click', this.pressed);
  }

  disconnectedCallback() {
    this.tab?.removeEventListener('click', this.pressed);
    super.disconnectedCallback();
  }

  /** Gradio may change the project of the element that is there, and then empties it. */
  attributeChangedCallback() {
    queueMicrotask(() => {
      this.say.show('');
      this.removed = [];
      this.asking.hidden = true;
      this.fold.replaceChildren(this.heading, this.list, this.more.root);
      this.replaceChildren(this.asking, this.say.root, this.undo, this.fold);
      this.drawUndo();
      this.look();
    });
  }

  async load() {
    await this.say.load(() => this.bin.load());
    this.draw();
  }

  draw() {
    this.heading.textContent = `Bin: ${count(this.total, 'question')}`;
    this.fold.hidden = !this.total;
    redraw(this.list, this.bin.items, () => this.bin.items.map((line) => this.line(line)));
    this.more.draw();
  }

  /** @param {RemovedQuestionLine} line */
  line(line) {
    const by = line.removed_by ? ` by ${line.removed_by}` : '';
    return row(
      line.text,
      [
        `${count(line.answers, 'answer')}, ${count(line.tasks, 'task')}. Removed${by} `,
        time(line.removed_at),
        '. Deleted for good on ',
        time(line.deleted_at),
        '.',
      ],
      button('Restore', () => this.restore([line.id])),
      twice('Delete', 'Confirm deletion', () => this.erase(line)),
    );
  }

  drawUndo() {
    const { removed } = this;
    replace(this.undo, removed.length ? button('Undo: restore the question', () => this.restore(removed)) : null);
  }

  /** @param {Event} event a press of a button in the table of questions, which Gradio draws */
  pressed = (event) => {
    const pressed = event.target instanceof Element ? event.target.closest('[data-remove-question]') : null;
    if (pressed instanceof HTMLElement) this.ask(String(pressed.dataset.removeQuestion), pressed);
  };

  /**
   * Says what goes to the bin, and asks.
   *
   * @param {string} id
   * @param {HTMLElement} from takes the focus again
   */
  async ask(id, from) {
    this.asking.hidden = true;
    await this.say.act(async () => {
      const values = { ...this.here, question_id: id };
      const goes = await get('/projects/{project_id}/questions/{question_id}/holdings', values);
      const cancel = () => {
        this.asking.hidden = true;
        from.focus();
      };
      replace(
        this.asking,
        h('h2', {}, 'Remove this question with its answers?'),
        h('p', { dir: 'auto' }, h('b', {}, goes.text)),
        h('p', {}, sentenceAbout(goes)),
        h(
          'div',
          { class: 'g-row-acts' },
          button('Remove question', () => this.putInBin(goes), 'g-danger'),
          button('Cancel', cancel),
        ),
      );
      this.asking.hidden = false;
      this.asking.scrollIntoView({ block: 'nearest' });
      this.asking.focus();
    });
    if (this.asking.hidden) this.say.root.scrollIntoView({ block: 'nearest' });
  }

  /** @param {QuestionHoldings} goes */
  putInBin(goes) {
    return this.act(async () => {
      const { questions } = await post('/projects/{project_id}/questions/remove', this.here, { questions: [goes.id] });
      this.asking.hidden = true;
      this.removed = questions;
      return `${goes.text} Removed with ${count(goes.answers, 'answer')}. The bin keeps them.`;
    });
  }

  /** @param {string[]} ids */
  restore(ids) {
    return this.act(async () => {
      const { questions } = await post('/projects/{project_id}/removed-questions/restore', this.here, {
        questions: ids,
      });
      this.removed = this.removed.filter((id) => !questions.includes(id));
      return `${count(questions.length, 'question')} restored, with the answers.`;
    });
  }

  /** @param {RemovedQuestionLine} line */
  erase(line) {
    return this.act(async () => {
      const { questions, stays } = await post('/projects/{project_id}/removed-questions/delete', this.here, {
        questions: [line.id],
      });
      this.removed = this.removed.filter((id) => !questions.includes(id));
      return [`Deleting ${count(questions.length, 'question')} for good.`, ...stays].join(' ');
    });
  }

  /** @param {() => Promise<string>} step resolves to what it did */
  async act(step) {
    let done = '';
    if (await this.say.act(async () => (done = await step()))) this.say.show(done);
    this.drawUndo();
    refreshAfterAct('questions');
    await this.look();
  }
}

/** @param {QuestionHoldings} goes */
function sentenceAbout({ answers, people, values, tasks }) {
  const of = answers ? ` of ${count(people, 'person', 'people')}` : '';
  return (
    `${count(answers, 'answer')}${of}, ${count(values, 'value')} and ${count(tasks, 'task')} go to the bin with it. ` +
    'They can be restored from there. Snapshots and exports made before keep their copies.'
  );
}

export function watchRemovedQuestions() {
  customElements.define('glossator-question-bin', QuestionBin);
}
