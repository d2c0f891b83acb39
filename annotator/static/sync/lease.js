// A lease on a task or on an answer under review: kept by a heartbeat while somebody works, given back when they leave.

import { sentenceOf, statusOf } from '../core/api.js';

/** @import { RequestOptions } from '../types' */

const BEAT = 30_000; // milliseconds between heartbeats
const IDLE = 180_000; // who has not moved for so long does not work: the lease may run out

/**
 * @typedef {object} LeaseCalls
 * @property {() => Promise<{ lease_until: string }>} keep
 * @property {(options?: RequestOptions) => Promise<unknown>} giveBack
 */

/** @typedef {{ changed: () => void, lost: (sentence: string) => void }} LeaseEvents */

/**
 * A sentence without times of day: that somebody goes on working is no news.
 *
 * @param {string} sentence
 */
const nameless = (sentence) => sentence.replace(/\d\d:\d\d/g, '');

export class Lease {
  /** @type {string | null} the sentence that says who has it now */
  lost = null;
  ended = false;
  /** Whether somebody is leaving: a beat would take the lease up again that the server takes back. */
  leaving = false;
  /** @type {Promise<void> | null} the beat under way */
  beating = null;

  /**
   * @param {LeaseCalls} calls
   * @param {string} until ISO time
   * @param {() => number} idle milliseconds since somebody moved
   * @param {LeaseEvents} on
   */
  constructor({ keep, giveBack }, until, idle, on) {
    this.keep = keep;
    this.giveBack = giveBack;
    this.idle = idle;
    this.on = on;
    this.until = new Date(until);
    this.beatAt = Date.now();
    this.timer = setInterval(() => this.working && Date.now() - this.beatAt > BEAT / 2 && this.beat(), BEAT);
    this.listening = new AbortController();
    const { signal } = this.listening;
    document.addEventListener('visibilitychange', () => document.visibilityState === 'visible' && this.beat(), {
      signal,
    });
    window.addEventListener('pagehide', () => this.release({ keepalive: true }), { signal });
  }

  get working() {
    return document.visibilityState === 'visible' && this.idle() < IDLE;
  }

  get over() {
    return Date.now() > this.until.getTime();
  }

  /**
   * No answer (no network, no login) is no loss: the next beat tells. One that somebody else has is asked for again, so
   * that its person hears what becomes of it: that it is free, or that the other one has answered.
   */
  beat() {
    if (this.ended || this.leaving) return Promise.resolve();
    this.beating ??= this.renew().finally(() => (this.beating = null));
    return this.beating;
  }

  async renew() {
    this.beatAt = Date.now();
    try {
      const { lease_until } = await this.keep();
      this.until = new Date(lease_until);
      this.lost = null;
    } catch (error) {
      const status = statusOf(error) ?? 0,
        sentence = sentenceOf(error);
      if (this.ended || ![403, 404, 409].includes(status)) return;
      if (status !== 409) this.end();
      const news = nameless(sentence) !== nameless(this.lost ?? '');
      this.lost = sentence;
      if (news) this.on.lost(sentence);
    }
    this.on.changed();
  }

  /** Somebody asks for other work: resolves when no beat is under way, and none follows. */
  async pause() {
    this.leaving = true;
    await this.beating;
  }

  /** The other work did not come. */
  goOn() {
    this.leaving = false;
  }

  end() {
    this.ended = true;
    clearInterval(this.timer);
    this.listening.abort();
  }

  /**
   * Others may have it. Failing is harmless: it runs out by itself.
   *
   * @param {RequestOptions} [options]
   */
  async release(options) {
    if (this.ended) return;
    this.end();
    await this.giveBack(options).catch(() => {});
  }
}
