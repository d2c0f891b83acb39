// The mark of the page that is open, as pixels and words, while a hand changes it. Nothing here draws or listens.

/** @import { Box, Edit, Mark, PageLine, Words } from '../types' */

import { EMPTY_MARK, EMPTY_PATCH, Raster, union } from './mask.js';
import { WordGrid } from './word_grid.js';

/** @typedef {Pick<PageLine, 'id' | 'width' | 'height'>} Page */

/** A page with its words, the pixels and words that are marked on it, and where these disagree. */
export class MarkedPage {
  /**
   * @param {Page} page
   * @param {Words} words
   * @param {(box: Box) => void} changed hears where the mark has changed, page pixels
   */
  constructor(page, words, changed) {
    this.page = page;
    this.changed = changed;
    this.mask = new Raster(page.width, page.height);
    this.under = new Raster(page.width, page.height); // the boxes of the marked words
    this.grid = new WordGrid(words);
    /** @type {Set<number>} numbers of the marked words */
    this.selected = new Set();
    /** @type {Set<number>} those of them that are not even half painted */
    this.bare = new Set();
    this.mark = EMPTY_MARK;
    this.settled = true; // whether the pixels and words are those of the mark
    /** @type {{ bare: number, loose: number } | null} */
    this.disagreement = null;
  }

  /**
   * Takes the words of the page as they stand now. The mark has to be set again after it.
   *
   * @param {Words} words
   */
  setWordList(words) {
    this.grid = new WordGrid(words);
    this.under.load(EMPTY_PATCH);
    this.selected = new Set();
    this.bare = new Set();
    this.settled = false;
  }

  /**
   * Becomes a mark, whatever stood here.
   *
   * @param {Mark} mark
   */
  set(mark) {
    const { grid, mask, under } = this;
    // As a stroke has left it, but for prompts: those of the mark are others, its pixels and words are not.
    const same = this.settled && mark.mask === this.mark.mask && mark.words === this.mark.words;
    this.mark = mark;
    this.settled = true;
    if (same) return;
    const before = this.selected;
    this.selected = new Set(grid.living(mark.words));
    const gone = grid.boxesOf([...before].filter((number) => !this.selected.has(number))),
      come = grid.boxesOf([...this.selected].filter((number) => !before.has(number)));
    let dirty = mask.load(mark.mask);
    for (const box of gone) under.fillBox(box, 0);
    const orphans = [...this.selected].filter((number) => !grid.position.has(number));
    for (const box of gone) this.eachKept(box, (part) => under.fillBox(part, 1));
    for (const box of [...come, ...grid.boxesOf(orphans)]) under.fillBox(box, 1);
    for (const box of [...gone, ...come]) dirty = union(dirty, box);
    for (const number of before) if (!this.selected.has(number)) this.bare.delete(number);
    // A word that was retired does not stand in the grid.
    this.weigh([...(dirty ? grid.within(dirty).map((at) => grid.numbers[at]) : []), ...orphans]);
    this.disagreement = null;
    if (dirty) this.changed(dirty);
  }

  /** What stands on the page now, as a mark; the prompts are those of the mark that was set. */
  current() {
    const orphans = [...this.selected].filter((number) => !this.grid.position.has(number));
    const words = [...this.grid.numbers.filter((number) => this.selected.has(number)), ...orphans];
    return { ...this.mark, words, mask: this.mask.patch() };
  }

  /** A stroke is done: what stands on the page is the mark from now on. */
  commit() {
    this.mark = this.current();
    this.settled = true;
    return this.mark;
  }

  /**
   * Marks or unmarks words. An unmarked word takes its pixels with it, save those of words that stay.
   *
   * @param {readonly number[]} numbers
   * @param {boolean} on
   */
  setWords(numbers, on) {
    const { mask, under } = this;
    for (const number of numbers) {
      const box = this.grid.boxOf(number);
      if (!box) continue;
      if (on) this.selected.add(number);
      else this.selected.delete(number);
      mask.fillBox(box, on ? 1 : 0);
      under.fillBox(box, on ? 1 : 0);
      if (!on) {
        this.bare.delete(number);
        this.eachKept(box, (part) => {
          mask.fillBox(part, 1);
          under.fillBox(part, 1);
        });
      }
      this.touched(box);
    }
  }

  /**
   * The parts of a box that lie in marked words.
   *
   * @param {Box} box
   * @param {(part: Box) => void} visit
   */
  eachKept([x0, y0, x1, y1], visit) {
    for (const at of this.grid.within([x0, y0, x1, y1])) {
      if (!this.selected.has(this.grid.numbers[at])) continue;
      const [left, top, right, bottom] = this.grid.boxes[at];
      visit([Math.max(x0, left), Math.max(y0, top), Math.min(x1, right), Math.min(y1, bottom)]);
    }
  }

  /**
   * Pixels were painted here.
   *
   * @param {Box} box page pixels
   */
  touched(box) {
    this.settled = false;
    this.disagreement = null;
    this.weigh(this.grid.within(box).map((at) => this.grid.numbers[at]));
    this.changed(box);
  }

  /**
   * Keeps the words that are marked and hardly painted up to date as the hand goes: a dense page has thousands of
   * words.
   *
   * @param {Iterable<number>} numbers of the words that may have changed
   */
  weigh(numbers) {
    for (const number of numbers) {
      const box = this.grid.boxOf(number);
      if (this.selected.has(number) && box && this.mask.covered(box) < 0.5) this.bare.add(number);
      else this.bare.delete(number);
    }
  }

  /**
   * Where words and pixels disagree: how many marked words are hardly painted, and the share of the painted pixels that
   * lie on no marked word, 0..1.
   */
  disagree() {
    if (this.disagreement) return this.disagreement;
    const { mask, under } = this;
    let painted = 0,
      loose = 0;
    for (let y = 0; y < mask.height; y++) {
      const runs = mask.runs(y);
      if (!runs.length) continue;
      for (let at = 0; at < runs.length; at += 2) {
        const [from, to] = [runs[at], runs[at + 1]];
        painted += to - from;
        loose += to - from - under.count(y, from, to);
      }
    }
    this.disagreement = { bare: this.bare.size, loose: painted ? loose / painted : 0 };
    return this.disagreement;
  }

  /**
   * The edits of a stroke, or the whole mark in their place. The server refills words that stay marked and overlap one
   * that is taken out; where somebody has erased inside one of these, that would bring back what was erased. And a mark
   * that names words which were split or merged since is written down with those that stand there now.
   *
   * @param {Edit[]} edits
   * @param {Mark} before what stood here before the stroke
   * @returns {Edit[]}
   */
  exact(edits, before) {
    const [edit] = edits;
    const known = before.words.every((number) => this.grid.position.has(number));
    if (known && (edit.op !== 'words' || this.refillsAll(edit.remove ?? []))) return edits;
    const { words, mask } = this.current();
    return [{ op: 'mask', page: this.page.id, words, mask }];
  }

  /**
   * Whether the marked words that overlap those taken out are painted all over.
   *
   * @param {readonly number[]} removed
   */
  refillsAll(removed) {
    const { grid, mask, selected } = this;
    return grid.boxesOf(removed).every((box) =>
      grid
        .within(box)
        .filter((at) => selected.has(grid.numbers[at]))
        .every((at) => mask.covered(grid.boxes[at]) === 1),
    );
  }
}
