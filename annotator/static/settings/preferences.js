// What one person has chosen for themselves: keys, light or dark, the colours of marks. Kept with their account where the
// server does that, else in this browser; a copy here makes the next start look right from its first frame.

import { get, put } from '../core/api.js';
import { remember, remembered } from '../core/storage.js';

const HERE = 'glossator.preferences';

export class Preferences {
  constructor() {
    const { user = null, value = {}, unsent = false } = remembered('local', HERE) ?? {};
    Object.assign(this, { user, value, unsent });
    this.kept = true; // by the server, until it says that it knows of no preferences
    this.listening = new AbortController();
    window.addEventListener('online', () => this.unsent && this.send(), { signal: this.listening.signal });
  }

  // The server's word counts, except for what it has not heard yet.
  async load(user) {
    if (user !== this.user) Object.assign(this, { user, value: this.user === null ? this.value : {}, unsent: false });
    try {
      if (this.unsent) return await this.send();
      this.value = (await get('/me/preferences', {})) ?? {};
    } catch (error) {
      this.kept = error.status !== 404;
    }
    this.store();
  }

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
      this.kept = error.status !== 404;
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
