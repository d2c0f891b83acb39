// The save queue: every edit becomes one revision on the server, in order, exactly once.
//
// An item carries its idempotency key and the revision that it builds on: `base` where that is known, else `after`, the
// key of the item before it, whose answer will tell. So two windows that edit the same answer meet as a conflict (409)
// and never mix silently, and an answer lost on the way back is asked for again with the same key and the same base.
// Two windows that send the same item store it once, by its key.
//
// Changes of words (kind "words") and verdicts of reviewers (kind "verdict") wait in the same line as revisions, those
// of words under the name "words:<page>": marks made after them may name the words that they make. `annotation` is
// therefore the name of whatever an item changes.

import { ApiError, detailOf, sentenceOf } from '../core/api.js';
import { uuid } from '../core/values.js';
import { at, renumbered } from '../state/parts.js';

/** @import { Halt, QueueContent, QueuedItem, Stored } from '../types' */

const WAITS = [1, 2, 4, 8, 15, 30]; // seconds between attempts while the server cannot be reached
const WRITING = 2000; // milliseconds: a write that takes longer may never end

/**
 * What keeps the items on disk: see edit_store.js.
 *
 * @typedef {object} Store
 * @property {boolean} lasting
 * @property {() => Promise<QueuedItem[]>} all
 * @property {(put: QueuedItem[], remove?: string[]) => Promise<void>} change
 */

/**
 * @typedef {object} QueueEvents
 * @property {() => void} changed
 * @property {(item: QueuedItem, answer: Stored) => void} saved
 * @property {(annotation: string) => void} conflict an item waits for a person
 * @property {(error: Error) => void} loggedOut
 * @property {() => void} notKept the browser does not store items
 * @property {(error: unknown) => void} broken what a hearer of `saved` threw
 */

export class SaveQueue {
  /** @type {QueuedItem[]} in the order of their making */
  items = [];
  /** @type {Map<string, Halt>} by annotation: what waits for a person */
  halted = new Map();
  /** @type {Set<string>} keys of waiting items that are on no disk: being written, or refused */
  unkept = new Set();
  /** @type {Set<string>} those of them that the browser refused to write, or has not written after a while */
  doubtful = new Set();
  /** @type {Map<string, number>} by annotation: the last revision that this window has been told of as saved */
  newest = new Map();
  /** @type {Set<string>} keys that this window knows to be saved or given up */
  done = new Set();
  /** @type {Set<string>} annotations whose edit the server could not take in this round; the others need not wait */
  later = new Set();
  failures = 0;
  /** @type {string | null} the server's own words of why it could not save */
  why = null;
  loggedOut = false; // nothing can be saved before the next login
  /** @type {Date | null} */
  savedAt = null;
  sending = false;
  closed = false;
  sequence = 0;
  tab = uuid();
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  timer = undefined;

  /**
   * @param {Store} store
   * @param {string} user
   * @param {(item: QueuedItem) => Promise<Stored>} send rejects with an ApiError
   * @param {QueueEvents} on
   */
  constructor(store, user, send, on) {
    this.store = store;
    this.user = user;
    this.send = send;
    this.on = on;
  }

  destroy() {
    this.closed = true;
    clearTimeout(this.timer);
  }

  async load() {
    await this.take();
    this.on.changed();
    this.flush();
  }

  /** Also what another window, or an earlier life of this one, left behind. */
  async gather() {
    await this.take();
    this.retry();
  }

  async take() {
    const kept = await this.store.all().catch(() => {
      this.on.notKept();
      return /** @type {QueuedItem[]} */ ([]);
    });
    const known = new Set([...this.items.map((item) => item.key), ...this.done]);
    const found = kept.filter((item) => item.user === this.user && !known.has(item.key));
    this.items = [...this.items, ...found].sort((left, right) => left.sequence - right.sequence);
    // A clock that was set back must not put new edits before old ones.
    this.sequence = Math.max(this.sequence, ...found.map((item) => item.sequence));
  }

  /** @param {string} annotation */
  of(annotation) {
    return this.items.filter((item) => item.annotation === annotation);
  }

  /** @param {string} annotation */
  newestOf(annotation) {
    return this.newest.get(annotation) ?? 0;
  }

  get lasting() {
    return this.store.lasting && this.doubtful.size === 0;
  }

  /** Items that would be lost with the page. */
  get atRisk() {
    return this.items.length > 0 && (!this.store.lasting || this.unkept.size > 0);
  }

  /** @returns {'saved' | 'saving' | 'offline' | 'halted'} */
  get state() {
    if (this.items.length === 0) return 'saved';
    if (this.items.some((item) => this.free(item, this.halted))) return this.failures ? 'offline' : 'saving';
    return 'halted';
  }

