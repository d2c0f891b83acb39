// Edits that the server has not acknowledged, kept in IndexedDB: they live through reloads and crashes of the browser.

import { ROOT } from '../core/root.js';

/** @import { QueuedItem } from '../types' */

const NAME = 'glossator',
  STORE = 'edits';
const PATIENCE = 5000; // milliseconds: a browser whose storage is broken may never answer

/**
 * @template T
 * @param {IDBRequest<T>} request
 * @returns {Promise<T>}
 */
export function finished(request) {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

/**
 * A database of one store, of this server alone. Rejects where the browser has none, or one that never answers.
 *
 * @param {string} name
 * @param {string} store
 * @param {string | string[]} keyPath
 * @returns {Promise<IDBDatabase>}
 */
export function openDatabase(name, store, keyPath) {
  const opening = indexedDB.open(`${name}${ROOT}`, 1);
  opening.onupgradeneeded = () => opening.result.createObjectStore(store, { keyPath });
  const late = new Promise((_, reject) => setTimeout(() => reject(new Error('no answer')), PATIENCE));
  return Promise.race([finished(opening), /** @type {Promise<never>} */ (late)]);
}

export class EditStore {
  /** @param {IDBDatabase | null} database */
  constructor(database) {
    this.database = database;
  }

  /** A store without a database (some private windows have none) keeps nothing, and says so: `lasting` is false. */
  static async open() {
    try {
      const database = await openDatabase(NAME, STORE, 'key'),
        store = new EditStore(database);
      // The browser takes the database away: its storage was cleared, or its disk failed.
      database.onclose = () => (store.database = null);
      return store;
    } catch {
      return new EditStore(null);
    }
  }

  get lasting() {
    return this.database !== null;
  }

  /** @returns {Promise<QueuedItem[]>} oldest first */
  async all() {
    if (!this.database) return [];
    const items = await finished(this.database.transaction(STORE).objectStore(STORE).getAll());
    return items.sort((left, right) => left.sequence - right.sequence);
  }

  /**
   * Puts and removes in one transaction: either all of it is on disk, or nothing.
   *
   * @param {QueuedItem[]} put
   * @param {string[]} [remove] keys
   * @returns {Promise<void>}
   */
  change(put, remove = []) {
    const { database } = this;
    if (!database) return Promise.resolve();
    return new Promise((resolve, reject) => {
      const transaction = database.transaction(STORE, 'readwrite', { durability: 'strict' });
      for (const item of put) transaction.objectStore(STORE).put(item);
      for (const key of remove) transaction.objectStore(STORE).delete(key);
      transaction.oncomplete = () => resolve();
      // A full disk aborts at the commit, without an error of any one request.
      transaction.onerror = transaction.onabort = () => reject(transaction.error);
      transaction.commit?.(); // nothing more comes: the browser need not wait for another turn of the page
    });
  }
}
