// The list of the open project's documents, as far as it was fetched: page after page, searched by the server, newest
// first. The owner of its lines; draws nothing.

import { getPage } from '../core/api.js';

/** @import { DocumentLine } from '../types' */

/**
 * @typedef {object} Fetched
 * @property {DocumentLine[]} items
 * @property {number} total number of the documents that the search finds
 * @property {string | null} next cursor of the page behind; null: that was all
 */

const PATH = '/projects/{project_id}/documents';
const PAGE = 100; // lines
const MOST = 1000; // lines that the server sends at once
const MOST_NAMED = 50; // documents that are fetched by their ids; from here on, the list
const TYPING = 50; // milliseconds without a key, until a search begins
/** @type {Fetched} */
const NOTHING = { items: [], total: 0, next: null };

export class ListedDocuments {
  /** @type {string | null} */
  project = null;
  /** @type {DocumentLine[] | null} from the newest on, without a gap; null: not known yet */
  lines = null;
  /** @type {DocumentLine | null} the open document's, where it is further down than was fetched */
  apart = null;
  /** @type {readonly DocumentLine[] | null} what is shown: the one apart, then the lines */
  rows = null;
  total = 0;
  query = ''; // that the lines were found by
  wish = ''; // what was typed last
  /** @type {string | null} cursor of the page behind the lines */
  next = null;
  /** @type {string | undefined} id of the open document */
  open = undefined;
  turn = 0; // an answer to what nobody looks for any more is dropped
  loading = 0; // lists on their way, which may lack what changes meanwhile
  /** @type {Set<string>} documents that have changed meanwhile */
  missed = new Set();
  /** @type {string | null} cursor of the page that is being fetched */
  fetching = null;

  /** @param {() => void} changed */
  constructor(changed) {
    this.changed = changed;
  }

  /**
   * The beginning of a project's list, which is not shown yet.
   *
   * @param {string} project
   * @param {string} [query]
   * @param {number} [number] of its lines at least, where there are as many
   * @returns {Promise<Fetched>}
   */
  async first(project, query = '', number = PAGE) {
    let found = NOTHING;
    this.loading++;
    try {
      do {
        const { items, next } = found,
          limit = Math.min(MOST, Math.max(PAGE, number - items.length));
        const page = await getPage(PATH, { project_id: project, q: query || undefined, limit, cursor: next });
        found = { ...page, items: [...items, ...page.items] };
      } while (found.next && found.items.length < number);
    } finally {
      this.loading--;
    }
    return found;
  }

  /**
   * Fetches the list anew, as far as it was fetched before. Another project's begins without a search.
   *
   * @param {string | undefined} project
   */
  async load(project) {
    const turn = ++this.turn,
      here = project === this.project;
    if (!here) this.wish = '';
    const { wish, query, lines } = this;
    const found = project ? await this.first(project, wish, here && wish === query ? lines?.length : 0) : NOTHING;
    if (turn === this.turn) this.show(project ?? null, found, wish);
  }

  /**
   * @param {string | null} project
   * @param {Fetched} found
   * @param {string} [query]
   */
  show(project, { items, total, next }, query = '') {
    this.turn++;
    if (project !== this.project) this.apart = null;
    Object.assign(this, { project, total, next, query, wish: query });
    this.place(items);
    const missed = [...this.missed];
    this.missed.clear();
    this.refresh(missed).catch(() => {});
    this.seek().catch(() => {});
    this.changed();
  }

  /** @param {DocumentLine[]} lines */
  place(lines) {
    const { apart, open } = this;
    const stays = apart?.id === open && !this.query && !lines.some((each) => each.id === open);
    if (!stays) this.apart = null;
    this.lines = lines;
    this.rows = this.apart ? [this.apart, ...lines] : lines;
  }

  /**
   * Shows the documents that have each of these words in their names or printed on them, soon after the last key. The
   * list before stays until then.
   *
   * @param {string} text
   */
  async search(text) {
    this.wish = text.trim();
    const turn = ++this.turn;
    await new Promise((later) => setTimeout(later, TYPING));
    if (turn === this.turn && this.project) await this.load(this.project);
  }

  /** Fetches the page behind the lines. */
  async more() {
    const { project, query, next } = this;
    if (!project || !next || this.fetching === next) return;
    this.fetching = next;
    try {
      const page = await getPage(PATH, { project_id: project, q: query || undefined, limit: PAGE, cursor: next });
      if (next !== this.next || project !== this.project || !this.lines) return; // the list was fetched anew meanwhile
      const known = new Set(this.lines.map(({ id }) => id));
      Object.assign(this, { next: page.next, total: page.total });
      this.place([...this.lines, ...page.items.filter(({ id }) => !known.has(id))]);
      this.changed();
    } finally {
      if (this.fetching === next) this.fetching = null;
    }
  }

  /**
   * Whether a document's line is, or may come to be, among those that were fetched; it is not where the document is
   * further down.
   *
   * @param {string} id
   */
  reaches(id) {
    const last = this.next === null || this.loading ? '' : (this.lines?.at(-1)?.id ?? '');
    return id >= last || id === this.open;
  }

  /**
   * Fetches the lines of some documents, as the server has them now; the others stay as they are. What is further down
   * than was fetched waits until somebody scrolls there.
   *
   * @param {readonly string[]} ids
   */
  async refresh(ids) {
    const { project, query } = this;
    if (!project || !ids.length) return;
    if (ids.length > MOST_NAMED) return this.load(project);
    if (this.loading) for (const id of ids) this.missed.add(id);
    const page = await getPage(PATH, { project_id: project, id: [...ids], q: query || undefined });
    if (project !== this.project || query !== this.query || !this.lines) return;
    const fresh = new Map(page.items.map((line) => [line.id, line])),
      asked = new Set(ids),
      last = this.next === null ? '' : (this.lines.at(-1)?.id ?? '');
    if (this.apart) this.apart = fresh.get(this.apart.id) ?? this.apart;
    const stay = this.lines.flatMap((line) => fresh.get(line.id) ?? (asked.has(line.id) ? [] : [line]));
    for (const { id } of stay) fresh.delete(id);
    const come = [...fresh.values()].filter(({ id }) => id > last);
    const every = [...come, ...stay];
    this.total = page.total;
    this.place(come.length ? every.sort((one, other) => (one.id < other.id ? 1 : -1)) : stay); // newest first
    this.changed();
  }

  /**
   * The open document stands in the list, also where it is further down than was fetched.
   *
   * @param {string | undefined} id
   */
  async hold(id) {
    this.open = id;
    if (this.lines) this.place(this.lines);
    await this.seek();
  }

  async seek() {
    const { project, open } = this;
    if (!project || !open || this.query || !this.next || this.apart) return;
    if (!this.lines || this.lines.some(({ id }) => id === open)) return;
    const { items } = await getPage(PATH, { project_id: project, id: [open] });
    if (open !== this.open || project !== this.project || this.query || !this.lines) return;
    this.apart = items[0] ?? null;
    this.place(this.lines);
    this.changed();
  }
}
