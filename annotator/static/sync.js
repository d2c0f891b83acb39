// The save queue: every edit becomes one revision on the server, in order, exactly once.
//
// An item carries its idempotency key and the revision that it builds on: `base` where that is known, else `after`, the
// key of the item before it, whose answer will tell. So two tabs that edit the same answer meet as a conflict (409) and
// never mix silently, and an answer lost on the way back is asked for again with the same key and the same base.

import { uuid } from './dom.js';

const WAITS = [1, 2, 4, 8, 15, 30]; // seconds between attempts while the server cannot be reached

export class SaveQueue {
  // store: EditStore. send(item) -> promise of the server's answer, or an ApiError.
  // hear: { changed(), saved(item, answer), conflict(annotation, current), refused(annotation, error), loggedOut(error) }
  constructor(store, user, send, hear) {
    this.store = store;
    this.user = user;
    this.send = send;
    this.hear = hear;
    this.items = [];
    this.halted = new Map(); // annotation -> { kind: 'conflict' | 'refused', ... }: waits for a person
    this.failures = 0;
    this.savedAt = null;
    this.sending = false;
    this.sequence = 0;
    window.addEventListener('online', () => this.retry());
    document.addEventListener('visibilitychange', () => document.visibilityState === 'visible' && this.retry());
  }

  async load() {
    this.items = (await this.store.all()).filter((item) => item.user === this.user);
    this.hear.changed();
    this.flush();
  }

  of(annotation) {
    return this.items.filter((item) => item.annotation === annotation);
  }

  get state() {
    if (this.items.length === 0) return 'saved';
    if (this.items.some((item) => !this.halted.has(item.annotation))) return this.failures ? 'offline' : 'saving';
    return 'halted';
  }

  // content: { annotation, document, action, edits, prediction_id, seconds, interactions, pages, no_answer }, where pages
  // and no_answer are what stands after the edits. head: the last revision of this annotation that this tab has seen.
  // instead: what waits for this annotation is given up, in the same transaction.
  add(content, head, { instead = false } = {}) {
    const gone = instead ? this.forget(content.annotation) : [];
    const before = this.of(content.annotation).at(-1);
    this.sequence = Math.max(Date.now() * 1000, this.sequence + 1);
    const chained = before && before.tab === this.tab;
    const item = {
      ...content, key: uuid(), user: this.user, tab: this.tab, sequence: this.sequence,
      after: chained ? before.key : null, base: chained ? null : head,
    };
    this.items.push(item);
    const kept = this.store.change([item], gone);
    this.hear.changed();
    kept.catch(() => this.hear.notKept()).then(() => this.flush());
    return item;
  }

  tab = uuid();

  // Items that an earlier life of this tab left behind become this one's: what follows builds on them.
  adopt(annotation) {
    for (const item of this.of(annotation)) item.tab = this.tab;
  }

  retry() {
    clearTimeout(this.timer);
    this.flush();
  }

  async flush() {
    if (this.sending) return;
    this.sending = true;
    try {
      for (;;) {
        const item = this.items.find((candidate) => !this.halted.has(candidate.annotation));
        if (!item || !(await this.attempt(item))) break;
      }
    } finally {
      this.sending = false;
      this.hear.changed();
    }
  }

  // Whether the queue may go on at once.
  async attempt(item) {
    if (item.base === null) {
      // The item it builds on was given up by a person; so this one goes too.
      await this.discard(item.annotation);
      return true;
    }
    try {
      const answer = await this.send(item);
      this.failures = 0;
      this.savedAt = new Date(answer.saved_at ?? Date.now());
      const next = this.items.filter((other) => other.after === item.key);
      for (const other of next) Object.assign(other, { base: answer.revision, after: null });
      this.items = this.items.filter((other) => other.key !== item.key);
      // Said before anything is waited for: an edit made from here on must build on this revision.
      this.hear.saved(item, answer);
      await this.store.change(next, [item.key]).catch(() => this.hear.notKept());
      return true;
    } catch (error) {
      return this.failed(item, error);
    }
  }

  failed(item, error) {
    const status = error.status ?? 0;
    if (status === 409 && error.body?.current) {
      this.halted.set(item.annotation, { kind: 'conflict', current: error.body.current, sentence: error.message });
      this.hear.conflict(item.annotation);
      return true;
    }
    if (status >= 400 && status < 500 && status !== 401 && status !== 408 && status !== 429) {
      this.halted.set(item.annotation, { kind: 'refused', current: null, sentence: error.message });
      this.hear.conflict(item.annotation);
      return true;
    }
    if (status === 401) this.hear.loggedOut(error);
    this.failures++;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.flush(), 1000 * WAITS[Math.min(this.failures, WAITS.length) - 1]);
    this.hear.changed();
    return false;
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
    return gone;
  }
}
