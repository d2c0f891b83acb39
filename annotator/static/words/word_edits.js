// Mending words: every change shows at once, waits in the queue for the server, and can be undone, page by page.

/** @import { EditedWords, WordEdit, Words, WordsItem } from '../types' */
/** @import { Pages } from '../state/pages.js' */
/** @import { SaveQueue } from '../sync/save_queue.js' */

import { sentenceOf } from '../core/api.js';
import { same } from '../core/values.js';
import { editWords, renumbered } from './words.js';

const DEPTH = 200; // steps that can be undone

/**
 * The name under which changes of the words of a page wait in the queue.
 *
 * @param {string} page
 */
export const wordsKey = (page) => `words:${page}`;

/**
 * How many new words an edit makes.
 *
 * @param {WordEdit} edit
 */
function makes(edit) {
  if (edit.op === 'split') return edit.parts.length;
  return edit.op === 'merge' || edit.op === 'add' ? 1 : 0;
}

/** @typedef {{ done: WordEdit[][], undone: WordEdit[][] }} History edits that lead back, and forth again */

/**
 * @typedef {object} MenderListener
 * @property {(page: string) => void} changed the words of a page are others now
 * @property {(page: string, map: (number: number) => number | null) => void} renumber words of a page turned out to
 * have
 *   other numbers, or not to be (null)
 * @property {(sentence: string) => void} tell
 */

/** Changes the words of the page that is open. */
export class Mender {
  /**
   * @param {object} parts
   * @param {Pages} parts.pages
   * @param {SaveQueue} parts.queue
   * @param {{ document: { id: string } | null, page: { id: string } | null }} parts.place what is open
   * @param {MenderListener} parts.hear
   */
  constructor({ pages, queue, place, hear }) {
    this.pages = pages;
    this.queue = queue;
    this.place = place;
    this.on = hear;
    /** @type {Map<string, History>} by page */
    this.histories = new Map();
    /** @type {number[]} numbers of the words that the last change made */
    this.created = [];
  }

  /** The words of the page that is open, with all changes. */
  get words() {
    const { page } = this.place;
    return page ? this.pages.read.get(page.id) : undefined;
  }

  /** @returns {History} */
  get history() {
    const page = this.place.page?.id ?? '',
      known = this.histories.get(page);
    if (known) return known;
    /** @type {History} */
    const history = { done: [], undone: [] };
    this.histories.set(page, history);
    return history;
  }

  /** Whether there is a step back, and one forth again. */
  can() {
    const { done, undone } = this.history;
    return { undo: done.length > 0, redo: undone.length > 0 };
  }

  /**
   * Makes a change that can be undone. Returns the numbers of the new words, or null where the change cannot be made.
   *
   * @param {WordEdit[]} edits
   */
  change(edits) {
    const inverse = this.apply(edits);
    if (!inverse) return null;
    const { history } = this;
    history.done.push(inverse);
    if (history.done.length > DEPTH) history.done.shift();
    history.undone = [];
    return this.created;
  }

  /**
   * Undoes the last change of the open page, or does it again.
   *
   * @param {boolean} back
   */
  step(back) {
    const { history } = this,
      edits = (back ? history.done : history.undone).pop();
    const inverse = edits && this.apply(edits);
    if (inverse) (back ? history.undone : history.done).push(inverse);
  }

  /**
   * Applies edits here, hands them to the queue, and returns the edits that lead back.
   *
   * @param {WordEdit[]} edits
   */
  apply(edits) {
    const { words } = this,
      { page, document } = this.place;
    if (!words || !page || !document) return null;
    let result;
    try {
      result = editWords(words, edits);
    } catch (error) {
      this.on.tell(sentenceOf(error));
      return null;
    }
    this.created = result.created;
    this.queue.add(
      {
        kind: 'words',
        annotation: wordsKey(page.id),
        page: page.id,
        document: document.id,
        edits,
        created: result.created,
      },
      words.version,
    );
    this.pages.put(page.id, result.words);
    this.on.changed(page.id);
    return result.inverse;
  }

