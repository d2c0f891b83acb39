// The save queue: every edit becomes one revision on the server, in order, exactly once.
//
// An item carries its idempotency key and the revision that it builds on: `base` where that is known, else `after`, the
// key of the item before it, whose answer will tell. So two tabs that edit the same answer meet as a conflict (409) and
// never mix silently, and an answer lost on the way back is asked for again with the same key and the same base. Two tabs
// that send the same item store it once, by its key.
//
// Changes of words (kind "words") and verdicts of reviewers (kind "verdict") wait in the same line as revisions, those of words
// under the name "words:<page>": marks made after them may name the words that they make. `annotation` is therefore the name
// of whatever an item changes.

import { uuid } from '../core/values.js';

const WAITS = [1, 2, 4, 8, 15, 30]; // seconds between attempts while the server cannot be reached
const WRITING = 2000; // milliseconds: a write that takes longer may never end

export class SaveQueue {
  // store: EditStore. send(item) -> promise of the server's answer, or an ApiError.
  // hear: { changed(), saved(item, answer), conflict(annotation), loggedOut(error), notKept(), broken(error) }; broken: what a hearer of `saved` threw
  constructor(store, user, send, hear) {
    this.store = store;
    this.user = user;
    this.send = send;
    this.hear = hear;
    this.items = [];
    this.halted = new Map(); // annotation -> { kind: 'conflict' | 'refused' | 'gone', current, sentence }: waits for a person
    this.unkept = new Set(); // keys of waiting items that are on no disk: being written, or refused
    this.doubtful = new Set(); // those of them that the browser refused to write, or has not written after a while
    this.newest = new Map(); // annotation -> the last revision that this tab has been told of as saved
    this.done = new Set(); // keys that this tab knows to be saved or given up
    this.later = new Set(); // annotations whose edit the server could not take in this round; the others need not wait
    this.failures = 0;
    this.why = null; // what the server itself said of why it could not save; null where it said nothing
    this.savedAt = null;
    this.sending = false;
    this.sequence = 0;
    this.listening = new AbortController();
    const { signal } = this.listening;
    const gather = () => this.gather();
    window.addEventListener('online', gather, { signal });
    document.addEventListener('visibilitychange', () => document.visibilityState === 'visible' && gather(), { signal });
    // What is on no disk dies with the page: the browser asks first.
    window.addEventListener(
      'beforeunload',
      (event) => this.items.length && (!this.store.lasting || this.unkept.size) && event.preventDefault(),
      { signal },
    );
  }

  destroy() {
    this.listening.abort();
    clearTimeout(this.timer);
  }

  async load() {
    await this.take();
    this.hear.changed();
    this.flush();
  }

  // Also what another tab, or an earlier life of this one, left behind.
  async gather() {
    await this.take();
    this.retry();
  }

  async take() {
    const kept = await this.store.all().catch(() => (this.hear.notKept(), []));
    const known = new Set([...this.items.map((item) => item.key), ...this.done]);
    const found = kept.filter((item) => item.user === this.user && !known.has(item.key));
    this.items = [...this.items, ...found].sort((left, right) => left.sequence - right.sequence);
    // A clock that was set back must not put new edits before old ones.
    this.sequence = Math.max(this.sequence, ...found.map((item) => item.sequence));
  }

  of(annotation) {
    return this.items.filter((item) => item.annotation === annotation);
  }

  newestOf(annotation) {
    return this.newest.get(annotation) ?? 0;
  }

  get lasting() {
    return this.store.lasting && this.doubtful.size === 0;
  }

  get state() {
    if (this.items.length === 0) return 'saved';
    if (this.items.some((item) => this.free(item, this.halted))) return this.failures ? 'offline' : 'saving';
    return 'halted';
  }

  // content: { kind, annotation, document, question, action, edits, prediction_id, seconds, interactions, pages, no_answer },
  // where pages and no_answer are what stands after the edits. head: the last revision of this annotation that this tab has
  // seen. instead: what waits for this annotation is given up, in the same transaction; with `content.sequence`, in its place.
  add(content, head, { instead = false } = {}) {
    const gone = instead ? this.forget(content.annotation) : [];
    const before = this.of(content.annotation).at(-1);
    this.sequence = Math.max(Date.now() * 1000, this.sequence + 1);
    const chained = before && before.tab === this.tab;
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
    this.hear.changed();
    this.flush(); // the disk is not waited for: whichever is there first, disk or server, keeps the edit
    return item;
  }

  tab = uuid();

  // Kept is what the disk has acknowledged. An ordinary write takes milliseconds, about which nothing is said.
  async keep(item, gone) {
    this.unkept.add(item.key);
    const late = setTimeout(() => this.unkept.has(item.key) && this.doubt(item.key), WRITING);
    try {
      await this.store.change([item], gone);
      this.unkept.delete(item.key);
      if (this.doubtful.delete(item.key)) this.hear.changed();
    } catch {
      this.doubt(item.key);
    } finally {
      clearTimeout(late);
    }
  }

  doubt(key) {
    if (this.unkept.has(key)) this.doubtful.add(key);
    this.hear.notKept();
    this.hear.changed();
  }

