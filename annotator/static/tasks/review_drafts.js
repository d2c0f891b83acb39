// A reviewer's corrections before the verdict that they belong to: kept in the browser, so that a reload loses none of them.

import { finished, openDatabase } from '../sync/edit_store.js';

const NAME = 'glossator.fixes',
  STORE = 'fixes';

export class Fixes {
  // user: whose they are; refused(): the browser does not keep them
  constructor(user, refused) {
    this.user = user;
    this.refused = refused;
    this.known = new Map(); // annotation -> { annotation, document, base, pages, no_answer }
    this.ready = this.open();
  }

  async open() {
    try {
      this.database = await openDatabase(NAME, STORE, ['user', 'annotation']);
      // The browser takes the database away: its storage was cleared, or its disk failed.
      this.database.onclose = () => (this.database = null);
      const kept = await finished(this.database.transaction(STORE).objectStore(STORE).getAll());
      for (const fix of kept)
        if (fix.user === this.user && !this.known.has(fix.annotation)) this.known.set(fix.annotation, fix);
    } catch {
      this.database = null;
    }
  }

  get(annotation) {
    return this.known.get(annotation) ?? null;
  }

  keep(fix) {
    this.known.set(fix.annotation, fix);
    this.write((store) => store.put({ ...fix, user: this.user }));
  }

  drop(annotation) {
    if (!this.known.delete(annotation)) return;
    this.write((store) => store.delete([this.user, annotation]));
  }

  async write(step) {
    await this.ready;
    if (!this.database) return this.refused();
    try {
      const transaction = this.database.transaction(STORE, 'readwrite', { durability: 'strict' });
      transaction.onabort = transaction.onerror = () => this.refused();
      step(transaction.objectStore(STORE));
      transaction.commit?.();
    } catch {
      this.refused(); // a database that is closed throws at once
    }
  }
}
