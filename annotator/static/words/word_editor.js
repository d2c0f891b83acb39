// The field in which a word is written anew, right below its ink, and the bar for several chosen words.

/** @import { Box } from '../types' */
/** @import { Stage } from '../canvas/stage.js' */
/** @import { Mender } from './word_edits.js' */

import { h, replace } from '../core/dom.js';
import { count } from '../core/text.js';
import { icon } from '../core/icons.js';
import { hint, keymap } from '../core/keyboard.js';
import { cutBoxes } from './word_split.js';
import { hull, tidy } from './words.js';

const GAP = 6; // screen pixels between a word and its field

const LETTER = 0.8; // size of the letters in the field, of the height of the word on the screen
const LETTERS = [16, 26]; // least and most, screen pixels
const EDGE = 8; // screen pixels between the field and the edge of the stage

/** Writes words anew, one at a time, and does to the chosen ones what is done to several. */
export class WordEditor {
  /**
   * @param {HTMLElement} room where the editor stands
   * @param {Stage} stage
   * @param {Mender} mender
   * @param {object} ports
   * @param {(text: string) => void} ports.say for screen readers
   * @param {(sentence: string) => void} ports.tell for everybody
   * @param {() => void} ports.next goes to the next word of low confidence
   */
  constructor(room, stage, mender, { say, tell, next }) {
    this.stage = stage;
    this.mender = mender;
    this.say = say;
    this.tell = tell;
    this.next = next;
    this.field = h('input', {
      type: 'text',
      class: 'g-mend-field',
      dir: 'auto',
      maxlength: '500',
      autocomplete: 'off',
      autocapitalize: 'off',
      spellcheck: 'false',
      'aria-label': 'Text of the word',
      on: { keydown: (event) => this.key(event), input: () => this.grow() },
    });
    this.row = h('div', { class: 'g-mend-actions' });
    this.root = h(
      'div',
      { class: 'g-mend', role: 'group', 'aria-label': 'Fix words', hidden: true },
      this.field,
      this.row,
    );
    room.append(this.root);
    /** @type {{ number: number | null, box: Box, text: string } | null} what is written; a new word has no number */
    this.open = null;
  }

  /**
   * Opens the field: for a word that stands on the page, or for one that is to come, in its box.
   *
   * @param {{ number?: number, box?: Box }} wanted
   */
  write({ number, box }) {
    const { stage } = this,
      at = number === undefined ? undefined : stage.grid.position.get(number);
    if (number !== undefined && at !== undefined)
      this.open = { number, box: stage.grid.boxes[at], text: stage.grid.texts[at] };
    else if (box) this.open = { number: null, box, text: '' };
    else return;
    stage.chosen = new Set(this.open.number === null ? [] : [this.open.number]);
    stage.rubber = this.open.number === null ? this.open.box : null;
    stage.reveal(this.open.box);
    this.field.value = this.open.text;
    this.render();
    this.grow();
    this.field.focus({ preventScroll: true });
    this.field.select();
  }

  /**
   * Chooses words to merge or delete, in place of those that were chosen.
   *
   * @param {readonly number[]} numbers
   */
  choose(numbers) {
    this.close();
    this.stage.chosen = new Set(numbers);
    this.render();
    this.stage.draw();
    if (numbers.length) this.say(`${count(numbers.length, 'word')} selected`);
  }

  /** Closes the field and gives up what is written in it. */
  close() {
    if (this.open?.number === null) this.stage.rubber = null;
    this.open = null;
    if (this.root.contains(document.activeElement)) this.stage.canvas.focus({ preventScroll: true });
    this.render();
    this.stage.draw();
  }

  // --- what it does

  /**
   * Stores what is written. Returns whether the field may close: its text is stored, or there was nothing to store.
   *
   * @param {boolean} [sure] somebody has read the word: it is doubtful no more, even where its text stays
   */
  save(sure = false) {
    if (!this.open) return true;
    const { number, box, text } = this.open,
      wanted = tidy(this.field.value);
    if (!wanted) {
      if (number === null) return (this.close(), true);
      this.tell('A word needs text. To remove the word, delete it.');
      return false;
    }
    this.close();
    if (number === null) {
      const created = this.mender.change([{ op: 'add', text: wanted, box }]);
      this.follow(created?.[0], `Added ${wanted}`);
    } else {
      const confirmed = sure && this.stage.grid.doubtful.has(number);
      if (wanted !== text || confirmed) this.mender.change([{ op: 'text', number, text: wanted }]);
      this.follow(number, wanted);
    }
    return true;
  }

  /** Splits the word at the cursor. */
  split() {
    const { number = null, box } = this.open ?? {},
      { image } = this.stage,
      caret = this.field.selectionStart ?? 0;
    const texts = [this.field.value.slice(0, caret), this.field.value.slice(caret)].map(tidy);
    if (number === null || !box || !image || !texts[0] || !texts[1])
      return this.tell('Place the cursor between two letters of a word, then split.');
    if (Math.max(box[2] - box[0], box[3] - box[1]) < 2) return this.tell('This word is too narrow to split.');
    const boxes = cutBoxes(image, box, this.field.value, caret);
    this.close();
    const created = this.mender.change([
      { op: 'split', number, parts: texts.map((text, at) => ({ text, box: boxes[at] })) },
    ]);
    if (created) this.choose(created);
    this.follow(created?.[0], `Split into ${texts.join(' and ')}`);
  }

  /**
   * Makes one word of several.
   *
   * @param {number[]} [numbers] of the words; without them, those that are chosen
   */
  merge(numbers = [...this.stage.chosen]) {
    const { position } = this.stage.grid;
    if (numbers.length < 2) return this.tell('Select the words to merge first: drag over them, or Shift and click.');
    /** @param {number} number */
    const place = (number) => position.get(number) ?? 0;
    const ordered = numbers.toSorted((left, right) => place(left) - place(right));
    this.close();
    const created = this.mender.change([{ op: 'merge', numbers: ordered }]);
    if (created) this.write({ number: created[0] });
  }

