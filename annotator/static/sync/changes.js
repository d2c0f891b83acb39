// What others, workers and other windows have changed. Who begins to follow also hears of the last three seconds, in
// which the page was fetched.
//
// A server allows few connections for each browser, so its windows share one stream: the window that holds the lock
// hears the server, and passes on what it hears. Where browsers have no locks (plain HTTP to another machine) each
// window has its own. A window out of sight holds nothing and asks nothing; back in sight it asks for what it has
// missed.

import { get, statusOf } from '../core/api.js';
import { ROOT } from '../core/root.js';
import { ChangeSource, SILENT } from './change_source.js';

/**
 * @import { ChangeLine, ChangesView } from '../types'
 * @import { ConnectionState, SourcePorts } from './change_source.js'
 */

/** @typedef {ChangeLine['topic']} Topic */

/**
 * `subjects`: ids of what changed, null: many, or any. `project_id` null: it concerns all projects. `all`: what has
 * changed is not known; everything may have.
 *
 * @typedef {{ all: true } | { all?: undefined, project_id: string | null, topic: Topic, subjects: string[] | null }}
 * Told
 */

/**
 * The part of the browser that is needed; it is asked for when somebody follows, not before.
 *
 * @typedef {object} BrowserPorts
 * @property {() => boolean} hidden whether the window is out of sight
 * @property {(look: () => void, hurry: () => void) => void} watch calls `look` when sight or focus changes, `hurry`
 *   when the network is back
 * @property {() => Pick<LockManager, 'request'> | null} locks
 * @property {() => Pick<BroadcastChannel, 'postMessage' | 'addEventListener' | 'close'>} channel
 */

/** @typedef {{ view?: ChangesView, state?: ConnectionState, loggedOut?: true }} Passed from window to window */

const NAME = `glossator-changes${ROOT}`;
const CHECK = 10_000; // milliseconds for an answer whether somebody is logged in
const LOOK_AGAIN = 30_000; // milliseconds, whether somebody has logged in elsewhere

/**
 * A value that others follow.
 *
 * @template T
 */
class Followed {
  /** @type {Set<(value: T) => void>} */
  followers = new Set();

  /** @param {T} state */
  constructor(state) {
    this.state = state;
  }

  /**
   * Calls back when the state changes; returns a function that ends that.
   *
   * @param {(state: T) => void} callback
   */
  follow(callback) {
    this.followers.add(callback);
    return () => void this.followers.delete(callback);
  }

  /** @param {T} state */
  set(state) {
    if (state === this.state) return;
    this.state = state;
    for (const each of this.followers) each(state);
  }
}

export class Changes {
  /** @type {Followed<ConnectionState>} whether changes are heard, and by which way */
  connection = new Followed(/** @type {ConnectionState} */ ('live'));
  /** @type {Followed<boolean>} whether nobody is logged in any more; tried again when the window is seen anew */
  loggedOut = new Followed(false);

  /** @type {Set<{ topics: Set<string>, callback: (told: Told) => void }>} */
  followers = new Set();
  /** @type {AbortController | null} while the window follows */
  awake = null;
  /** @type {ReturnType<BrowserPorts['channel']> | null} to the other windows */
  channel = null;
  leads = false;
  heardAt = 0; // when another window has last passed something on
  watched = false;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  again = undefined;

  /** @param {BrowserPorts & SourcePorts} ports */
  constructor(ports) {
    this.ports = ports;
    this.source = new ChangeSource(ports, {
      told: (view) => this.hear(view),
      state: (state) => this.reach(state),
      loggedOut: () => this.logOut(),
    });
  }

  /**
   * Calls back with each change of these topics, within a second; returns a function that ends that.
   *
   * @param {Topic[]} topics
   * @param {(told: Told) => void} callback
   */
  follow(topics, callback) {
    const follower = { topics: new Set(/** @type {string[]} */ (topics)), callback };
    this.followers.add(follower);
    if (!this.watched) {
      this.watched = true;
      this.ports.watch(
        () => this.look(),
        () => this.source.hurry(),
      );
    }
    this.look();
    return () => {
      this.followers.delete(follower);
      this.look();
    };
  }

  /** Begins to listen when the window is seen and somebody follows, and stops when not. */
  look() {
    const wanted = this.followers.size > 0 && !this.ports.hidden();
    if (wanted && !this.awake) {
      const awake = (this.awake = new AbortController());
      this.listen(awake.signal).catch((error) => {
        if (!awake.signal.aborted) throw error;
      });
    } else if (!wanted) this.sleep();
  }

