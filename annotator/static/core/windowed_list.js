// A long list of which only the rows in sight are drawn. All rows are of one height: `--g-row` of the list, in pixels.

import { h, keyed } from './dom.js';
import { stepOf } from './list_keys.js';

const AROUND = 8; // rows drawn above and below those in sight: a turn of the wheel shows no gap
const AHEAD = 40; // rows before the last one, from where on further ones are asked for
const UNSEEN = 800; // pixels, for a list that is not laid out yet

/**
 * @template Item
 * @typedef {object} WindowedRows
 * @property {(item: Item) => string} key
 * @property {(item: Item) => HTMLElement} make
 * @property {(row: HTMLElement, item: Item) => void} updateRow
 * @property {() => unknown} more the end comes into sight
 */

/** @template Item */
export class WindowedList {
  /** @type {readonly Item[]} */
  items = [];
  /** @type {Map<string, number>} where each item stands */
  places = new Map();
  total = 0;
  stop = 0;

  /**
   * @param {HTMLElement} list scrolls; its role is listbox
   * @param {WindowedRows<Item>} rows
   */
  constructor(list, rows) {
    this.list = list;
    this.rows = rows;
    this.room = h('div', { class: 'g-window', role: 'presentation' });
    list.append(this.room);
    list.addEventListener('scroll', () => this.draw(), { passive: true });
    list.addEventListener('keydown', (event) => this.walk(event));
    new ResizeObserver(() => this.draw()).observe(list);
  }

  get height() {
    return parseFloat(getComputedStyle(this.list).getPropertyValue('--g-row')) || 60;
  }

  /**
   * @param {readonly Item[]} items
   * @param {number} total number of the rows, also of those that are not fetched yet
   * @param {number} stop where Tab comes in
   */
  show(items, total, stop) {
    if (items !== this.items) this.keepPlace(items);
    Object.assign(this, { total, stop });
    this.draw();
  }

  /**
   * What is in sight stays there when rows come or go above it, but for somebody who looks at the newest.
   *
   * @param {readonly Item[]} items
   */
  keepPlace(items) {
    const { list, height } = this,
      top = this.items[Math.floor(list.scrollTop / height)];
    const before = top && this.places.get(this.rows.key(top));
    this.items = items;
    this.places = new Map(items.map((item, at) => [this.rows.key(item), at]));
    this.room.style.height = `${items.length * height}px`;
    if (!top || before === undefined || !list.scrollTop) return;
    const after = this.places.get(this.rows.key(top));
    if (after === undefined) list.scrollTop = 0;
    else if (after !== before) list.scrollTop += (after - before) * height;
  }

  draw() {
    const { list, items, height } = this,
      shown = list.clientHeight || UNSEEN;
    this.room.style.height = `${items.length * height}px`;
    const first = Math.max(0, Math.floor(list.scrollTop / height) - AROUND),
      end = Math.min(items.length, Math.ceil((list.scrollTop + shown) / height) + AROUND);
    const drawn = new Set(Array.from({ length: Math.max(0, end - first) }, (_, at) => first + at));
    // The focus must not be lost with its row, and Tab must find where it comes in.
    for (const at of [this.focused, this.stop]) if (at >= 0 && at < items.length) drawn.add(at);
    const order = [...drawn].sort((one, other) => one - other);
    keyed(this.room, order, {
      key: (at) => this.rows.key(/** @type {Item} */ (items[at])),
      make: (at) => this.rows.make(/** @type {Item} */ (items[at])),
      updateRow: (row, at) => {
        row.style.top = `${at * height}px`;
        row.ariaSetSize = String(Math.max(this.total, items.length));
        row.ariaPosInSet = String(at + 1);
        row.tabIndex = at === this.stop ? 0 : -1;
        this.rows.updateRow(row, /** @type {Item} */ (items[at]));
      },
    });
    if (items.length < this.total && end + AHEAD > items.length) this.rows.more();
  }

  /** Where the row with the focus stands; -1: it is elsewhere. */
  get focused() {
    const held = document.activeElement;
    if (!(held instanceof HTMLElement) || held.parentElement !== this.room) return -1;
    return this.places.get(held.dataset.key ?? '') ?? -1;
  }

  /**
   * Scrolls no further than needed. Resolves to false where the list cannot be seen.
   *
   * @param {number} at
   */
  reveal(at) {
    const { list, height } = this,
      shown = list.clientHeight;
    if (!shown) return false;
    const top = at * height;
    if (top < list.scrollTop) list.scrollTop = top;
    else if (top + height > list.scrollTop + shown) list.scrollTop = top + height - shown;
    this.draw();
    return true;
  }

  /** @param {number} at */
  focus(at) {
    const item = this.items[at];
    if (item === undefined) return false;
    this.reveal(at);
    const row = [...this.room.children].find(
      (each) => each instanceof HTMLElement && each.dataset.key === this.rows.key(item),
    );
    if (row instanceof HTMLElement) row.focus({ preventScroll: true });
    return row !== undefined;
  }

  /** @param {KeyboardEvent} event */
  walk(event) {
    const step = stepOf(event),
      at = this.focused;
    if (!step || at < 0 || !this.focus(at + step)) return;
    event.preventDefault();
    event.stopPropagation();
  }
}
