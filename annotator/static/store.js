// Edits that the server has not acknowledged, kept in IndexedDB: they live through reloads and crashes of the browser.

const NAME = 'glossator', STORE = 'edits';

function finished(request) {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

export class EditStore {
  constructor(database) {
    this.database = database;
  }

  // A store without a database (some private windows have none) keeps nothing, and says so: `lasting` is false.
  static async open() {
    try {
      const opening = indexedDB.open(NAME, 1);
      opening.onupgradeneeded = () => opening.result.createObjectStore(STORE, { keyPath: 'key' });
      return new EditStore(await finished(opening));
    } catch {
      return new EditStore(null);
    }
  }

  get lasting() {
    return this.database !== null;
  }

  async all() {
    if (!this.database) return [];
    const items = await finished(this.database.transaction(STORE).objectStore(STORE).getAll());
    return items.sort((left, right) => left.sequence - right.sequence);
  }

  // Puts and removes in one transaction: either all of it is on disk, or nothing.
  change(put, remove = []) {
    if (!this.database) return Promise.resolve();
    return new Promise((resolve, reject) => {
      const transaction = this.database.transaction(STORE, 'readwrite', { durability: 'strict' });
      for (const item of put) transaction.objectStore(STORE).put(item);
      for (const key of remove) transaction.objectStore(STORE).delete(key);
      transaction.oncomplete = () => resolve();
      transaction.onerror = () => reject(transaction.error);
    });
  }
}
