// Pages that somebody turns below the tables of a tab (annotator/gradio/table_pages.py). A turn is kept here until a
// refresh asks for it: kept with what the server sends, it would be lost to the answer that is on its way.

import { same } from '../core/values.js';

/**
 * The place of a table in its list, as the server sends it.
 *
 * @typedef {object} Place
 * @property {string} table name of the table
 * @property {string[]} trail cursors of the pages up to the one that is shown
 * @property {string | null} next cursor of the page behind
 *
 * @typedef {'next' | 'previous'} Step
 *
 * A turn of the list with these choices; `asked`: a refresh has taken it along, and is not back yet.
 * @typedef {{ step: Step, list: object, asked: boolean }} Turn
 */

/**
 * What a table is a list of: its project, search and order.
 *
 * @param {Place} place
 */
const listOf = ({ trail: _trail, next: _next, ...list }) => list;

/**
 * @param {unknown} value
 * @returns {value is Place}
 */
const isPlace = (value) => value !== null && typeof value === 'object' && 'table' in value && 'trail' in value;

/** The turns of the tables of one tab. */
export class TableTurns {
  constructor() {
    /** @type {Map<string, Turn>} by table */
    this.turns = new Map();
  }

  /**
   * Somebody turns a page. A second click on the same button before the page has come is the same turn; one on the
   * other button, before a refresh has taken the turn along, takes it back.
   *
   * @param {Step} step
   * @param {unknown} place of the table, as it is shown
   * @returns {boolean} whether a refresh is to be asked for
   */
  turn(step, place) {
    if (!isPlace(place)) return false;
    const list = listOf(place),
      pending = this.turns.get(place.table);
    if (pending && same(pending.list, list)) {
      if (pending.step === step) return false;
      if (!pending.asked) return !this.turns.delete(place.table);
    }
    this.turns.set(place.table, { step, list, asked: false });
    return true;
  }

  /**
   * The inputs of a refresh that is sent now: places with their turns made.
   *
   * @param {unknown[]} inputs
   */
  take(inputs) {
    return inputs.map((value) => (isPlace(value) ? this.make(value) : value));
  }

  /**
   * @param {Place} place
   * @returns {Place}
   */
  make(place) {
    const turn = this.turns.get(place.table);
    if (!turn) return place;
    turn.asked = true;
    if (!same(turn.list, listOf(place))) return place; // another search, order or project by now
    if (turn.step === 'previous') return { ...place, trail: place.trail.slice(0, -1) };
    return place.next === null ? place : { ...place, trail: [...place.trail, place.next] };
  }

  /** The refresh is back, with or without its content. */
  end() {
    for (const [table, { asked }] of this.turns) if (asked) this.turns.delete(table);
  }
}
