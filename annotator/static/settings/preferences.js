// What one person has chosen for themselves: keys, light or dark, the colours of marks. Kept with their account where
// the server does that, else in this browser; a copy here makes the next start look right from its first frame.

import { get, put, statusOf } from '../core/api.js';
import { remember, remembered } from '../core/storage.js';

const HERE = 'glossator.preferences';

/**
 * The copy in this browser.
 *
 * @typedef {object} Copy
 * @property {string | null} user whose they are
 * @property {Record<string, unknown>} value
 * @property {boolean} unsent whether the server has not heard of them yet
 */

/** A person's own choices: `value` holds "theme", "palette", "zoom" and "keys". */
export class Preferences {
  constructor() {
    const copy = /** @type {Partial<Copy>} */ (remembered('local', HERE) ?? {});
    /** @type {string | null} */
    this.user = copy.user ?? null;
    /** @type {Record<string, unknown>} */
    this.value = copy.value ?? {};
    this.unsent = copy.unsent ?? false;
    this.kept = true; // by the server, until it says that it knows of no preferences
    this.listening = new AbortController();
    window.addEventListener('online', () => this.unsent && this.send(), { signal: this.listening.signal });
  }

  /**
   * Takes what the server holds, except for what it has not heard yet.
   *
   * @param {string} user
   */
  async load(user) {
    if (user !== this.user) {
      if (this.user !== null) this.value = {};
      this.user = user;
      this.unsent = false;
    }
    try {
      if (this.unsent) return await this.send();
      this.value = (await get('/me/preferences', {})) ?? {};
    } catch (error) {
      this.kept = statusOf(error) !== 404;
    }
    this.store();
  }

  /**
   * Chooses, here at once and then on the server.
   *
   * @param {string} name
   * @param {unknown} value
   */
  set(name, value) {
    this.value = { ...this.value, [name]: value };
    this.unsent = true;
    this.store();
    return this.send();
  }

  async send() {
    if (!this.kept) return;
    const sent = this.value;
    try {
      await put('/me/preferences', {}, sent);
      this.unsent = this.value !== sent;
    } catch (error) {
      this.kept = statusOf(error) !== 404;
    }
    this.store();
  }

  store() {
    const { user, value, unsent, kept } = this;
    remember('local', HERE, { user, value, unsent: unsent && kept });
  }

  destroy() {
    this.listening.abort();
  }
}