  sleep() {
    this.awake?.abort();
    this.awake = null;
    this.channel?.close();
    this.channel = null;
    this.leads = false;
  }

  /** @param {AbortSignal} signal */
  async listen(signal) {
    const locks = this.ports.locks();
    if (!locks) return this.source.run(signal);
    this.channel = this.ports.channel();
    this.channel.addEventListener('message', ({ data }) => this.take(/** @type {Passed} */ (data)));
    let led = false;
    await locks.request(NAME, { ifAvailable: true }, async (lock) => {
      led = Boolean(lock);
      if (lock) await this.lead(signal);
    });
    if (led || signal.aborted) return;
    const beside = new AbortController(); // ends when this window comes to lead
    signal.addEventListener('abort', () => beside.abort());
    this.listenBeside(beside.signal);
    await locks.request(NAME, { signal }, async () => {
      beside.abort();
      await this.lead(signal);
    });
  }

  /** @param {AbortSignal} signal */
  async lead(signal) {
    if (signal.aborted) return;
    this.leads = true;
    await this.source.run(signal);
  }

  /**
   * Hears what the leading window passes on: first asks for what was missed, and asks by itself while nothing comes.
   *
   * @param {AbortSignal} signal
   */
  async listenBeside(signal) {
    let goesOn = await this.source.poll(0, signal, null); // of the line, the leading window tells
    while (goesOn) {
      this.heardAt = Date.now();
      while (Date.now() - this.heardAt < SILENT && !signal.aborted) {
        await this.source.pause(this.heardAt + SILENT - Date.now(), signal);
      }
      if (signal.aborted) return;
      const before = this.heardAt;
      while (this.heardAt === before && goesOn) goesOn = await this.source.poll(2000, signal);
    }
  }

  // --- what is heard, here or in the leading window

  /** @param {ChangesView} view */
  hear(view) {
    if (this.leads) this.pass({ view, state: this.connection.state });
    this.tell(view);
  }

  /** @param {ConnectionState} state */
  reach(state) {
    const changed = state !== this.connection.state;
    this.connection.set(state);
    if (this.leads && (changed || state === 'offline')) this.pass({ state }); // no need for the others to try as well
  }

  /** Asks whether somebody is logged in, after something failed that does not say why. */
  async checkLogin() {
    try {
      await this.ports.ask(this.source.cursor, AbortSignal.timeout(CHECK));
    } catch (error) {
      if (statusOf(error) === 401) this.logOut();
    }
  }

  logOut() {
    if (this.leads) this.pass({ loggedOut: true });
    this.sleep();
    this.connection.set('offline');
    this.loggedOut.set(true);
    clearTimeout(this.again);
    this.again = setTimeout(() => this.look(), LOOK_AGAIN);
  }

  /** @param {Passed} passed */
  pass(passed) {
    this.channel?.postMessage(passed);
  }

  /** @param {Passed} passed */
  take({ view, state, loggedOut }) {
    if (!this.awake || this.leads) return;
    this.heardAt = Date.now();
    if (loggedOut) return this.logOut();
    if (state) this.connection.set(state);
    const { cursor } = this.source;
    // One that is older than the cursor was asked for meanwhile. One of the same cursor may hold more
    // (engine/changes.py).
    if (!view || (cursor !== null && view.next < cursor && !view.all)) return;
    this.source.cursor = view.next;
    this.tell(view);
  }

  /** @param {ChangesView} view */
  tell({ all, changes }) {
    this.loggedOut.set(false);
    for (const { topics, callback } of [...this.followers]) {
      /** @type {Told[]} */
      const told = all ? [{ all: true }] : changes.filter(({ topic }) => topics.has(topic));
      for (const each of told) {
        try {
          callback(each);
        } catch (error) {
          queueMicrotask(() => {
            throw error; // the others hear it all the same
          });
        }
      }
    }
  }
}

export const changes = new Changes({
  hidden: () => document.hidden,
  watch(look, hurry) {
    document.addEventListener('visibilitychange', look);
    window.addEventListener('pageshow', look);
    window.addEventListener('focus', look); // after a login in another window
    window.addEventListener('online', hurry);
  },
  locks: () => navigator.locks ?? null,
  channel: () => new BroadcastChannel(NAME),
  open: (since) => new EventSource(`${ROOT}/api/changes${since === null ? '' : `?since=${since}`}`),
  ask: (since, signal) => get('/changes/since', { since }, { signal }),
});