  /** Makes one word of the open one and the one behind it. */
  join() {
    const { grid } = this.stage,
      number = this.open?.number ?? null,
      at = number === null ? undefined : grid.position.get(number);
    if (number === null || at === undefined || grid.lines[at + 1] !== grid.lines[at])
      return this.tell('No word follows in this line.');
    const next = grid.numbers[at + 1];
    if (this.save()) this.merge([number, next]);
  }

  /** The numbers of the words that are meant: the open one, the chosen ones, or the one under the cursor. */
  get meant() {
    const { grid, chosen, cursor } = this.stage;
    if (this.open) return this.open.number === null ? [] : [this.open.number];
    if (chosen.size) return [...chosen];
    return cursor?.word === undefined ? [] : [grid.numbers[cursor.word]];
  }

  /** Deletes the words that are meant. */
  remove() {
    const known = this.meant;
    this.close();
    this.stage.chosen = new Set();
    if (known.length && this.mender.change(known.map((number) => ({ op: 'remove', number }))))
      this.say(`${count(known.length, 'word')} deleted`);
    this.render();
  }

  /**
   * The keyboard goes on from a word, and a screen reader hears what became of it.
   *
   * @param {number | undefined} number
   * @param {string} text
   */
  follow(number, text) {
    const word = number === undefined ? undefined : this.stage.grid.position.get(number);
    if (word !== undefined) this.stage.cursor = { word };
    this.stage.draw();
    this.say(text);
  }

  /**
   * Stores what is written, and opens another word.
   *
   * @param {number} number of the open word
   * @param {number} by how many words onward
   */
  step(number, by) {
    const { grid } = this.stage,
      next = grid.numbers[(grid.position.get(number) ?? -1) + by];
    if (this.save() && next !== undefined) this.write({ number: next });
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const done = () => {
      event.preventDefault();
      event.stopPropagation();
    };
    if (keymap.is('splitWord', event)) return (done(), this.split());
    if (keymap.is('nextDoubtful', event)) return (done(), this.next());
    if (event.key === 'Enter') return (done(), this.save(true));
    if (event.key === 'Escape') return (done(), this.close());
    const number = this.open?.number ?? null;
    if (event.key === 'Tab' && number !== null) return (done(), this.step(number, event.shiftKey ? -1 : 1));
  }

  // --- drawing

  /** The field is as long as what is written in it. */
  grow() {
    this.field.size = Math.max(8, this.field.value.length + 2);
    this.place();
  }

  /** Shows the field, or the bar for several chosen words, or neither. */
  render() {
    const { open } = this,
      { chosen, tool } = this.stage;
    const { doubtful } = this.stage.grid,
      doubted = open?.number != null && doubtful.has(open.number);
    const bar = !open && tool === 'mend' && chosen.size > 0;
    this.root.hidden = !open && !bar;
    this.field.hidden = !open;
    if (this.root.hidden) return;
    /** @type {(sign: string, label: string, title: string, run: () => unknown) => HTMLElement} */
    const button = (sign, label, title, run) =>
      h(
        'button',
        {
          class: 'g-button g-mend-button',
          type: 'button',
          title,
          'aria-label': title,
          on: { pointerdown: (event) => event.preventDefault(), click: run },
        },
        icon(sign, 16),
        h('span', {}, label),
      );
    replace(
      this.row,
      open
        ? [
            doubted
              ? button('check', 'Confirm', 'The word is right as written here   Enter', () => this.save(true))
              : button('check', 'Save', 'Save   Enter', () => this.save()),
            open.number !== null &&
              button('split', 'Split', `Split at the cursor   ${hint('splitWord')}`, () => this.split()),
            open.number !== null && button('merge', 'Merge next', 'Merge with the next word', () => this.join()),
            open.number !== null && button('clear', 'Delete', 'Delete this word', () => this.remove()),
          ]
        : [
            chosen.size > 1 &&
              button('merge', `Merge ${chosen.size}`, `Merge ${chosen.size} words   ${hint('mergeWords')}`, () =>
                this.merge(),
              ),
            chosen.size === 1 &&
              button('text', 'Edit', 'Edit this word   Enter', () => this.write({ number: [...chosen][0] })),
            button('clear', 'Delete', `Delete ${count(chosen.size, 'word')}   ${hint('clear')}`, () => this.remove()),
          ],
    );
    this.place();
  }

  /** Goes below the word, so that one sees its ink while writing; above it where there is no room. */
  place() {
    if (this.root.hidden) return;
    const { view, grid, chosen } = this.stage;
    const boxes = this.open ? [this.open.box] : grid.boxesOf([...chosen]);
    if (!boxes.length) return;
    const [x0, y0, x1, y1] = hull(boxes);
    const [left, top] = view.toScreen(x0, y0),
      [right, bottom] = view.toScreen(x1, y1);
    this.field.style.fontSize = `${Math.min(LETTERS[1], Math.max(LETTERS[0], LETTER * (bottom - top)))}px`;
    const { offsetWidth: width, offsetHeight: height } = this.root;
    const leftwards = getComputedStyle(this.field).direction === 'rtl';
    const x = leftwards ? right + GAP - width : left - GAP,
      y = bottom + GAP + height > view.height ? top - GAP - height : bottom + GAP;
    this.root.style.left = `${Math.round(Math.max(EDGE, Math.min(view.width - width - EDGE, x)))}px`;
    this.root.style.top = `${Math.round(Math.max(EDGE, Math.min(view.height - height - EDGE, y)))}px`;
  }
}
