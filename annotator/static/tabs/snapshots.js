// The tab Export: the list of the project's snapshots, which admins can delete where nothing needs them.

import { getPage, remove } from '../core/api.js';
import { h, redraw } from '../core/dom.js';
import { Pages } from '../core/pages.js';
import { count } from '../core/text.js';
import { MoreButton, Say, button, row, set, time } from './people_parts.js';
import { askRemoval } from './removal_dialog.js';
import { WatchedList } from './watched_list.js';

/** @import { SnapshotLine } from '../types' */

const PAGE = 10; // rows at first, and further ones with each press
const MOST = 1000; // that the server sends at once
const DIGITS = 12; // of a name, as sentences show it

class SnapshotList extends WatchedList {
  static observedAttributes = ['data-project', 'data-admin'];

  say = new Say();
  none = h('p', { class: 'g-none' });
  list = h('ul', { class: 'g-rows', 'aria-label': 'Snapshots' });
  /** @type {Pages<SnapshotLine>} */
  pages = new Pages(
    (values) => getPage('/projects/{project_id}/snapshots', { project_id: this.project, ...values }),
    PAGE,
    MOST,
  );
  more = new MoreButton(this.pages, this.say, () => this.draw());

  get topics() {
    return /** @type {const} */ (['jobs', 'runs', 'models']);
  }

  /** Gradio may change the attributes of the element that is there, and then empties it. */
  attributeChangedCallback() {
    queueMicrotask(() => {
      const card = h(
        'section',
        { class: 'g-card' },
        h('h2', {}, 'Snapshots of this project'),
        h('p', {}, 'An export or a retraining freezes its answers as a snapshot. A document in it cannot be deleted.'),
        this.say.root,
        this.none,
        this.list,
        this.more.root,
      );
      this.say.show('');
      this.replaceChildren(card);
      this.look();
    });
  }

  async load() {
    if (await this.say.load(() => this.pages.load())) this.draw();
  }

  draw() {
    const { items } = this.pages;
    set(this.none, items.length ? '' : 'No snapshots yet.');
    redraw(this.list, [items, this.dataset.admin], () => items.map((line) => this.line(line)));
    this.more.draw();
  }

  /** @param {SnapshotLine} line */
  line(line) {
    const name = line.sha256.slice(0, DIGITS),
      removal = button('Delete', () => this.ask(line, name), 'g-danger');
    removal.ariaLabel = `Delete the snapshot ${name}`;
    return row(
      name,
      [
        `${count(line.annotations, 'answer')} on ${count(line.documents, 'document')}, frozen `,
        time(line.created_at),
        line.needed && ` · ${line.needed}`,
      ],
      this.dataset.admin && !line.needed ? removal : null,
    );
  }

  /**
   * @param {SnapshotLine} line
   * @param {string} name
   */
  ask(line, name) {
    const sentences = [
      'The answers in the project stay as they are now. How they were when they were frozen is lost.',
      'Exports of it that are kept can still be downloaded. The snapshot cannot be brought back.',
    ];
    askRemoval({ title: `Delete the snapshot ${name}?`, sentences, yes: 'Delete', no: 'Keep it' }, async () => {
      const values = { project_id: this.project, snapshot_id: line.id };
      await remove('/projects/{project_id}/snapshots/{snapshot_id}', values);
      await this.look();
    });
  }
}

export const watchSnapshots = () => customElements.define('glossator-snapshots', SnapshotList);
