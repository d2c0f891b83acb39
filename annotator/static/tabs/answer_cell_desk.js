// The cell of the table that somebody looks at: its answer, its page with the mark, and what is changed in it. Saving
// is that of the page: the same edits, queue and conflicts. Draws nothing.

import { get } from '../core/api.js';
import { AnswerValues } from '../state/answer_values.js';
import { TableWork } from '../state/table_work.js';
import { Pages } from '../state/pages.js';
import { changes } from '../sync/changes.js';
import { EditStore } from '../sync/edit_store.js';
import { Effort } from '../sync/effort.js';
import { followWindow, SaveQueue } from '../sync/save_queue.js';
import { sendEdit } from '../sync/send_edit.js';
import { CellAnswer } from './answer_cell.js';
import { cellOnItsWay, cellSaved } from './answer_table_latest.js';

/** @import { AnnotationView, CellView, DocumentWithQuestions, Me, PageLine, QueuedItem, Saved, Stored, Words } from '../types' */
/** @import { LatestCell } from './answer_table_latest.js' */

const MOST_DOCUMENTS = 30; // that are remembered
const SETTLED = 120; // milliseconds for which a cell is held before it is fetched: the arrows run over many

/**
 * A cell of the table. `cell`: as the server derived it; null: not yet.
 *
 * @typedef {object} Place
 * @property {string} project id
 * @property {string} document id
 * @property {string} name of the document
 * @property {string} field name
 * @property {string} question
 * @property {CellView | null} cell
 */

/** @typedef {{ image: ImageBitmap, words: Words }} Sight what is drawn of a page */
/**
 * A change, or the acceptance of an answer, that can be taken back.
 *
 * @typedef {{ place: Place, annotation: string, page: string, accepted: boolean }} Step
 */

/**
 * @typedef {object} DeskPorts
 * @property {() => void} changed
 * @property {(sentence: string, ...actions: import('../types').Action[]) => void} tell
 * @property {(error: unknown) => void} error
 * @property {(place: Place, cell: LatestCell) => void} latest a cell says something else from now on
 * @property {() => Promise<void>} free resolves when nobody writes a text
 * @property {(place: Place) => void} show another cell is to be looked at
 */

export class CellDesk {
  /** @type {Place | null} the cell in hand */
  place = null;
  loading = false;
  /** @type {unknown} why the cell could not be fetched */
  failure = null;
  /** @type {{ document: DocumentWithQuestions | null, page: PageLine | null, submits: boolean }} */
  open = { document: null, page: null, submits: false };
  /** @type {Sight | null} */
  sight = null;
  /** @type {Map<string, Promise<DocumentWithQuestions>>} the last ones */
  documents = new Map();
  /** @type {Map<string, Place>} by answer: whose cell it is */
  places = new Map();
  /** @type {Map<string, string>} answers of this window by document and question, which the table has not heard of */
  own = new Map();
  /** @type {Step[]} */
  steps = [];
  stepping = false; // a step back is under way
  turn = 0;
  pages = new Pages((_, words) => words);
  closing = new AbortController();
  /** @type {Promise<void> | null} */
  starting = null;
  /** @type {Me | null} */
  me = null;
  /** @type {CellAnswer | null} */
  answer = null;
  /** @type {AnswerValues | null} */
  values = null;
  /** @type {TableWork | null} */
  table = null;
  /** @type {SaveQueue | null} */
  queue = null;

  /** @param {DeskPorts} on */
  constructor(on) {
    this.on = on;
  }

  destroy() {
    this.closing.abort();
    this.queue?.destroy();
    this.answer?.effort.destroy();
  }

  /** Who is at work, and where edits wait; asked for with the first cell. */
  start() {
    this.starting ??= this.begin().catch((error) => {
      this.starting = null;
      throw error;
    });
    return this.starting;
  }

  async begin() {
    const [me, store] = await Promise.all([get('/me', {}), EditStore.open()]);
    if (this.closing.signal.aborted) return;
    this.me = me;
    // What waits from before is the workspace's to send: it has taken it from the disk.
    const kept = {
      get lasting() {
        return store.lasting;
      },
      all: async () => [],
      change: store.change.bind(store),
    };
    const words = { send: () => Promise.reject(new TypeError('The table changes no words.')) };
    const queue = (this.queue = new SaveQueue(kept, me.user.id, (item) => sendEdit(item, words), {
      changed: () => this.on.changed(),
      saved: (item, answer) => this.saved(item, answer),
      conflict: () => this.on.changed(),
      loggedOut: (error) => this.on.error(error),
      notKept: () => this.on.tell('This browser cannot store unsaved edits. Keep the page open until they are saved.'),
      broken: (error) => this.on.error(error),
    }));
    const { signal } = this.closing;
    followWindow(queue, signal);
    const connected = changes.connection.follow((state) => void (state !== 'offline' && queue.retry()));
    signal.addEventListener('abort', connected);
    const answer = (this.answer = this.makeAnswer(me, queue));
    this.values = new AnswerValues(answer, {
      project: () => this.place?.project,
      document: () => this.place?.document,
      tell: this.on.tell,
      error: this.on.error,
      open: (page) => this.turnTo(page),
    });
    this.table = new TableWork(answer, {
      sheet: () => this.sheet,
      line: () => null,
      tell: this.on.tell,
      changed: () => this.on.changed(),
      open: (page) => this.turnTo(page),
    });
  }

