// The tab Export: a button that starts an export, and the list of the project's exports with their files.

import { get, post, remove, sentenceOf } from '../core/api.js';
import { h } from '../core/dom.js';
import { ROOT } from '../core/root.js';
import { count, moment, percent } from '../core/text.js';
import { ProgressBar, Rows, button, once, set } from './people_parts.js';
import { askRemoval } from './removal_dialog.js';
import { WatchedList } from './watched_list.js';

/** @import { ExportView } from '../types' */

/** @type {Record<ExportView['state'], [string, string]>} */
const STATE = {
  waiting: ['waiting', 'plain'],
  running: ['running', 'busy'],
  done: ['done', 'good'],
  failed: ['failed', 'bad'],
  stopped: ['stopped', 'plain'],
};
const STOPS = 'The export stops at its next step.';

class ExportsList extends WatchedList {
  connectedCallback() {
    const list = this.querySelector('ul');
    if (list) this.rows = new Rows(list, (/** @type {ExportView} */ { id }) => new ExportRow(this, id));
    super.connectedCallback();
  }

  async load() {
    try {
      const all = await get('/projects/{project_id}/exports', { project_id: this.project });
      this.rows?.show(all);
      this.tell(all.length ? '' : 'No exports yet.');
    } catch (error) {
      if (!this.rows?.root.children.length) this.tell(sentenceOf(error));
    }
  }

  /** @param {string} sentence said in place of the list */
  tell(sentence) {
    const none = this.querySelector('.g-none');
    if (none instanceof HTMLElement) set(none, sentence);
  }

  /** @param {string} chosen the format and the filters, as a query */
  async start(chosen) {
    const said = this.querySelector('.g-say');
    /** @param {string} sentence */
    const say = (sentence) => said instanceof HTMLElement && set(said, sentence);
    say('');
    try {
      const values = { project_id: this.project, ...queryOf(chosen) };
      await post('/projects/{project_id}/exports', values, undefined);
    } catch (error) {
      say(sentenceOf(error));
    }
    await this.look();
  }
}

class ExportRow {
  /**
   * @param {ExportsList} list
   * @param {string} id
   */
  constructor(list, id) {
    const values = { project_id: list.project, export_id: id };
    this.title = h('b');
    this.badge = h('span');
    this.how = h('span', { class: 'g-job-message' });
    this.about = h('span');
    this.failure = h('span', { class: 'g-job-failure' });
    this.bar = new ProgressBar();
    this.stop = button('Stop', () =>
      list.stop(
        () => post('/projects/{project_id}/exports/{export_id}/stop', values, undefined),
        (sentence) => set(this.failure, sentence),
      ),
    );
    this.removal = button(
      'Delete',
      () => this.ask(() => remove('/projects/{project_id}/exports/{export_id}', values)),
      'g-danger',
    );
    this.list = list;
    const file = `${ROOT}/api/projects/${list.project}/exports/${id}/file`;
    this.fetch = h('a', { class: 'g-act', href: file, download: true }, 'Download');
    const head = h('div', { class: 'g-job-head' }, this.title, this.badge);
    this.root = h(
      'li',
      { class: 'g-job' },
      h('div', { class: 'g-row-text' }, head, this.how, this.failure, this.about, this.bar.root),
      h('div', { class: 'g-row-acts' }, this.fetch, this.removal, this.stop),
    );
    this.updateRow = this.updateRow.bind(this);
  }

  /** @param {ExportView} one */
  updateRow(one) {
    const [word, look] = STATE[one.state],
      running = one.state === 'running';
    set(this.title, one.title);
    this.badge.className = `glossator-badge ${look}`;
    set(this.badge, running ? `${word}, ${percent(one.progress)}` : word);
    set(this.how, howOf(one));
    set(this.failure, one.state === 'failed' ? one.message : '');
    set(this.about, [one.chosen, `started by ${one.by}, ${moment(one.asked_at)}`].filter(Boolean).join(' · '));
    this.bar.show(running, one.progress);
    this.stop.hidden = one.stopping || !(running || one.state === 'waiting');
    this.fetch.hidden = this.removal.hidden = one.state !== 'done';
    this.fetch.setAttribute('aria-label', `Download ${one.title}, ${moment(one.asked_at)}`);
    this.removal.setAttribute('aria-label', `Delete ${one.title}, ${moment(one.asked_at)}`);
  }

  /** @param {() => Promise<unknown>} run */
  ask(run) {
    const sentences = [
      'The file on the server is deleted for good. Its snapshot stays, so the command line can export the same again.',
    ];
    const question = { title: 'Delete this export?', sentences, yes: 'Delete', no: 'Keep it' };
    askRemoval(question, async () => {
      await run();
      await this.list.look();
    });
  }
}

/** @param {ExportView} one */
function howOf(one) {
  if (one.state === 'failed') return '';
  if (one.stopping) return STOPS;
  return one.state === 'done' ? found(one) : one.message;
}

/** @param {ExportView} one */
const found = ({ answers, bytes, kept_until: until }) =>
  [count(answers ?? 0, 'answer'), size(bytes ?? 0), until && `kept until ${moment(until)}`].filter(Boolean).join(' · ');

/** @type {[number, string][]} */
const UNITS = [
  [1e9, 'GB'],
  [1e6, 'MB'],
  [1e3, 'KB'],
];

/** @param {number} bytes */
function size(bytes) {
  const [unit, name] = UNITS.find(([each]) => bytes >= each) ?? [1, 'bytes'];
  return `${(bytes / unit).toLocaleString('en-GB', { maximumFractionDigits: unit === 1 ? 0 : 1 })} ${name}`;
}

/**
 * A query as values by name; a name that stands there several times has several.
 *
 * @param {string} query
 */
function queryOf(query) {
  const given = new URLSearchParams(query);
  return Object.fromEntries([...new Set(given.keys())].map((name) => [name, given.getAll(name)]));
}

// Gradio builds the button anew with every filter: its events are heard on the document.
export function watchExports() {
  customElements.define('glossator-exports', ExportsList);
  document.addEventListener('click', ({ target }) => {
    const pressed = target instanceof Element && target.closest('button[data-export]');
    if (!(pressed instanceof HTMLElement)) return;
    const list = pressed.closest('.glossator-tab')?.querySelector('glossator-exports');
    if (list instanceof ExportsList) once(pressed, () => list.start(pressed.dataset.chosen ?? ''));
  });
}
