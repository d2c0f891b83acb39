// The form of the open document: all fields of its project with this person's answers. Owned here. The server fills it,
// and checks its rules; what is saved anywhere in this window is seen here at once.

/** @import { DecidedAnswer, DocumentWithQuestions, FormField, FormView, Saved } from '../types' */
/** @import { Library } from './library.js' */

import { get, post, sentenceOf } from '../core/api.js';
import { uuid } from '../core/values.js';

const PORTION = 16; // fields of a request: the first ones are seen while the others are asked
const SETTLED = 300; // milliseconds after a save until the rules are fetched anew

/**
 * @typedef {object} FormEvents
 * @property {() => void} changed
 * @property {() => void} filled all fields of the paper have been asked
 * @property {(document: string) => void} upcoming the server has the form of this paper ready
 */

export class DocumentForm {
  wanted = false;
  /** @type {string | null | undefined} project that was open when somebody asked for the form */
  asked = null;
  /** @type {Set<string>} ids of projects that have no fields */
  fieldless = new Set();
  /** @type {FormView | null} */
  view = null;
  /** @type {string | null} document of the view, or of the one that is on its way */
  document = null;
  project = ''; // of that document
  filling = false;
  /** @type {string | null} why the form could not be fetched */
  failure = null;
  turn = 0; // counts the documents that were followed: an answer for an older one comes too late
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  later = undefined;

  /**
   * @param {Library} library
   * @param {FormEvents} on
   */
  constructor(library, on) {
    this.library = library;
    this.on = on;
  }

  /** @returns {readonly FormField[]} */
  get fields() {
    return this.view?.fields ?? [];
  }

  /**
   * Whether the form is shown: in a project without fields only where somebody asks for it, for it hides the question
   * box and says no more than where fields are made.
   */
  get shown() {
    const { project } = this.library;
    return this.wanted && (project?.id === this.asked || !this.fieldless.has(project?.id ?? ''));
  }

  /** @param {boolean} shown a stored preference is read before any project is open, and asks for none */
  show(shown) {
    this.wanted = shown;
    this.asked = shown ? this.library.project?.id : null;
    this.follow();
    this.on.changed();
  }

  /** The form is that of the open document, once it is read; called with every drawing. */
  follow() {
    const { document } = this.library;
    const id = document && !document.reading ? document.id : null;
    if (!this.shown || id === this.document) return;
    this.turn++;
    this.document = id;
    this.project = document?.project_id ?? '';
    this.view = this.failure = null;
    if (id !== null) void this.load(id);
  }

  /** Fetches what failed once more. */
  again() {
    this.document = null;
    this.follow();
    this.on.changed();
  }

  /** @param {string} id */
  async load(id) {
    const { turn } = this,
      place = { document_id: id };
    this.filling = true;
    try {
      let view = await get('/documents/{document_id}/form', place);
      for (let left = Infinity; turn === this.turn && view.left < left;) {
        this.take(view);
        ({ left } = view);
        if (left > 0) view = await post('/documents/{document_id}/form', place, { most: PORTION });
      }
    } catch (error) {
      if (turn === this.turn) this.failure = sentenceOf(error);
    } finally {
      if (turn === this.turn) this.filling = false;
      this.on.changed();
      if (turn === this.turn && !this.failure) this.on.filled();
    }
    if (turn === this.turn && !this.failure) await this.prepareNext(id);
  }

  /**
   * While somebody works on this paper, the server fills the form of the next one in advance. Fails silently: that form
   * then takes longer.
   *
   * @param {string} id
   */
  async prepareNext(id) {
    const { turn } = this;
    const upcoming = await post('/documents/{document_id}/form/upcoming', { document_id: id }, undefined).catch(
      () => null,
    );
    if (upcoming?.document_id && turn === this.turn) this.on.upcoming(upcoming.document_id);
  }

  /** @param {FormView} view */
  take(view) {
    this.view = view;
    if (view.fields.length) this.fieldless.delete(this.project);
    else this.fieldless.add(this.project);
    this.on.changed();
  }

  /** Fetches the answers and their rules as they stand. Asks nothing; where it fails, the next change tries again. */
  async refresh() {
    clearTimeout(this.later);
    const { turn, document } = this;
    if (!this.wanted || !document || this.filling) return;
    const view = await get('/documents/{document_id}/form', { document_id: document }).catch(() => null);
    if (view && turn === this.turn) this.take(view);
  }

  /**
   * A revision was stored: its row follows now, the rules of all fields a moment later.
   *
   * @param {string} annotation
   * @param {Saved} saved
   */
  note(annotation, { revision, status, values, state }) {
    const field = this.fields.find((each) => each.annotation_id === annotation);
    if (!field || revision < field.head) return;
    Object.assign(field, { head: revision, status, values, no_answer: state.no_answer, confidence: null });
    clearTimeout(this.later);
    this.later = setTimeout(() => void this.refresh(), SETTLED);
  }

  /**
   * Accepts fields, or reopens them, and resolves to what became of each.
   *
   * @param {'accept' | 'reopen'} what
   * @param {readonly FormField[]} fields
   * @param {number} [seconds] of active work
   * @returns {Promise<DecidedAnswer[]>}
   */
  async decide(what, fields, seconds = 0) {
    const { document } = this.library;
    if (!document) return [];
    /** @type {DecidedAnswer[]} */
    const decided = [];
    for (let from = 0; from < fields.length; from += PORTION) {
      const part = await this.send(what, document, fields.slice(from, from + PORTION), from ? 0 : seconds);
      for (const { annotation_id: id, revision, status } of part) {
        const field = this.fields.find((each) => each.annotation_id === id);
        if (field && revision !== null) Object.assign(field, { head: revision, status });
      }
      decided.push(...part);
      this.on.changed();
    }
    return decided;
  }

  /**
   * @param {'accept' | 'reopen'} what
   * @param {Pick<DocumentWithQuestions, 'id' | 'pages'>} document
   * @param {readonly FormField[]} fields of one request
   * @param {number} seconds
   */
  send(what, document, fields, seconds) {
    const body = {
      idempotency_key: uuid(),
      answers: fields.map(({ annotation_id: id, head, prediction_id: seen }) => ({
        annotation_id: id ?? '',
        base: head,
        prediction_id: head === 0 ? seen : null,
      })),
      seconds,
      images: Object.fromEntries(document.pages.map(({ id, image }) => [id, image])),
    };
    const place = { document_id: document.id };
    return what === 'accept'
      ? post('/documents/{document_id}/form/accept', place, body)
      : post('/documents/{document_id}/form/reopen', place, body);
  }

  destroy() {
    clearTimeout(this.later);
  }
}
