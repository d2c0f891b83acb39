// The rows of the table of answers, page behind page. A change fetches the pages in sight anew, and no others: one that
// was left behind is fetched again when it comes into sight.

/** @import { TableRow } from '../types' */

/**
 * @typedef {(cursor: string | null) => Promise<{ items: TableRow[], next: string | null, total: number }>} FetchRows
 * @typedef {{ cursor: string | null, items: TableRow[], next: string | null, stale: boolean }} RowsPage
 */

export class TablePages {
  /** @type {RowsPage[]} */
  pages = [];
  /** @type {TableRow[]} rows of all pages */
  rows = [];
  /** @type {number | null} documents on all pages; null: not known */
  total = null;
  turn = 0; // an answer to what was asked for before is dropped
  busy = false; // a page is on its way

  /** @param {FetchRows} fetch */
  constructor(fetch) {
    this.fetch = fetch;
  }

  /** Whether a page is behind the last one. */
  get open() {
    return Boolean(this.pages.at(-1)?.next);
  }

  /** Begins anew with the first page; the rows before stay until it is there. */
  async begin() {
    const turn = ++this.turn;
    this.busy = false;
    const page = await this.read(null);
    if (turn !== this.turn) return false;
    this.pages = [page];
    this.gather();
    return true;
  }

  /** Fetches the page behind the last one. */
  async more() {
    const { turn } = this,
      next = this.pages.at(-1)?.next;
    if (!next || this.busy) return;
    await this.hold(async () => {
      const page = await this.read(next);
      if (turn !== this.turn || this.pages.at(-1)?.next !== next) return;
      this.pages = [...this.pages, page];
      this.gather();
    });
  }

  /** Something has changed: every page is to be fetched again before it is seen. */
  spoil() {
    for (const page of this.pages) page.stale = true;
  }

  /**
   * Fetches those pages anew that are stale and have rows in sight.
   *
   * @param {number} first row in sight
   * @param {number} end row behind the last one in sight
   */
  async freshen(first, end) {
    const { turn } = this;
    await this.hold(async () => {
      let [stale] = this.staleIn(first, end);
      while (stale && turn === this.turn) {
        const page = await this.read(stale.cursor);
        const at = this.pages.indexOf(stale);
        if (turn !== this.turn || at < 0) return;
        // Where rows have moved over its end, the pages behind it no longer follow it.
        const behind = page.next === stale.next ? this.pages.slice(at + 1) : [];
        this.pages = [...this.pages.slice(0, at), page, ...behind];
        this.gather();
        [stale] = this.staleIn(first, end);
      }
    });
  }

  /**
   * @param {number} first
   * @param {number} end
   */
  staleIn(first, end) {
    let from = 0;
    return this.pages.filter((page) => {
      const start = from;
      from += page.items.length;
      return page.stale && start < Math.max(end, 1) && (from > first || !page.items.length);
    });
  }

  /** @param {() => Promise<void>} run */
  async hold(run) {
    const { turn } = this;
    this.busy = true;
    try {
      await run();
    } finally {
      if (turn === this.turn) this.busy = false;
    }
  }

  /** @param {string | null} cursor */
  async read(cursor) {
    const { turn } = this;
    const { items, next, total } = await this.fetch(cursor);
    if (turn === this.turn) this.total = total || null; // the server counts no further than some thousands
    return { cursor, items, next, stale: false };
  }

  gather() {
    const known = new Set(); // a document whose values have changed may stand on two pages
    this.rows = this.pages.flatMap(({ items }) =>
      items.filter(({ document_id: id }) => !known.has(id) && known.add(id)),
    );
    if (!this.open) this.total = this.rows.length;
  }
}
