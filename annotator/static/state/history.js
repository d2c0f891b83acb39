// Undo and redo. One history a mask (an annotation on a page), one entry a stroke; no history touches another mask.
// An entry may hold all parts of an answer: what was done after it, on whatever page, is undone before it, and redone
// after it. So a step back never takes along what it does not give back.

const DEPTH = 200; // entries a mask
const MASKS = 20; // those that were used last; who comes back to an older one finds no undo
const RUNS = 4_000_000; // of all masks together: some 30 megabytes

/** @import { Moment } from '../types' */

/**
 * `turn`: the order in which steps were made; `whole`: whether the moments hold all parts.
 *
 * @typedef {{ before: Moment, after: Moment, turn: number, whole: boolean }} Entry
 */

/** @typedef {{ page: string, to: Moment }} Step what to show, and where it was done */

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
  turn = 0;

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
      const { done } = this.masks.get(old) ?? history;
      this.masks.delete(old);
      this.forgetBefore(old.split(' ')[0], done.at(-1)?.turn ?? 0);
    }
    return history;
  }

  /**
   * The histories of an annotation, by page.
   *
   * @param {string} annotation
   * @returns {[page: string, history: MaskHistory][]}
   */
  pagesOf(annotation) {
    const prefix = `${annotation} `;
    return [...this.masks].filter(([key]) => key.startsWith(prefix)).map(([key, of]) => [key.slice(prefix.length), of]);
  }

  /**
   * A step is not remembered any more: the last one of all parts before it would undo it unseen, and goes with all that
   * came before.
   *
   * @param {string} annotation
   * @param {number} turn
   */
  forgetBefore(annotation, turn) {
    const all = this.pagesOf(annotation).map(([, history]) => history);
    const last = Math.max(
      -1,
      ...all.flatMap(({ done }) => done.filter((e) => e.whole && e.turn <= turn).map((e) => e.turn)),
    );
    for (const history of all) history.done = history.done.filter((entry) => entry.turn > last);
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
    const history = this.of(annotation, page),
      whole = before.parts !== undefined,
      all = this.pagesOf(annotation).map(([, of]) => of);
    // What was undone and holds all parts, or comes after that, would take the new step back.
    const undone = all.flatMap(({ undone }) => undone).filter((entry) => whole || entry.whole);
    const first = Math.min(Infinity, ...undone.map(({ turn }) => turn));
    for (const other of all) other.undone = other.undone.filter(({ turn }) => turn < first);
    history.done.push({ before, after, turn: ++this.turn, whole });
    history.undone = [];
    if (history.done.length > DEPTH) this.forgetBefore(annotation, history.done.shift()?.turn ?? 0);
    this.trim();
  }

  /** The oldest steps of what was used longest ago go first; the step just made stays. */
  trim() {
    /** @param {Entry} entry */
    const runs = ({ before, after }) => before.mark.mask.counts.length + after.mark.mask.counts.length;
    const all = [...this.masks];
    let total = all
      .flatMap(([, { done, undone }]) => [...done, ...undone])
      .reduce((sum, entry) => sum + runs(entry), 0);
    for (const [key, history] of all) {
      for (const name of /** @type {const} */ (['undone', 'done'])) {
        const list = history[name],
          kept = key === all.at(-1)?.[0] ? 1 : 0;
        let gone = 0;
        while (total > RUNS && list.length - gone > kept) total -= runs(list[gone++]);
        const [last] = list.splice(0, gone).slice(-1);
        if (last && name === 'done') this.forgetBefore(key.split(' ')[0], last.turn);
      }
    }
  }

  /**
   * The page whose last step is the next to be undone, or redone: the one that is open, unless a step of all parts lies
   * between.
   *
   * @param {string} annotation
   * @param {string} page
   * @param {'done' | 'undone'} name
   * @returns {string | null}
   */
  next(annotation, page, name) {
    const sign = name === 'done' ? 1 : -1; // the latest is undone first, and the earliest is redone first
    const tops = this.pagesOf(annotation).flatMap(([of, history]) => {
      const top = history[name].at(-1);
      return top ? [{ of, at: sign * top.turn }] : [];
    });
    const histories = this.pagesOf(annotation).map(([, history]) => history);
    const wholes = histories.flatMap((history) => history[name].filter(({ whole }) => whole));
    const barrier = Math.max(-Infinity, ...wholes.map(({ turn }) => sign * turn));
    const here = tops.find(({ of }) => of === page);
    if (here && here.at > barrier) return page;
    // Once there is a step of all parts, the steps of all pages are one line.
    const line = histories.some(({ done, undone }) => [...done, ...undone].some(({ whole }) => whole));
    if (!line || !tops.length) return null;
    return tops.reduce((best, top) => (top.at > best.at ? top : best)).of;
  }

  /**
   * What to show after the step back, or null when there is none.
   *
   * @param {string} annotation
   * @param {string} page the open one; the step may have been made on another
   * @returns {Step | null}
   */
  undo(annotation, page) {
    const where = this.next(annotation, page, 'done');
    if (where === null) return null;
    const history = this.of(annotation, where),
      entry = history.done.pop();
    if (!entry) return null;
    history.undone.push(entry);
    return { page: where, to: entry.before };
  }

  /**
   * What to show after the step forth again, or null when there is none.
   *
   * @param {string} annotation
   * @param {string} page the open one
   * @returns {Step | null}
   */
  redo(annotation, page) {
    const where = this.next(annotation, page, 'undone');
    if (where === null) return null;
    const history = this.of(annotation, where),
      entry = history.undone.pop();
    if (!entry) return null;
    history.done.push(entry);
    return { page: where, to: entry.after };
  }

  /**
   * Whether there is a step back, and one forth again.
   *
   * @param {string} annotation
   * @param {string} page
   */
  can(annotation, page) {
    this.of(annotation, page); // it is in use
    return {
      undo: this.next(annotation, page, 'done') !== null,
      redo: this.next(annotation, page, 'undone') !== null,
    };
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