  // Items that an earlier life of this tab left behind become this one's: what follows builds on them.
  adopt(annotation) {
    for (const item of this.of(annotation)) item.tab = this.tab;
  }

  // Under way already: what fails in this round sets its own time for the next.
  retry() {
    if (this.sending) return;
    clearTimeout(this.timer);
    this.flush();
  }

  async flush() {
    if (this.sending || this.listening.signal.aborted) return;
    this.sending = true;
    this.later = new Set();
    try {
      for (let item = this.next(); item && (await this.attempt(item)); item = this.next());
    } finally {
      this.sending = false;
      // From here on: a timer that ends while another item is under way would be lost.
      if (this.later.size) this.tryLater();
      this.hear.changed();
    }
  }

  tryLater() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.flush(), 1000 * WAITS[Math.min(this.failures, WAITS.length) - 1]);
  }

  // Whether an item need not wait for what is in `these` (keyed by annotation): itself, or the words of a page that it marks.
  free(item, these) {
    return [item.annotation, ...Object.keys(item.pages ?? {}).map((page) => `words:${page}`)].every(
      (name) => !these.has(name),
    );
  }

  // A mark made after a change of its page's words may name the words that this makes.
  overtakes(item) {
    return this.items.some(
      (other) => other.kind === 'words' && other.sequence < item.sequence && other.page in (item.pages ?? {}),
    );
  }

  // The oldest item whose base is known; else one whose base nobody knows any more.
  next() {
    const open = this.items.filter(
      (item) => this.free(item, this.halted) && this.free(item, this.later) && !this.overtakes(item),
    );
    const waits = (item) => item.base === null && this.items.some((other) => other.key === item.after);
    return open.find((item) => item.base !== null) ?? open.find((item) => !waits(item)) ?? null;
  }

  // Whether the queue may go on at once.
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
    if (!this.later.size) [this.failures, this.why] = [0, null];
    this.savedAt = new Date(answer.saved_at ?? Date.now());
    this.newest.set(item.annotation, Math.max(answer.revision, this.newest.get(item.annotation) ?? 0));
    const next = this.items.filter((other) => other.after === item.key);
    for (const other of next) Object.assign(other, { base: answer.revision, after: null });
    this.items = this.items.filter((other) => other.key !== item.key);
    this.settle([item.key]);
    // Said before anything is waited for: an edit made from here on must build on this revision.
    try {
      this.hear.saved(item, answer);
    } catch (error) {
      this.hear.broken(error); // the item is saved all the same
    }
    this.store.change(next, [item.key]).catch(() => this.hear.notKept());
    return true;
  }

  failed(item, error) {
    if (!this.items.includes(item)) return true; // given up while it was under way
    const status = error.status ?? 0;
    const said = typeof error.body?.detail === 'string'; // by our server, not by something between
    if (status === 409 && error.body?.current) {
      this.halt(item, 'conflict', error.message, error.body.current);
      return true;
    }
    if (said && status >= 400 && status < 500 && ![401, 408, 429].includes(status)) {
      this.halt(item, status === 404 ? 'gone' : 'refused', error.message);
      return true;
    }
    if (status === 401) this.hear.loggedOut(error);
    this.failures++;
    this.why = said && status !== 401 ? error.message : null;
    this.later.add(item.annotation);
    this.hear.changed();
    return said && status >= 500 && status !== 503; // it reads what others say; only this edit goes wrong there (503: all do)
  }

  halt(item, kind, sentence, current = null) {
    this.halted.set(item.annotation, { kind, current, sentence });
    this.hear.conflict(item.annotation);
  }

  // A person wants what is halted to be tried once more.
  resume(annotation) {
    this.halted.delete(annotation);
    this.hear.changed();
    this.retry();
  }

  // The words of a page turned out to have other numbers, or not to be (null): what waits names them no more. The pixels stay.
  renumber(page, map) {
    const changed = [];
    for (const item of this.items) {
      const mark = item.pages?.[page];
      if (!mark || mark.words.every((number) => map(number) === number)) continue;
      const words = mark.words.map(map).filter((number) => number !== null);
      item.pages = { ...item.pages, [page]: { ...mark, words } };
      const others = item.edits.filter((edit) => edit.page !== page || edit.op === 'prompts');
      item.edits = [{ op: 'mask', page, words, mask: mark.mask }, ...others];
      changed.push(item);
    }
    if (changed.length) this.store.change(changed).catch(() => this.hear.notKept());
  }

  // Gives up what waits for an annotation: only a person decides that.
  async discard(annotation) {
    const gone = this.forget(annotation);
    await this.store.change([], gone).catch(() => this.hear.notKept());
    this.hear.changed();
  }

  forget(annotation) {
    const gone = this.of(annotation).map((item) => item.key);
    this.items = this.items.filter((item) => item.annotation !== annotation);
    this.halted.delete(annotation);
    this.settle(gone);
    return gone;
  }

  settle(keys) {
    for (const key of keys) {
      this.done.add(key);
      this.unkept.delete(key);
      this.doubtful.delete(key);
    }
  }
}
