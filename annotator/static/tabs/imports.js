// The form that brings a dataset in: sent with its progress, answered with what came in or with what is wrong with it.

import { detailOf, get, post, sendFile, sentenceOf, statusOf } from '../core/api.js';
import { h } from '../core/dom.js';
import { ROOT } from '../core/root.js';
import { count, moment } from '../core/text.js';
import { Rows, button } from './people_parts.js';
import { WatchedList } from './watched_list.js';

/** @import { ImportUnderWay, ImportedView } from '../types' */

/**
 * What is to be said of an import, and whether it is bad.
 *
 * @typedef {[sentence: string, bad: boolean]} Outcome
 * @typedef {Pick<ImportUnderWay, 'doing' | 'done' | 'of'>} Step
 */

const GOES_ON = 'The import continues when this page is closed.';
const STOPS = 'The import stops at its next step.';
/** @type {Map<string, HTMLFormElement>} imports that this page has sent, each with its form, which tells of it */
const sent = new Map();
/** @type {Map<string, Outcome>} of imports whose form went away, by project */
const outcomes = new Map();

/** @param {Step} step */
const far = ({ doing, done, of }) => `${doing}${of ? `: ${done} of ${of}` : ''}`;

/**
 * @param {string} project
 * @param {string} id
 */
const stopped = (project, id) =>
  post('/projects/{project_id}/imports/{import_id}/stop', { project_id: project, import_id: id }, undefined);

/** @param {ImportedView} answer */
function cameIn(answer) {
  const parts = [count(answer.documents, 'document'), count(answer.pages, 'page'), count(answer.answers, 'answer')];
  if (answer.proposals) parts.push(`${count(answer.proposals, 'proposal')} of models`);
  if (answer.no_answer) parts.push(`${count(answer.no_answer, 'question')} without an answer`);
  const more = [
    answer.known ? `${count(answer.known, 'document')} existed before.` : '',
    answer.read ? `${count(answer.read, 'page')} without words ${answer.read === 1 ? 'was' : 'were'} read by OCR.` : '',
    ...Object.entries(answer.lost).map(([name, number]) => `Left out: ${name} (${number}).`),
    answer.bad ? `Left out: ${count(answer.bad, 'bad entry', 'bad entries')}. ${answer.bad_entries.join('. ')}.` : '',
  ];
  return [`Imported as ${answer.format}: ${parts.join(', ')}.`, ...more].filter(Boolean).join(' ');
}

/** One import from its form: sending, its steps, its end. */
class Import {
  /** @param {HTMLFormElement} form */
  constructor(form) {
    this.form = form;
    this.project = form.dataset.import ?? '';
    const [send, stop] = form.querySelectorAll('button');
    this.send = send;
    this.stop = stop;
    this.stopping = false;
    this.id = '';
  }

  /** @param {Outcome} told */
  say(...told) {
    sayIn(this.form.querySelector('output'), told);
  }

  /** @param {Outcome} told */
  end(...told) {
    if (this.form.isConnected) return this.say(...told);
    outcomes.set(this.project, told);
    for (const list of document.querySelectorAll('glossator-imports')) if (list instanceof ImportsList) list.look();
  }

  /** @param {unknown} line */
  step(line) {
    const { id, ...how } = /** @type {Partial<ImportUnderWay>} */ (line);
    if (!id || !how.doing) return;
    const at = far({ doing: how.doing, done: how.done ?? 0, of: how.of ?? 0 });
    this.id = id;
    sent.set(id, this.form);
    this.say(`${at}. ${this.stopping ? STOPS : GOES_ON}`, false);
    this.stop.hidden = this.stopping;
    this.stop.onclick = () => this.endEarly(at);
  }

  /** @param {string} at how far it is */
  async endEarly(at) {
    this.stopping = this.stop.hidden = true;
    this.say(`${at}. ${STOPS}`, false);
    try {
      await stopped(this.project, this.id);
    } catch (error) {
      if (statusOf(error) === 404) return; // it has ended, which is told in a moment
      this.stopping = this.stop.hidden = false;
      this.say(sentenceOf(error), true);
    }
  }

