// Work that is handed out one piece at a time, leased to whoever asks: tasks (task_queue.js) and answers to review
// (review_desk.js).

import { sentenceOf } from '../core/api.js';
import { Lease } from '../sync/lease.js';

/** @import { ProjectView, RequestOptions } from '../types' */
/** @import { LeaseEvents } from '../sync/lease.js' */

/** @typedef {{ readonly project: ProjectView | null }} ProjectPlace */

/**
 * @template Found what the server hands out
 * @template {LeaseEvents} [Events=LeaseEvents]
 */
export class LeasedWork {
  /** @type {string | null} why there is nothing to do */
  reason = null;
  /** @type {Lease | null} */
  lease = null;
  busy = false;
  visit = 0; // what arrives after one has left is not taken
  /** @type {string | null} the sentence of an answer that could not be had */
  failed = null;

  /**
   * @param {ProjectPlace} library
   * @param {() => number} idle milliseconds since somebody moved
   * @param {Events} on
   */
  constructor(library, idle, on) {
    this.library = library;
    this.idle = idle;
    this.on = on;
  }

  // --- what a subclass says

  /** Id of the piece in hand. @returns {string | null} */
  get held() {
    throw new TypeError('A subclass says what is in hand.');
  }

  /**
   * Asks for the next piece.
   *
   * @param {string} _project
   * @param {string | null} _after the piece to go on from
   * @returns {Promise<Found>}
   */
  ask(_project, _after) {
    throw new TypeError('A subclass asks for its work.');
  }

  /**
   * @param {Found} _found
   * @returns {string | null}
   */
  idOf(_found) {
    throw new TypeError('A subclass names its work.');
  }

  /**
   * @param {string} _id
   * @returns {Promise<{ lease_until: string }>}
   */
  keep(_id) {
    throw new TypeError('A subclass keeps its leases.');
  }

  /**
   * @param {string} _id
   * @param {RequestOptions} [_options]
   * @returns {Promise<unknown>}
   */
  giveBack(_id, _options) {
    throw new TypeError('A subclass gives its leases back.');
  }

  /** @param {Found} _found */
  take(_found) {}

  /**
   * @param {Found} _found
   * @returns {unknown}
   */
  present(_found) {
    return null;
  }

  /** Nothing is in hand any more. */
  drop() {}

  // --- coming and going

  get empty() {
    return !this.held && !this.busy && this.reason !== null;
  }

  /** @param {string | null | undefined} id what this window had before a reload; it is asked for again first */
  async resume(id) {
    if (id) await this.keep(id).catch(() => null);
    return this.next(null);
  }

  /** @param {string | null} [after] the piece to go on from; it is left to others where it is not done */
  async next(after = this.held) {
    const { project } = this.library;
    if (this.busy || !project) return;
    const { visit, lease: before } = this;
    this.busy = true;
    this.failed = null;
    this.on.changed();
    try {
      await before?.pause();
      const found = await this.ask(project.id, after);
      const id = this.idOf(found);
      if (visit !== this.visit) return this.decline(id);
      if (id === this.held || after === this.held)
        before?.end(); // the server has taken back what one came from
      else before?.release();
      this.take(found);
      await this.present(found);
    } catch (error) {
      if (visit !== this.visit) return;
      before?.goOn();
      this.failed = sentenceOf(error);
      throw error;
    } finally {
      if (visit === this.visit) this.busy = false;
      this.on.changed();
    }
  }

  /**
   * Somebody who has come back meanwhile may have been given the same one again.
   *
   * @param {string | null} id
   */
  decline(id) {
    if (id && !this.busy && id !== this.held) this.giveBack(id).catch(() => {});
  }

  async leave() {
    const { lease } = this;
    this.visit++;
    this.busy = false;
    this.lease = this.reason = this.failed = null;
    this.drop();
    this.on.changed();
    await lease?.release();
  }

  /**
   * The lease of a piece that was handed out.
   *
   * @param {string} id
   * @param {string} until ISO time
   */
  lent(id, until) {
    /** @type {import('../sync/lease.js').LeaseCalls} */
    const calls = { keep: () => this.keep(id), giveBack: (options) => this.giveBack(id, options) };
    return new Lease(calls, until, this.idle, this.on);
  }

  /** The page goes on without this one: what is leased stays so. */
  destroy() {
    this.visit++;
    this.lease?.end();
  }
}
