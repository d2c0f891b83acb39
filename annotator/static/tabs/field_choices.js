// The choices of a field in its form: each with the other names under which it is printed.

import { h, redraw } from '../core/dom.js';
import { textInput } from './field_inputs.js';
import { button, set } from './people_parts.js';

/** @import { FieldDefinition } from '../types' */

/** @typedef {FieldDefinition['choices'][number]} Choice */

const HINT = 'Other printed names, as translations and abbreviations, are separated by semicolons.';

export class ChoicesPart {
  /** @param {(choices: Choice[]) => unknown} change */
  constructor(change) {
    this.change = change;
    /** @type {readonly Choice[]} */
    this.choices = [];
    this.turn = 0; // a choice was taken out: the rows are drawn anew
    this.list = h('div', { class: 'g-choice-rows' });
    this.wrong = h('p', { class: 'g-problem', role: 'status', hidden: true });
    this.root = h(
      'fieldset',
      { class: 'g-group' },
      h('legend', {}, 'Choices'),
      h('p', { class: 'g-hint' }, HINT),
      this.list,
      h(
        'div',
        { class: 'g-line' },
        button('Add choice', () => this.add()),
      ),
      this.wrong,
    );
  }

  /**
   * @param {readonly Choice[]} choices
   * @param {string} problem
   */
  render(choices, problem) {
    this.choices = choices;
    redraw(this.list, [choices.length, this.turn], () => choices.map((choice, at) => this.row(choice, at)));
    set(this.wrong, problem);
  }

  add() {
    this.change([...this.choices, { value: '', names: [] }]);
    const inputs = this.list.querySelectorAll('input');
    inputs[inputs.length - 2]?.focus();
  }

  /**
   * @param {number} at
   * @param {Partial<Choice>} part
   */
  put(at, part) {
    this.change(this.choices.map((each, place) => (place === at ? { ...each, ...part } : each)));
  }

  /**
   * @param {Choice} choice
   * @param {number} at
   */
  row({ value, names }, at) {
    const number = at + 1;
    const remove = button('Remove', () => {
      this.turn++;
      this.change(this.choices.filter((_, place) => place !== at));
    });
    remove.setAttribute('aria-label', `Remove choice ${number}`);
    return h(
      'div',
      { class: 'g-choice-row' },
      textInput(value, (text) => this.put(at, { value: text }), {
        'aria-label': `Choice ${number}`,
        placeholder: 'Choice',
        dir: 'auto',
        maxlength: '200',
      }),
      textInput(names.join('; '), (text) => this.put(at, { names: namesOf(text) }), {
        'aria-label': `Other names of choice ${number}`,
        placeholder: 'Other names; separated so',
        dir: 'auto',
      }),
      remove,
    );
  }
}

/** @param {string} text */
const namesOf = (text) =>
  text
    .split(';')
    .map((name) => name.trim())
    .filter(Boolean);