  /**
   * @param {QueueContent} content
   * @param {number} head the last revision of this annotation that this window has seen
   * @param {object} [how]
   * @param {boolean} [how.instead] what waits for this annotation is given up, in the same transaction; with
   *   `content.sequence`, in its place
   */
  add(content, head, { instead = false } = {}) {
    const gone = instead ? this.forget(content.annotation) : [];
    const before = this.of(content.annotation).at(-1);
    this.sequence = Math.max(Date.now() * 1000, this.sequence + 1);
    const chained = before && before.tab === this.tab;
    /** @type {QueuedItem} */
    const item = {
      ...content,
      key: uuid(),
      user: this.user,
      tab: this.tab,
      sequence: content.sequence ?? this.sequence,
      after: chained ? before.key : null,
      base: chained ? null : head,
    };
    this.items.push(item);
    this.items.sort((left, right) => left.sequence - right.sequence);
    this.keep(item, gone);
    this.on.changed();
    this.flush(); // the disk is not waited for: whichever is there first, disk or server, keeps the edit
    return item;
  }

  /**
   * Kept is what the disk has acknowledged. An ordinary write takes milliseconds, about which nothing is said.
   *
   * @param {QueuedItem} item
   * @param {string[]} gone keys
   */
  async keep(item, gone) {
    this.unkept.add(item.key);
    const late = setTimeout(() => this.unkept.has(item.key) && this.doubt(item.key), WRITING);
    try {
      await this.store.change([item], gone);
      this.unkept.delete(item.key);
      if (this.doubtful.delete(item.key)) this.on.changed();
    } catch {
      this.doubt(item.key);
    } finally {
      clearTimeout(late);
    }
  }

  /** @param {string} key */
  doubt(key) {
    if (this.unkept.has(key)) this.doubtful.add(key);
    this.on.notKept();
    this.on.changed();
  }

  /**
   * Items that an earlier life of this window left behind become this one's: what follows builds on them.
   *
   * @param {string} annotation
   */
  adopt(annotation) {
    for (const item of this.of(annotation)) item.tab = this.tab;
  }

  /** Under way already: what fails in this round sets its own time for the next. */
  retry() {
    if (this.sending) return;
    clearTimeout(this.timer);
    this.flush();
  }

  async flush() {
    if (this.sending || this.closed) return;
    this.sending = true;
    this.later = new Set();
    try {
      for (let item = this.next(); item && (await this.attempt(item)); item = this.next());
    } finally {
      this.sending = false;
      // From here on: a timer that ends while another item is under way would be lost.
      if (this.later.size && !this.closed) this.tryLater();
      this.on.changed();
    }
  }

  tryLater() {
    clearTimeout(this.timer);
    const wait = WAITS[Math.min(this.failures, WAITS.length) - 1] ?? 1;
    this.timer = setTimeout(() => this.flush(), 1000 * wait);
  }

  /**
   * Whether an item need not wait for what is in `these`: itself, or the words of a page that it marks.
   *
   * @param {QueuedItem} item
   * @param {{ has(annotation: string): boolean }} these
   */
  free(item, these) {
    const marked = item.kind === 'words' ? [] : Object.keys(item.pages);
    return [item.annotation, ...marked.map((page) => `words:${page}`)].every((name) => !these.has(name));
  }

  /**
   * A mark made after a change of its page's words may name the words that this makes.
   *
   * @param {QueuedItem} item
   */
  overtakes(item) {
    if (item.kind === 'words') return false;
    return this.items.some(
      (other) => other.kind === 'words' && other.sequence < item.sequence && other.page in item.pages,
    );
  }

  /** The oldest item whose base is known; else one whose base nobody knows any more. */
  next() {
    const open = this.items.filter(
      (item) => this.free(item, this.halted) && this.free(item, this.later) && !this.overtakes(item),
    );
    const waits = (/** @type {QueuedItem} */ item) =>
      item.base === null && this.items.some((other) => other.key === item.after);
    return open.find((item) => item.base !== null) ?? open.find((item) => !waits(item)) ?? null;
  }

  /**
   * Whether the queue may go on at once.
   *
   * @param {QueuedItem} item
   */
  async attempt(item) {
    if (item.base === null) {
      this.halt(item, 'conflict', 'An earlier edit is missing from this browser. Choose a version.');
      return true;
    }
    let answer;
    try {
      answer = await this.send(item);
    } catch (error) {
      return this.failed(item, error);
    }
    const { revision, saved_at: savedAt } = answer;
    this.loggedOut = false;
    if (!this.later.size) [this.failures, this.why] = [0, null];
    this.savedAt = new Date(savedAt ?? Date.now());
    this.newest.set(item.annotation, Math.max(revision, this.newestOf(item.annotation)));
    const next = this.items.filter((other) => other.after === item.key);
    for (const other of next) Object.assign(other, { base: revision, after: null });
    this.items = this.items.filter((other) => other.key !== item.key);
    this.settle([item.key]);
    // Said before anything is waited for: an edit made from here on must build on this revision.
    try {
      this.on.saved(item, answer);
    } catch (error) {
      this.on.broken(error); // the item is saved all the same
    }
    this.store.change(next, [item.key]).catch(() => this.on.notKept());
    return true;
  }