  /** The words of the page in sight by their numbers, and its size. */
  get sheet() {
    const { sight, open } = this;
    if (!sight || !open.page) return null;
    const { id, width, height } = open.page,
      { numbers, boxes } = sight.words;
    return { page: id, width, height, boxOf: (/** @type {number} */ number) => boxes[numbers.indexOf(number)] };
  }

  /**
   * @param {Me} me
   * @param {SaveQueue} queue
   */
  makeAnswer(me, queue) {
    const mine = (/** @type {{ author: { id: string } }} */ { author }) =>
      me.auth === 'local' || author.id === me.user.id;
    /** @type {CellAnswer} */
    const answer = new CellAnswer(
      {
        queue,
        effort: new Effort(),
        place: this.open,
        on: {
          changed: () => this.on.changed(),
          mark: () => this.on.changed(),
          prompts: () => {},
          open: (page) => this.turnTo(page),
          tell: (sentence) => this.on.tell(sentence),
          error: (error) => this.on.error(error),
          free: () => this.on.free(),
          locked: () => {
            const { lock } = answer;
            if (lock) this.on.tell(lock);
            return lock !== null;
          },
          takeBack: () => {},
        },
      },
      { mine, queued: (action, instead) => this.queued(action, instead) },
    );
    return answer;
  }

  // --- looking

  /**
   * Takes a cell in hand: its answer and the page with its mark.
   *
   * @param {Place} place
   */
  async look(place) {
    const turn = ++this.turn;
    const before = this.place;
    this.place = place;
    this.failure = null;
    this.loading = true;
    if (before?.document !== place.document || before.field !== place.field) this.answer?.close();
    this.on.changed();
    try {
      await new Promise((settled) => setTimeout(settled, SETTLED));
      if (turn === this.turn) await this.fetch(place, turn);
    } catch (error) {
      if (turn === this.turn) this.failure = error;
    } finally {
      if (turn === this.turn) {
        this.loading = false;
        this.on.changed();
      }
    }
  }

  /**
   * @param {Place} place
   * @param {number} turn
   */
  async fetch(place, turn) {
    await this.start();
    const document = await this.documentOf(place.document);
    const { answer, open } = this;
    if (!answer || turn !== this.turn) return;
    if (open.document?.id !== document.id) open.page = null;
    open.document = document;
    const id = place.cell?.annotation_id ?? this.own.get(`${place.document} ${place.question}`);
    if (!id) return this.turnTo(place.cell?.page_id ?? undefined);
    this.places.set(id, place);
    open.page = null;
    await answer.open(id);
  }

  /** @param {string} id */
  documentOf(id) {
    const known = this.documents.get(id);
    const coming = known ?? get('/documents/{document_id}', { document_id: id, questions: false });
    this.documents.delete(id);
    this.documents.set(id, coming);
    coming.catch(() => this.documents.delete(id));
    const [oldest] = this.documents.keys();
    if (this.documents.size > MOST_DOCUMENTS) this.documents.delete(oldest);
    return coming;
  }

  /**
   * Shows another page of the document; without one, the first.
   *
   * @param {string | undefined} id
   */
  async turnTo(id) {
    const { open, turn } = this;
    const pages = open.document?.pages ?? [];
    const page = (open.page = pages.find((each) => each.id === id) ?? pages[0] ?? null);
    this.sight = null;
    if (!page) return;
    const [image, words] = await Promise.all([this.pages.imageOf(page), this.pages.wordsOf(page.id)]);
    if (turn !== this.turn || open.page !== page) return;
    this.sight = { image, words };
    this.on.changed();
  }

  /** Somebody has changed answers: the one in hand follows, unless something of it waits here. */
  async refresh() {
    const { answer, queue, turn } = this,
      id = answer?.local?.id;
    this.documents.clear();
    if (!answer || !queue || !id || this.loading || queue.of(id).length) return;
    const { head } = await answer.peek(id);
    if (turn === this.turn && answer.local?.id === id && head > answer.local.head) {
      await answer.open(id, null, { patient: true });
    }
  }

  /** Nobody looks at a cell any more. */
  close() {
    this.turn++;
    this.place = null;
    this.loading = false;
    this.answer?.close();
    this.on.changed();
  }

