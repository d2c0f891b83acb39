// A reviewer's corrections before the verdict that they belong to: kept in the browser, so that a reload loses none of
// them.

import { finished, openDatabase } from '../sync/edit_store.js';

/** @import { AnswerPart, Mark } from '../types' */

const NAME = 'glossator.fixes',
  STORE = 'fixes'; // as browsers have them already

/**
 * @typedef {{ annotation: string, document: string, base: number, pages: Record<string, Mark>, no_answer: boolean,
 *   parts?: AnswerPart[], place?: number }} Draft
 */

export class ReviewDrafts {
  /** @type {Map<string, Draft>} by annotation */
  known = new Map();
  /** @type {IDBDatabase | null} */
  database = null;

  /**
   * @param {string} user whose they are
   * @param {() => void} refused the browser does not keep them
   */
  constructor(user, refused) {
    this.user = user;
    this.refused = refused;
    this.ready = this.open();
  }

  async open() {
    try {
      this.database = await openDatabase(NAME, STORE, ['user', 'annotation']);
      // The browser takes the database away: its storage was cleared, or its disk failed.
      this.database.onclose = () => (this.database = null);
      /** @type {(Draft & { user: string })[]} */
      const kept = await finished(this.database.transaction(STORE).objectStore(STORE).getAll());
      for (const draft of kept) {
        if (draft.user === this.user && !this.known.has(draft.annotation)) this.known.set(draft.annotation, draft);
      }
    } catch {
      this.database = null;
    }
  }

  /** @param {string} annotation */
  get(annotation) {
    return this.known.get(annotation) ?? null;
  }

  /** @param {Draft} draft */
  keep(draft) {
    this.known.set(draft.annotation, draft);
    this.write((store) => store.put({ ...draft, user: this.user }));
  }

  /** @param {string} annotation */
  drop(annotation) {
    if (!this.known.delete(annotation)) return;
    this.write((store) => store.delete([this.user, annotation]));
  }

  /** @param {(store: IDBObjectStore) => unknown} step */
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