  /**
   * @param {QueuedItem} item
   * @param {unknown} error
   */
  failed(item, error) {
    if (!this.items.includes(item)) return true; // given up while it was under way
    const { status, body } = error instanceof ApiError ? error : { status: 0, body: null };
    const said = detailOf(body) !== null; // by our server, not by something between
    const current = typeof body === 'object' && body && 'current' in body ? body.current : null;
    if (status === 409 && current) {
      this.halt(item, 'conflict', sentenceOf(error), current);
      return true;
    }
    if (said && status >= 400 && status < 500 && ![401, 408, 429].includes(status)) {
      this.halt(item, status === 404 ? 'gone' : 'refused', sentenceOf(error));
      return true;
    }
    if (status === 401 && error instanceof Error) this.on.loggedOut(error);
    this.failures++;
    this.loggedOut = status === 401;
    this.why = said && status !== 401 ? sentenceOf(error) : null;
    this.later.add(item.annotation);
    this.on.changed();
    // It reads what others say; only this edit goes wrong there (503: all do)
    return said && status >= 500 && status !== 503;
  }

  /**
   * @param {QueuedItem} item
   * @param {Halt['kind']} kind
   * @param {string} sentence
   * @param {unknown} [current]
   */
  halt(item, kind, sentence, current = null) {
    this.halted.set(item.annotation, { kind, current, sentence });
    this.on.conflict(item.annotation);
  }

  /**
   * A person wants what is halted to be tried once more.
   *
   * @param {string} annotation
   */
  resume(annotation) {
    this.halted.delete(annotation);
    this.on.changed();
    this.retry();
  }

  /**
   * The words of a page turned out to have other numbers, or not to be (null): what waits names them no more. The
   * pixels stay.
   *
   * @param {string} page
   * @param {(number: number) => number | null} map
   */
  renumber(page, map) {
    /** @type {QueuedItem[]} */
    const changed = [];
    for (const item of this.items) {
      const mark = item.kind === 'words' ? null : item.pages[page];
      if (item.kind === 'words' || !mark || mark.words.every((number) => map(number) === number)) continue;
      const words = mark.words.map(map).filter((number) => number !== null);
      item.pages = { ...item.pages, [page]: { ...mark, words } };
      if (item.parts) item.parts = item.parts.map((part) => renumbered(part, page, map));
      const { place = 0 } = item;
      const others = item.edits.filter(
        (edit) => !('page' in edit) || edit.page !== page || edit.op === 'prompts' || (edit.place ?? 0) !== place,
      );
      const own = others.findLastIndex((edit) => edit.op === 'add_value'); // the value has to be there
      others.splice(own + 1, 0, at({ op: 'mask', page, words, mask: mark.mask }, place));
      item.edits = others;
      changed.push(item);
    }
    if (changed.length) this.store.change(changed).catch(() => this.on.notKept());
  }

  /**
   * Gives up what waits for an annotation: only a person decides that.
   *
   * @param {string} annotation
   */
  async discard(annotation) {
    const gone = this.forget(annotation);
    await this.store.change([], gone).catch(() => this.on.notKept());
    this.on.changed();
  }

  /** @param {string} annotation */
  forget(annotation) {
    const gone = this.of(annotation).map((item) => item.key);
    this.items = this.items.filter((item) => item.annotation !== annotation);
    this.halted.delete(annotation);
    this.settle(gone);
    return gone;
  }

  /** @param {string[]} keys */
  settle(keys) {
    for (const key of keys) {
      this.done.add(key);
      this.unkept.delete(key);
      this.doubtful.delete(key);
    }
  }
}

/**
 * The queue sends again when the network, or the person, comes back; and the browser asks before a page goes that holds
 * what is on no disk.
 *
 * @param {SaveQueue} queue
 * @param {AbortSignal} signal ends it
 */
export function followWindow(queue, signal) {
  window.addEventListener('online', () => queue.gather(), { signal });
  document.addEventListener('visibilitychange', () => document.visibilityState === 'visible' && queue.gather(), {
    signal,
  });
  window.addEventListener('beforeunload', (event) => queue.atRisk && event.preventDefault(), { signal });
}
