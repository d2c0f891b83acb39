// Undo and redo. One history a mask (an annotation on a page), one entry a stroke; no history touches another mask.

const DEPTH = 200; // entries a mask
const MASKS = 20; // those that were used last; who comes back to an older one finds no undo
const RUNS = 4_000_000; // of all masks together: some 30 megabytes

/** @import { Moment } from '../types' */

/** @typedef {{ before: Moment, after: Moment }} Entry */

class MaskHistory {
  /** @type {Entry[]} */
  done = [];

  /** @type {Entry[]} */
  undone = [];
}

/** What was done to the masks that were used last, to be taken back step by step. */
export class Histories {
  /** @type {Map<string, MaskHistory>} */
  masks = new Map();

  /**
   * The history of one mask, which becomes the one used last.
   *
   * @param {string} annotation
   * @param {string} page
   */
  of(annotation, page) {
    const key = `${annotation} ${page}`;
    const history = this.masks.get(key) ?? new MaskHistory();
    this.masks.delete(key);
    this.masks.set(key, history); // the last one used stands last
    for (const old of this.masks.keys()) {
      if (this.masks.size <= MASKS) break;
      this.masks.delete(old);
    }
    return history;
  }

  /**
   * Remembers a stroke; what was undone before it cannot be done again.
   *
   * @param {string} annotation
   * @param {string} page
   * @param {Moment} before plain values that nobody changes later, as is `after`
   * @param {Moment} after
   */
  push(annotation, page, before, after) {
    const history = this.of(annotation, page);
    history.done.push({ before, after });
    if (history.done.length > DEPTH) history.done.shift();
    history.undone = [];
    this.trim();
  }

  /** The oldest steps of what was used longest ago go first; the step just made stays. */
  trim() {
    /** @param {Entry} entry */
    const runs = ({ before, after }) => before.mark.mask.counts.length + after.mark.mask.counts.length;
    const all = [...this.masks.values()];
    let total = all.flatMap(({ done, undone }) => [...done, ...undone]).reduce((sum, entry) => sum + runs(entry), 0);
    for (const history of all) {
      for (const list of [history.undone, history.done]) {
        const kept = history === all.at(-1) ? 1 : 0;
        let gone = 0;
        while (total > RUNS && list.length - gone > kept) total -= runs(list[gone++]);
        list.splice(0, gone);
      }
    }
  }

  /**
   * What to show after the step back, or null when there is none.
   *
   * @param {string} annotation
   * @param {string} page
   */
  undo(annotation, page) {
    const history = this.of(annotation, page);
    const entry = history.done.pop();
    if (!entry) return null;
    history.undone.push(entry);
    return entry.before;
  }

  /**
   * What to show after the step forth again, or null when there is none.
   *
   * @param {string} annotation
   * @param {string} page
   */
  redo(annotation, page) {
    const history = this.of(annotation, page);
    const entry = history.undone.pop();
    if (!entry) return null;
    history.done.push(entry);
    return entry.after;
  }

  /**
   * Whether there is a step back, and one forth again.
   *
   * @param {string} annotation
   * @param {string} page
   */
  can(annotation, page) {
    const history = this.of(annotation, page);
    return { undo: history.done.length > 0, redo: history.undone.length > 0 };
  }

  /**
   * Drops what is remembered of an annotation on its other pages: their steps name values by a place that has changed.
   *
   * @param {string} annotation
   * @param {string} page
   */
  forgetBeside(annotation, page) {
    const stays = `${annotation} ${page}`;
    for (const key of this.masks.keys()) if (key.startsWith(`${annotation} `) && key !== stays) this.masks.delete(key);
  }

  /**
   * Drops what is remembered of an annotation: after a conflict the entries describe masks that are gone.
   *
   * @param {string} annotation
   */
  forget(annotation) {
    for (const key of this.masks.keys()) if (key.startsWith(`${annotation} `)) this.masks.delete(key);
  }
}
