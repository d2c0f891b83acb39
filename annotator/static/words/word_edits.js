// Mending words: every change shows at once, waits in the queue for the server, and can be undone, page by page.

import { same } from '../core/values.js';
import { mended, renumbered } from './words.js';

const DEPTH = 200;

export const wordsKey = (page) => `words:${page}`; // under this name changes of words wait in the queue

// How many new words an edit makes.
const makes = (edit) => ({ split: edit.parts?.length, merge: 1, add: 1 })[edit.op] ?? 0;

export class Mender {
  // place: { document, page }; hear: { changed(page), renumber(page, map), tell(sentence) }
  constructor({ pages, queue, place, hear }) {
    Object.assign(this, { pages, queue, place, hear });
    this.histories = new Map(); // page -> { done, undone }: lists of edits that lead back, and forth again
  }

  get words() {
    return this.pages.read.get(this.place.page?.id);
  }

  history(page = this.place.page?.id) {
    if (!this.histories.has(page)) this.histories.set(page, { done: [], undone: [] });
    return this.histories.get(page);
  }

  can() {
    const { done, undone } = this.history();
    return { undo: done.length > 0, redo: undone.length > 0 };
  }

  // Returns the numbers of the new words, or null where the change cannot be made.
  change(edits) {
    const inverse = this.apply(edits);
    if (!inverse) return null;
    const history = this.history();
    history.done.push(inverse);
    if (history.done.length > DEPTH) history.done.shift();
    history.undone = [];
    return this.created;
  }

  step(back) {
    const history = this.history(),
      edits = (back ? history.done : history.undone).pop();
    const inverse = edits && this.apply(edits);
    if (inverse) (back ? history.undone : history.done).push(inverse);
  }

  // Applies edits here, hands them to the queue, and returns the edits that lead back.
  apply(edits) {
    const { words } = this,
      { page, document } = this.place;
    if (!words || !page) return null;
    let result;
    try {
      result = mended(words, edits);
    } catch (error) {
      this.hear.tell(error.message);
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
    this.hear.changed(page.id);
    return result.inverse;
  }

  // --- with the server

  // The server's words of a page with what waits here on top, where that builds on them.
  waiting(page, words) {
    const items = this.queue.of(wordsKey(page));
    if (!items.length || items[0].base !== words.version) return words;
    try {
      const sum = items.reduce((before, item) => mended(before, item.edits).words, words);
      this.queue.adopt(wordsKey(page));
      return sum;
    } catch {
      return words; // they do not fit any more; the server will say so
    }
  }

  saved(item, { saved_version: _version, saved_at: _at, revision: _revision, ...words }) {
    if (this.queue.of(item.annotation).length) return;
    if (!same(words, this.pages.read.get(item.page))) this.show(item.page, words);
    this.pages.warm(item.page);
  }

  show(page, words) {
    this.pages.put(page, words);
    this.hear.changed(page);
  }

  // Mine go on top of what somebody else has saved, as far as their words still stand. Returns how many could not.
  keepMine(page, current) {
    const items = this.queue.of(wordsKey(page)),
      numbers = new Map(),
      edits = [],
      created = [];
    let words = current,
      lost = 0;
    for (const item of items) {
      let from = 0;
      for (const edit of item.edits) {
        const old = item.created.slice(from, (from += makes(edit)));
        let result = null;
        try {
          const moved = renumbered(edit, (number) => (numbers.has(number) ? numbers.get(number) : number));
          result = moved && { moved, ...mended(words, [moved]) };
        } catch {
          result = null;
        }
        old.forEach((number, at) => numbers.set(number, result ? result.created[at] : null));
        if (!result) lost++;
        else {
          words = result.words;
          edits.push(result.moved);
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

  takeTheirs(page, current) {
    const numbers = new Map(
      this.queue.of(wordsKey(page)).flatMap((item) => item.created.map((number) => [number, null])),
    );
    this.queue.discard(wordsKey(page));
    this.settle(page, current, numbers);
  }

  // Marks that wait, and the one on the screen, must not name words that never came to be.
  settle(page, words, numbers) {
    this.histories.delete(page);
    const map = (number) => (numbers.has(number) ? numbers.get(number) : number);
    this.queue.renumber(page, map);
    this.hear.renumber(page, map);
    this.show(page, words);
    this.queue.flush(); // marks of this page have waited for the decision
  }
}
