// Where changes come from: the server's stream, and a small poll while the stream does not stand. One window of a
// browser runs it for all (changes.js). Whatever happens to the line, it knows the cursor up to which everything was
// told, so nothing is missed.

import { statusOf } from '../core/api.js';

/** @import { ChangesView } from '../types' */

/**
 * `live`: by the stream. `offline`: the server cannot be reached.
 *
 * @typedef {'live' | 'polling' | 'offline'} ConnectionState
 */

/**
 * An EventSource.
 *
 * @typedef {object} EventStream
 * @property {(type: string, hear: (event: MessageEvent<string>) => void) => void} addEventListener
 * @property {() => void} close
 */

/**
 * @typedef {object} SourcePorts
 * @property {(since: number | null) => EventStream} open
 * @property {(since: number | null, signal: AbortSignal) => Promise<ChangesView>} ask rejects with an ApiError
 */

/**
 * @typedef {object} SourceEvents
 * @property {(view: ChangesView) => void} told also where nothing has changed: the line stands
 * @property {(state: ConnectionState) => void} state
 * @property {() => void} loggedOut nothing more comes
 */

const FIRST = 5_000; // milliseconds: the first event comes at once, unless something between holds it back
export const SILENT = 45_000; // without an event; the server sends one every 15 seconds
const FAILURES = 3; // of the stream one after the other, before it is left alone for a while
const ALONE = 60_000;
const POLL = 2_000;
const WAITS = [1, 2, 4, 8, 15, 30]; // seconds between attempts

/** @param {number} failures from 1 */
const jittered = (failures) => (WAITS[failures - 1] ?? 30) * 1000 * (0.75 + Math.random() / 2);

export class ChangeSource {
  /** @type {number | null} everything up to it was told; null: nothing is known yet */
  cursor = null;
  /** @type {() => void} ends the present pause */
  hurry = () => {};

  /**
   * @param {SourcePorts} ports
   * @param {SourceEvents} on
   */
  constructor(ports, on) {
    this.ports = ports;
    this.on = on;
  }

  /**
   * Tells of changes until `signal` is aborted, or nobody is logged in.
   *
   * @param {AbortSignal} signal
   */
  async run(signal) {
    let failures = 0;
    while (!signal.aborted) {
      const heard = await this.stream(signal);
      failures = heard ? 1 : failures + 1;
      if (!(await this.poll(heard || failures < FAILURES ? jittered(failures) : ALONE, signal))) return;
    }
  }

  /**
   * Hears the stream until it fails; returns whether anything came.
   *
   * @param {AbortSignal} signal
   * @returns {Promise<boolean>}
   */
  stream(signal) {
    return new Promise((resolve) => {
      if (signal.aborted) return resolve(false);
      const stream = this.ports.open(this.cursor);
      let heard = false;
      const end = () => {
        clearTimeout(silence);
        stream.close();
        signal.removeEventListener('abort', end);
        resolve(heard);
      };
      let silence = setTimeout(end, FIRST);
      signal.addEventListener('abort', end);
      stream.addEventListener('message', ({ data }) => {
        if (signal.aborted) return;
        heard = true;
        clearTimeout(silence);
        silence = setTimeout(end, SILENT);
        this.tell(/** @type {ChangesView} */ (JSON.parse(data)), 'live');
      });
      stream.addEventListener('end', end); // the login has ended: the poll is told so
      stream.addEventListener('error', end); // the browser would try again by itself, without growing waits
    });
  }

  /**
   * Asks every two seconds, for so long and until the server answers; returns whether to go on.
   *
   * @param {number} milliseconds
   * @param {AbortSignal} signal
   * @param {ConnectionState | null} [state] told with each answer
   */
  async poll(milliseconds, signal, state = 'polling') {
    const until = Date.now() + milliseconds;
    for (let failures = 0; !signal.aborted;) {
      const answered = await this.ask(signal, state);
      if (answered === null || signal.aborted) return false;
      failures = answered ? 0 : failures + 1;
      const left = until - Date.now();
      if (answered && left <= 0) return true;
      await this.pause(answered ? Math.min(POLL, left) : jittered(failures), signal);
    }
    return false;
  }

  /**
   * Asks once; returns whether the server has answered, null where nobody is logged in.
   *
   * @param {AbortSignal} signal
   * @param {ConnectionState | null} state told where it has
   */
  async ask(signal, state) {
    try {
      const view = await this.ports.ask(this.cursor, signal);
      if (!signal.aborted) this.tell(view, state);
      return true;
    } catch (error) {
      if (signal.aborted) return false;
      if (statusOf(error) === 401) {
        this.on.loggedOut();
        return null;
      }
      this.on.state('offline');
      return false;
    }
  }

  /**
   * @param {ChangesView} view
   * @param {ConnectionState | null} state
   */
  tell(view, state) {
    this.cursor = view.next;
    if (state) this.on.state(state);
    this.on.told(view);
  }

  /**
   * @param {number} milliseconds
   * @param {AbortSignal} signal
   * @returns {Promise<void>}
   */
  pause(milliseconds, signal) {
    return new Promise((resolve) => {
      const end = () => {
        clearTimeout(timer);
        signal.removeEventListener('abort', end);
        if (this.hurry === end) this.hurry = () => {};
        resolve();
      };
      const timer = setTimeout(end, milliseconds);
      signal.addEventListener('abort', end);
      this.hurry = end;
    });
  }
}
