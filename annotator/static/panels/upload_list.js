// Files on their way, drawn into any element: how many are done, those under way, and what somebody should know of the
// others.

/** @import { Remark, Sending, UploadQueue } from '../sync/upload_queue.js' */

import { h, keyed, redraw } from '../core/dom.js';
import { count } from '../core/text.js';
import { icon } from '../core/icons.js';

const STAYS = 4000; // milliseconds that the last line stays when all is done

/** @type {readonly { kind: Remark['kind'], title: (number: number) => string }[]} */
const REMARKS = [
  { kind: 'refused', title: (number) => `${count(number, 'file was', 'files were')} refused` },
  { kind: 'failed', title: (number) => `${count(number, 'file was', 'files were')} not sent` },
  { kind: 'warned', title: (number) => `${count(number, 'file was', 'files were')} stored with a warning` },
  { kind: 'known', title: (number) => `${count(number, 'file was', 'files were')} in the project already` },
];

/** @param {Sending} file */
function stateOf({ state, share }) {
  if (state === 'sending') return `Sending ${Math.floor(100 * share)} %`;
  if (state === 'reading') return 'Reading…';
  return state === 'stored' ? 'Stored' : 'The server is busy. The file is sent again soon.';
}

/** @param {UploadQueue} queue */
function totalOf({ busy, total, finished, stored }) {
  if (busy) return total === 1 ? 'Uploading 1 file' : `${finished} of ${count(total, 'file')}`;
  const created = stored.filter((each) => each.created).length;
  return created < total ? `${created} of ${count(total, 'file')} stored` : `${count(total, 'file')} stored`;
}

export class UploadList {
  /**
   * @param {HTMLElement} root is hidden while there is nothing to say
   * @param {UploadQueue} queue
   */
  constructor(root, queue) {
    this.root = root;
    this.queue = queue;
    this.said = h('b', { role: 'status' });
    this.cancel = h(
      'button',
      {
        class: 'g-link',
        type: 'button',
        title: 'Cancels the files that are not sent yet',
        on: { click: () => queue.cancel() },
      },
      'Cancel',
    );
    this.bar = h('i', {});
    this.progress = h(
      'div',
      { class: 'g-bar', role: 'progressbar', 'aria-label': 'Upload', 'aria-valuemin': '0', 'aria-valuemax': '100' },
      this.bar,
    );
    this.total = h(
      'div',
      { class: 'g-uploads-total' },
      h('div', { class: 'g-uploads-line' }, this.said, this.cancel),
      this.progress,
    );
    this.rows = h('ul', { class: 'g-uploading', 'aria-label': 'Files being uploaded' });
    this.folds = REMARKS.map((each) => new Fold(each.kind, each.title, queue));
    root.classList.add('g-uploads');
    root.append(this.total, this.rows, ...this.folds.map((fold) => fold.root));
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.leaving = undefined;
    this.over = true; // nothing is under way, and the last line has been there long enough
    this.unfollow = queue.follow(() => this.render());
    this.render();
  }

  render() {
    const { queue } = this,
      { under, waiting } = queue,
      working = queue.busy || under.length > 0;
    if (working) {
      clearTimeout(this.leaving);
      this.leaving = undefined;
      this.over = false;
    } else if (!this.over) this.leaving ??= setTimeout(() => this.leave(), STAYS);
    this.total.hidden = this.over || (!working && !queue.stored.length);
    this.said.textContent = totalOf(queue);
    this.cancel.hidden = !waiting.length;
    this.progress.setAttribute('aria-valuenow', String(Math.floor(100 * queue.progress)));
    this.progress.dataset.state = working ? 'working' : 'done';
    this.bar.style.width = `${100 * queue.progress}%`;
    this.rows.hidden = !under.length;
    keyed(this.rows, under, {
      key: (each) => each.id,
      make: () => h('li', {}),
      updateRow: (row, each) => this.updateRow(row, each),
    });
    for (const fold of this.folds) fold.render();
    this.root.hidden = this.total.hidden && !queue.remarks.length;
  }

  /**
   * @param {HTMLElement} row
   * @param {Sending} file
   */
  updateRow(row, file) {
    row.dataset.state = file.state;
    const state = stateOf(file);
    redraw(row, [file.name, state], () => [
      h('span', { class: 'g-uploading-name', title: file.name, dir: 'auto' }, file.name),
      h('span', { class: 'g-quiet' }, state),
    ]);
  }

  leave() {
    this.leaving = undefined;
    this.over = true;
    this.render();
  }

  destroy() {
    clearTimeout(this.leaving);
    this.unfollow();
  }
}

/**
 * The sentence of the server mostly names the file.
 *
 * @param {Remark} remark
 */
const remarkLine = ({ name, sentence }) =>
  h('li', {}, !sentence.includes(name) && h('b', { dir: 'auto' }, name), h('span', {}, sentence));

/** Remarks of one kind: a line that opens to names and reasons. The reason why a single file failed stands open. */
class Fold {
  number = 0; // of remarks, as drawn last

  /**
   * @param {Remark['kind']} kind
   * @param {(number: number) => string} title
   * @param {UploadQueue} queue
   */
  constructor(kind, title, queue) {
    this.kind = kind;
    this.title = title;
    this.queue = queue;
    this.line = h('summary', {});
    this.list = h('ul', {});
    this.details = h('details', {}, this.line, this.list);
    const again =
      kind === 'failed' &&
      h('button', { class: 'g-link', type: 'button', on: { click: () => queue.again() } }, 'Try again');
    const close = h(
      'button',
      {
        class: 'g-icon-button g-small',
        type: 'button',
        'aria-label': 'Dismiss',
        title: 'Dismiss',
        on: { click: () => queue.dismiss(kind) },
      },
      icon('cross', 12),
    );
    this.root = h('div', { class: 'g-remark', dataset: { kind } }, this.details, again, close);
  }

  render() {
    const remarks = this.queue.remarks.filter((each) => each.kind === this.kind);
    this.root.hidden = !remarks.length;
    const before = this.number;
    this.number = remarks.length;
    if (before !== this.number && Math.min(before, this.number) < 2)
      this.details.open = this.number === 1 && (this.kind === 'refused' || this.kind === 'failed');
    this.line.textContent = this.title(remarks.length);
    redraw(
      this.list,
      remarks.map(({ name, sentence }) => [name, sentence]),
      () => remarks.map(remarkLine),
    );
  }
}
