// Work that is handed out one piece at a time, leased to whoever asks: tasks (task_queue.js) and answers to review (review_desk.js).

import { Lease } from '../sync/lease.js';

// A subclass says what it hands out: `held` (id of the piece in hand, or null), ask(project, after) (the next one),
// idOf(found), keep(id) and giveBack(id, options) (its lease), take(found), present(found), and drop() (nothing is in hand any more).
export class HandedOut {
  constructor({ library, idle, hear }) {
    Object.assign(this, { library, idle, hear });
    this.reason = null; // why there is nothing to do
    this.lease = null;
    this.busy = false;
    this.visit = 0; // what arrives after one has left is not taken
    this.failed = null; // the sentence of an answer that could not be had
  }

  get empty() {
    return !this.held && !this.busy && this.reason !== null;
  }

  // id: what this tab had before a reload; it is asked for again first.
  async resume(id) {
    if (id) await this.keep(id).catch(() => null);
    return this.next(null);
  }

  // after: the piece to go on from; it is left to others where it is not done.
  async next(after = this.held) {
    if (this.busy) return;
    const { visit, lease: before } = this;
    this.busy = true;
    this.failed = null;
    this.hear.changed();
    try {
      const found = await this.ask(this.library.project, after);
      const id = this.idOf(found);
      if (visit !== this.visit) return this.decline(id);
      if (id === this.held) before?.end();
      else before?.release();
      this.take(found);
      await this.present(found);
    } catch (error) {
      if (visit !== this.visit) return;
      this.failed = error.message;
      throw error;
    } finally {
      if (visit === this.visit) this.busy = false;
      this.hear.changed();
    }
  }

  // Somebody who has come back meanwhile may have been given the same one again.
  decline(id) {
    if (id && !this.busy && id !== this.held) this.giveBack(id).catch(() => {});
  }

  async leave() {
    const { lease } = this;
    this.visit++;
    this.busy = false;
    this.lease = this.reason = this.failed = null;
    this.drop();
    this.hear.changed();
    await lease?.release();
  }

  // The lease of a piece that was handed out.
  lent(id, until) {
    const calls = { keep: () => this.keep(id), giveBack: (options) => this.giveBack(id, options) };
    return new Lease(calls, until, this.idle, this.hear);
  }

  // The page goes on without this one: what is leased stays so.
  destroy() {
    this.visit++;
    this.lease?.end();
  }
}
