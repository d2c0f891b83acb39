// The field in which a word is written anew, right below its ink, and the bar for several chosen words.

import { h, replace } from '../core/dom.js';
import { count } from '../core/text.js';
import { icon } from '../core/icons.js';
import { hint, keymap } from '../core/keyboard.js';
import { cutBoxes } from './word_split.js';
import { hull, tidy } from './words.js';

const GAP = 6; // screen pixels between a word and its field

export class WordEditor {
  // say(text): for screen readers; tell(sentence): for everybody
  constructor(room, stage, mender, { say, tell }) {
    Object.assign(this, { stage, mender, say, tell });
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
    this.open = null; // { number, box, text }; a new word has no number
  }

  // A word that stands on the page, or the box of one that is to come.
  write({ number = null, box = null }) {
    const { grid } = this.stage,
      at = grid.position.get(number);
    this.open = { number, box: box ?? grid.boxes[at], text: number === null ? '' : grid.texts[at] };
    this.stage.chosen = new Set(number === null ? [] : [number]);
    this.stage.rubber = number === null ? box : null;
    this.stage.reveal(this.open.box);
    this.field.value = this.open.text;
    this.render();
    this.grow();
    this.field.focus({ preventScroll: true });
    this.field.select();
  }

  choose(numbers) {
    this.close();
    this.stage.chosen = new Set(numbers);
    this.render();
    this.stage.draw();
    if (numbers.length) this.say(`${count(numbers.length, 'word')} selected`);
  }

  close() {
    if (this.open?.number === null) this.stage.rubber = null;
    this.open = null;
    if (this.root.contains(document.activeElement)) this.stage.canvas.focus({ preventScroll: true });
    this.render();
    this.stage.draw();
  }

  // --- what it does

  // Whether the field may close: its text is stored, or there was nothing to store.
  save() {
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
      if (wanted !== text) this.mender.change([{ op: 'text', number, text: wanted }]);
      this.follow(number, wanted);
    }
    return true;
  }

  split() {
    const { number, box } = this.open ?? {},
      caret = this.field.selectionStart;
    const texts = [this.field.value.slice(0, caret), this.field.value.slice(caret)].map(tidy);
    if (number === undefined || number === null || !texts[0] || !texts[1])
      return this.tell('Place the cursor between two letters of a word, then split.');
    if (Math.max(box[2] - box[0], box[3] - box[1]) < 2) return this.tell('This word is too narrow to split.');
    const boxes = cutBoxes(this.stage.image, box, this.field.value, caret);
    this.close();
    const created = this.mender.change([
      { op: 'split', number, parts: texts.map((text, at) => ({ text, box: boxes[at] })) },
    ]);
    if (created) this.choose(created);
    this.follow(created?.[0], `Split into ${texts.join(' and ')}`);
  }

  merge(numbers = [...this.stage.chosen]) {
    const { grid } = this.stage;
    if (numbers.length < 2) return this.tell('Select the words to merge first: drag over them, or Shift and click.');
    const ordered = numbers.sort((left, right) => grid.position.get(left) - grid.position.get(right));
    this.close();
    const created = this.mender.change([{ op: 'merge', numbers: ordered }]);
    if (created) this.write({ number: created[0] });
  }

  join() {
    const { grid } = this.stage,
      { number } = this.open,
      at = grid.position.get(number);
    const next = grid.numbers[at + 1];
    if (next === undefined || grid.lines[at + 1] !== grid.lines[at]) return this.tell('No word follows in this line.');
    if (this.save()) this.merge([number, next]);
  }

  remove() {
    const { grid, chosen, cursor } = this.stage;
    const numbers = this.open
      ? [this.open.number]
      : chosen.size
        ? [...chosen]
        : cursor?.word !== undefined
          ? [grid.numbers[cursor.word]]
          : [];
    this.close();
    this.stage.chosen = new Set();
    const known = numbers.filter((number) => number !== null);
    if (known.length && this.mender.change(known.map((number) => ({ op: 'remove', number }))))
      this.say(`${count(known.length, 'word')} deleted`);
    this.render();
  }

  // The keyboard goes on from a word, and a screen reader hears what became of it.
  follow(number, text) {
    const word = this.stage.grid.position.get(number);
    if (word !== undefined) this.stage.cursor = { word };
    this.stage.draw();
    this.say(text);
  }

  step(by) {
    const { grid } = this.stage,
      at = grid.position.get(this.open.number) ?? -1;
    const next = grid.numbers[at + by];
    if (this.save() && next !== undefined) this.write({ number: next });
  }

  key(event) {
    if (event.isComposing) return;
    const done = () => {
      event.preventDefault();
      event.stopPropagation();
    };
    if (keymap.is('splitWord', event)) return (done(), this.split());
    if (event.key === 'Enter') return (done(), this.save());
    if (event.key === 'Escape') return (done(), this.close());
    if (event.key === 'Tab' && this.open.number !== null) return (done(), this.step(event.shiftKey ? -1 : 1));
  }

  // --- drawing

  grow() {
    this.field.size = Math.max(8, this.field.value.length + 2);
    this.place();
  }

  render() {
    const { open } = this,
      { chosen, tool } = this.stage;
    const bar = !open && tool === 'mend' && chosen.size > 0;
    this.root.hidden = !open && !bar;
    this.field.hidden = !open;
    if (this.root.hidden) return;
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
            button('check', 'Save', 'Save   Enter', () => this.save()),
            open.number !== null &&
              button('split', 'Split', `Split at the cursor   ${hint('splitWord')}`, () => this.split()),
            open.number !== null && button('merge', 'Join next', 'Join with the next word', () => this.join()),
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

  // Below the word, so that one sees its ink while writing; above it where there is no room.
  place() {
    if (this.root.hidden) return;
    const { view, grid, chosen } = this.stage;
    const boxes = this.open ? [this.open.box] : grid.boxesOf([...chosen]);
    if (!boxes.length) return;
    const [x0, y0, x1, y1] = hull(boxes);
    const [left, top] = view.toScreen(x0, y0),
      [right, bottom] = view.toScreen(x1, y1);
    this.field.style.fontSize = `${Math.min(26, Math.max(16, 0.8 * (bottom - top)))}px`;
    const { offsetWidth: width, offsetHeight: height } = this.root;
    const leftwards = getComputedStyle(this.field).direction === 'rtl';
    const x = leftwards ? right + GAP - width : left - GAP,
      y = bottom + GAP + height > view.height ? top - GAP - height : bottom + GAP;
    this.root.style.left = `${Math.round(Math.max(8, Math.min(view.width - width - 8, x)))}px`;
    this.root.style.top = `${Math.round(Math.max(8, Math.min(view.height - height - 8, y)))}px`;
  }
}