  // --- changing

  /** Asks the question of the cell: the answer is this person's own. */
  async ask() {
    const { answer, place, turn } = this;
    if (!answer || !place || answer.asking) return;
    const asked = await answer.ask(place.question, true);
    if (!asked) return;
    this.own.set(`${place.document} ${place.question}`, asked.id);
    this.places.set(asked.id, place);
    if (turn === this.turn) this.on.changed();
  }

  /**
   * Edits of the open answer are on their way.
   *
   * @param {string} action
   * @param {boolean} instead of those that waited, whose steps cannot be taken back any more
   */
  queued(action, instead) {
    const { open } = this,
      local = this.answer?.local,
      place = local && this.places.get(local.id);
    if (!local || !place) return;
    this.on.latest(
      place,
      cellOnItsWay(local, (at) => this.textOf(at)),
    );
    if (instead) this.forgetSteps(local.id);
    else if (!this.stepping && open.page) {
      this.steps.push({ place, annotation: local.id, page: open.page.id, accepted: action === 'accept' });
    }
  }

  /** @param {string} annotation */
  forgetSteps(annotation) {
    this.steps = this.steps.filter((step) => step.annotation !== annotation);
    this.answer?.histories.forget(annotation);
  }

  /** @param {number} at place of a value */
  textOf(at) {
    const pages = this.open.document?.pages ?? [];
    return this.pages.text(pages, this.answer?.local?.parts[at]?.pages ?? {}) ?? '';
  }

  /**
   * @param {QueuedItem} item
   * @param {Stored} stored
   */
  saved(item, stored) {
    const answer = /** @type {Saved} */ (stored),
      place = this.places.get(item.annotation);
    this.answer?.saved(item, answer);
    if (place && !this.queue?.of(item.annotation).length) this.on.latest(place, cellSaved(item.annotation, answer));
    this.on.changed();
  }

  /** Takes the last change of this window back, in whichever cell it was made. */
  async undo() {
    const { answer, queue } = this,
      last = this.steps.at(-1);
    if (!answer || !queue || !last) return;
    if (answer.local?.id !== last.annotation) {
      this.on.show(last.place);
      await this.look({ ...last.place, cell: cellNamed(last.place.cell, last.annotation) });
    }
    const { local } = answer;
    if (local?.id !== last.annotation) return; // somebody has gone on meanwhile, or it could not be fetched
    this.steps.pop();
    if (!queue.of(local.id).length && local.head !== queue.newestOf(local.id)) {
      this.forgetSteps(local.id);
      const who = (local.editor ?? local.author).name;
      return this.on.tell(`${who} has changed this answer since: your change of it cannot be undone here.`);
    }
    if (this.open.page?.id !== last.page) await this.turnTo(last.page);
    this.stepping = true;
    if (last.accepted) answer.reopen();
    else answer.step(true);
    this.stepping = false;
    this.on.changed();
  }

  // --- what the server did not take

  /** What stops the edits of an answer from being saved: of the cell in hand first. */
  get halt() {
    const { queue, answer } = this;
    if (!queue?.halted.size) return null;
    const here = answer?.local?.id ?? '';
    const id = queue.halted.has(here) ? here : [...queue.halted.keys()][0];
    const halt = queue.halted.get(id);
    if (!halt) return null;
    return { ...halt, id, here: id === here, current: /** @type {AnnotationView | null} */ (halt.current) };
  }

  /** Shows the cell whose edits wait for a decision. */
  async showHalted() {
    const place = this.halt && this.places.get(this.halt.id);
    if (!place || !this.halt) return;
    this.on.show(place);
    await this.look({ ...place, cell: cellNamed(place.cell, this.halt.id) });
  }

  /** What was typed here is saved over what somebody else has saved. */
  keepMine() {
    const { halt, answer, queue } = this,
      place = halt && this.places.get(halt.id);
    if (!halt?.here || !answer || !place) return;
    // Theirs may still come from the server as the row of the table, before that of the version that is saved now.
    if (halt.current) this.on.latest(place, cellSaved(halt.id, halt.current));
    if (halt.current) answer.keepMine(halt.current);
    else queue?.resume(halt.id);
  }

  /** What was typed here is given up. */
  async takeTheirs() {
    const { halt, answer } = this,
      place = halt && this.places.get(halt.id);
    if (!halt?.here || !answer || !place) return;
    this.forgetSteps(halt.id);
    await answer.takeTheirs(halt.id);
    const { local } = answer;
    if (local?.id !== halt.id) return;
    this.on.latest(place, { ...cellOnItsWay(local, (at) => this.textOf(at)), waits: 'behind' });
    this.on.changed();
  }
}

/**
 * @param {CellView | null} cell
 * @param {string} annotation
 */
const cellNamed = (cell, annotation) => cell && { ...cell, annotation_id: annotation };