  /** @param {File} file */
  async run(file) {
    const given = new FormData(this.form);
    const chosen = new URLSearchParams({
      format: String(given.get('format')),
      status: String(given.get('status')),
      ocr: String(given.has('ocr')),
      skip_bad: String(given.has('skip_bad')),
      progress: 'true',
    });
    this.say('Sending: 0 %', false);
    try {
      const address = `${ROOT}/api/projects/${this.project}/import?${chosen}`;
      /** @param {number} share */
      const progress = (share) =>
        this.say(share < 1 ? `Sending: ${Math.floor(100 * share)} %` : `Unpacking. ${GOES_ON}`, false);
      const answer = await sendFile(address, 'file', file, progress, { step: (line) => this.step(line) });
      const result = resultOf(answer);
      if (result) this.form.reset();
      const detail = detailOf(answer) ?? 'The connection ended without a result. Check the list of documents.';
      this.end(result ? cameIn(result) : detail, !result && !detail.startsWith('Stopped'));
    } catch (error) {
      this.end(sentenceOf(error), true);
    }
    sent.delete(this.id); // where the line was cut it may go on, and stands in the list then
    this.stop.hidden = true;
  }
}

/**
 * @param {unknown} answer
 * @returns {ImportedView | null}
 */
const resultOf = (answer) =>
  typeof answer === 'object' && answer && 'result' in answer ? /** @type {ImportedView} */ (answer.result) : null;

/**
 * @param {HTMLOutputElement | null} output
 * @param {Outcome} told
 */
function sayIn(output, [sentence, bad]) {
  if (!output) return;
  output.textContent = sentence;
  output.classList.toggle('g-wrong', bad);
}

/** @param {HTMLFormElement} form */
async function bringIn(form) {
  const one = new Import(form),
    chosen = form.elements.namedItem('file');
  const file = chosen instanceof HTMLInputElement ? chosen.files?.[0] : null;
  if (one.send.ariaDisabled === 'true' || !file) return;
  one.send.ariaDisabled = 'true';
  await one.run(file);
  one.send.ariaDisabled = null;
}

/** What others brought in, or this person before the page was loaded anew, and is still at work. */
class ImportsList extends WatchedList {
  connectedCallback() {
    const list = this.querySelector('ul');
    if (list) this.rows = new Rows(list, (/** @type {ImportUnderWay} */ { id }) => new ImportRow(this, id));
    super.connectedCallback();
  }

  async load() {
    const told = outcomes.get(this.project);
    if (told) sayIn(this.querySelector('output'), told);
    outcomes.delete(this.project);
    const all = await get('/projects/{project_id}/imports', { project_id: this.project });
    this.rows?.show(all.filter(({ id }) => !sent.get(id)?.isConnected));
  }
}

class ImportRow {
  /**
   * @param {ImportsList} list
   * @param {string} id
   */
  constructor(list, id) {
    this.name = h('b', { dir: 'auto' });
    this.how = h('span');
    this.stop = button('Stop', () =>
      list.stop(
        () => stopped(list.project, id),
        (sentence) => (this.how.textContent = sentence),
      ),
    );
    const text = h('div', { class: 'g-row-text' }, this.name, this.how);
    this.root = h('li', {}, text, h('div', { class: 'g-row-acts' }, this.stop));
    this.updateRow = this.updateRow.bind(this);
  }

  /** @param {ImportUnderWay} one */
  updateRow(one) {
    this.name.textContent = one.name;
    this.how.textContent = `${far(one)} · ${one.stopping ? STOPS : `started by ${one.by}, ${moment(one.began_at)}`}`;
    this.stop.hidden = one.stopping;
  }
}

// Gradio builds the form anew whenever the project changes: its events are heard on the document.
export function watchImports() {
  customElements.define('glossator-imports', ImportsList);
  document.addEventListener('submit', (event) => {
    const form = event.target;
    if (!(form instanceof HTMLFormElement) || !form.matches('[data-import]')) return;
    event.preventDefault();
    bringIn(form);
  });
}