  // --- with the server

  /** @param {string} page */
  items(page) {
    return this.queue.of(wordsKey(page)).filter((item) => item.kind === 'words');
  }

  /**
   * The server's words of a page with what waits here on top, where that builds on them.
   *
   * @param {string} page
   * @param {Words} words
   */
  waiting(page, words) {
    const items = this.items(page);
    if (!items.length || items[0].base !== words.version) return words;
    try {
      const sum = items.reduce((before, item) => editWords(before, item.edits).words, words);
      this.queue.adopt(wordsKey(page));
      return sum;
    } catch {
      return words; // they do not fit any more; the server will say so
    }
  }

  /**
   * The server has stored a change.
   *
   * @param {WordsItem} item
   * @param {EditedWords & { revision: number }} answer
   */
  saved(item, { saved_version: _version, saved_at: _at, revision: _revision, ...words }) {
    if (this.queue.of(item.annotation).length) return;
    if (!same(words, this.pages.read.get(item.page))) this.show(item.page, words);
    this.pages.warm(item.page);
  }

  /**
   * @param {string} page
   * @param {Words} words
   */
  show(page, words) {
    this.pages.put(page, words);
    this.on.changed(page);
  }

  /**
   * Mine go on top of what somebody else has saved, as far as their words still stand. Returns how many could not.
   *
   * @param {string} page
   * @param {Words} current what somebody else has saved
   */
  keepMine(page, current) {
    const items = this.items(page);
    /** @type {Map<number, number | null>} number that a word had here -> the one that it has now, null for none */
    const numbers = new Map();
    /** @type {WordEdit[]} */
    const edits = [];
    /** @type {number[]} */
    const created = [];
    let words = current,
      lost = 0;
    for (const item of items) {
      let from = 0;
      for (const edit of item.edits) {
        const old = item.created.slice(from, (from += makes(edit)));
        const moved = renumbered(edit, through(numbers)),
          result = moved && onTop(words, moved);
        old.forEach((number, at) => numbers.set(number, result ? result.created[at] : null));
        if (!result) lost++;
        else {
          words = result.words;
          edits.push(moved);
          created.push(...result.created);
        }
      }
    }
    const version = current.version + 1;
    if (!edits.length) this.queue.discard(wordsKey(page));
    else this.queue.add({ ...items[0], edits, created }, current.version, { instead: true });
    this.settle(page, edits.length ? { ...words, version } : current, numbers);
    return lost;
  }

  /**
   * Mine are given up.
   *
   * @param {string} page
   * @param {Words} current what somebody else has saved
   */
  takeTheirs(page, current) {
    /** @type {Map<number, number | null>} */
    const numbers = new Map();
    for (const number of this.items(page).flatMap((item) => item.created)) numbers.set(number, null);
    this.queue.discard(wordsKey(page));
    this.settle(page, current, numbers);
  }

  /**
   * Marks that wait, and the one on the screen, must not name words that never came to be.
   *
   * @param {string} page
   * @param {Words} words
   * @param {Map<number, number | null>} numbers
   */
  settle(page, words, numbers) {
    this.histories.delete(page);
    const map = through(numbers);
    this.queue.renumber(page, map);
    this.on.renumber(page, map);
    this.show(page, words);
    this.queue.flush(); // marks of this page have waited for the decision
  }
}

/**
 * The number that a word has now, null for none.
 *
 * @param {Map<number, number | null>} numbers those that have changed
 * @returns {(number: number) => number | null}
 */
const through = (numbers) => (number) => {
  const now = numbers.get(number);
  return now === undefined ? number : now;
};

/**
 * The words after one more edit; null where it does not fit them any more.
 *
 * @param {Words} words
 * @param {WordEdit} edit
 */
function onTop(words, edit) {
  try {
    return editWords(words, [edit]);
  } catch {
    return null;
  }
}
