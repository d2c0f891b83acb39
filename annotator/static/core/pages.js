// A list that is fetched page after page, and anew as far as it is known. The owner of its items; draws nothing.

/**
 * @template Item
 * @typedef {(values: { limit: number, cursor: string | null }) => Promise<{ items: Item[], next: string | null }>} FetchPage
 */

/** @template {{ id: string }} Item */
export class Pages {
  /** @type {Item[]} */
  items = [];
  /** @type {string | null} cursor of the page behind; null: that was all */
  next = null;
  turn = 0; // an answer to what was asked for anew meanwhile is dropped

  /**
   * @param {FetchPage<Item>} fetch
   * @param {number} page items of one page
   * @param {number} most items that the server sends at once
   */
  constructor(fetch, page, most) {
    this.fetch = fetch;
    this.page = page;
    this.most = most;
  }

  /** Fetches the list anew, as far as it was fetched before. */
  async load() {
    const turn = ++this.turn,
      wanted = Math.max(this.page, this.items.length);
    /** @type {Item[]} */
    let items = [];
    /** @type {string | null} */
    let cursor = null;
    do {
      const limit = Math.min(this.most, wanted - items.length);
      /** @type {{ items: Item[], next: string | null }} */
      const found = await this.fetch({ limit, cursor });
      items = [...items, ...found.items];
      cursor = found.next;
    } while (cursor && items.length < wanted);
    if (turn !== this.turn) return;
    this.items = items;
    this.next = cursor;
  }

  /** Fetches the page behind. */
  async more() {
    const { turn, next } = this;
    if (!next) return;
    const found = await this.fetch({ limit: this.page, cursor: next });
    if (turn !== this.turn || next !== this.next) return; // fetched anew, or pressed twice
    const known = new Set(this.items.map(({ id }) => id));
    this.items = [...this.items, ...found.items.filter(({ id }) => !known.has(id))];
    this.next = found.next;
  }
}
