// The rules of a field in its form: what a value must keep, in words, with the inputs that it needs.

import { h, redraw } from '../core/dom.js';
import { labelled, selectInput, textInput, tickBox } from './field_inputs.js';
import { fits, RULE_KINDS, RULES } from './field_words.js';
import { button, set } from './people_parts.js';

/** @import { FieldDefinition } from '../types' */
/** @import { Rule } from './field_draft.js' */

/**
 * Another field of the list.
 *
 * @typedef {{ name: string, type: string, columns?: readonly { name: string, type: string }[] }} Other
 */

/** @type {Record<Rule['rule'], Rule>} */
const FRESH = {
  pattern: { rule: 'pattern', pattern: '' },
  range: { rule: 'range', least: null, most: null },
  sum: { rule: 'sum', of: [], tolerance: 0.005 },
  not_before: { rule: 'not_before', field: '' },
};
/** @type {Record<string, [type: string, hint: string]>} input and hint of an end of a range, by type of field */
const ENDS = {
  date: ['date', ''],
  time: ['time', ''],
};
const NUMBER = /** @type {[string, string]} */ (['text', 'As a number with a point: 1250.5.']);

export class RulesPart {
  /** @param {(rules: Rule[]) => unknown} change */
  constructor(change) {
    this.change = change;
    /** @type {FieldDefinition | null} */
    this.field = null;
    this.list = h('div', { class: 'g-rules' });
    this.adding = h('div', { class: 'g-line' });
    /** @type {HTMLElement[]} */
    this.wrong = [];
    this.root = h('fieldset', { class: 'g-group' }, h('legend', {}, 'Rules'), this.list, this.adding);
  }

  /**
   * Draws anew only what has another form: what is being typed stays under the hands.
   *
   * @param {FieldDefinition} field
   * @param {readonly Other[]} others
   * @param {(at: number) => string} problem of a rule
   */
  render(field, others, problem) {
    this.field = field;
    const kinds = field.rules.map(({ rule }) => rule);
    redraw(this.list, [field.type, kinds, others], () => {
      this.wrong = [];
      if (!kinds.length) return h('p', { class: 'g-hint' }, 'No rules. Any value counts.');
      return field.rules.map((rule, at) => this.rule(rule, at, others));
    });
    redraw(this.adding, field.type, () => this.adder(field.type));
    this.wrong.forEach((place, at) => set(place, problem(at)));
  }

  /** @param {string} type */
  adder(type) {
    const offered = RULE_KINDS.filter((kind) => fits(kind, type));
    const kind = selectInput(
      offered.map((each) => [each, RULES[each].title]),
      offered[0],
      () => {},
      { 'aria-label': 'Kind of the rule' },
    );
    const add = () => this.change([...this.rules, FRESH[/** @type {Rule['rule']} */ (kind.value)]]);
    return [kind, button('Add rule', add)];
  }

  get rules() {
    return this.field?.rules ?? [];
  }

  /**
   * @param {number} at
   * @param {Rule} rule
   */
  put(at, rule) {
    this.change(this.rules.map((each, place) => (place === at ? rule : each)));
  }

  /**
   * @param {Rule} rule
   * @param {number} at
   * @param {readonly Other[]} others
   */
  rule(rule, at, others) {
    const wrong = h('p', { class: 'g-problem', role: 'status', hidden: true });
    this.wrong.push(wrong);
    const { title } = RULES[rule.rule];
    const remove = button('Remove rule', () => this.change(this.rules.filter((_, place) => place !== at)));
    remove.setAttribute('aria-label', `Remove rule ${at + 1}: ${title}`);
    return h(
      'div',
      { class: 'g-rule', role: 'group', 'aria-label': `Rule ${at + 1}: ${title}` },
      h('div', { class: 'g-line' }, h('b', {}, title), remove),
      this.inputs(rule, at, others),
      wrong,
    );
  }

  /**
   * @param {Rule} rule
   * @param {number} at
   * @param {readonly Other[]} others
   */
  inputs(rule, at, others) {
    const type = this.field?.type ?? 'string';
    if (rule.rule === 'pattern') {
      const input = textInput(rule.pattern, (pattern) => this.put(at, { rule: 'pattern', pattern }), {
        class: 'g-code',
        spellcheck: 'false',
        placeholder: '[0-9]{4}-[0-9]{4}',
        maxlength: '300',
      });
      const hint = 'A regular expression that the whole value must fit: [0-9] is a digit, {4} repeats it four times.';
      return labelled('The value fits', input, hint).root;
    }
    if (rule.rule === 'range') return this.ends(rule, at, type);
    if (rule.rule === 'not_before') {
      const fitting = others.filter((each) => each.type === type || each.name === rule.field);
      const none = fitting.length ? 'Choose a field' : 'No other field of this type';
      const select = selectInput(
        [['', none], ...fitting.map(({ name }) => /** @type {const} */ ([name, name]))],
        rule.field,
        (field) => this.put(at, { rule: 'not_before', field }),
      );
      return labelled('The value is not before that of', select).root;
    }
    return this.summands(rule, at, others);
  }

  /**
   * @param {Extract<Rule, { rule: 'range' }>} range
   * @param {number} at
   * @param {string} type
   */
  ends(range, at, type) {
    const [input, hint] = ENDS[type] ?? NUMBER;
    /** @param {'least' | 'most'} end */
    const end = (end) =>
      textInput(
        range[end] ?? '',
        (value) => this.putEnd(at, end, type === 'time' && value.length === 5 ? `${value}:00` : value),
        {
          type: input,
          ...(input === 'text' ? { inputmode: 'decimal', maxlength: '40' } : { step: input === 'time' ? '1' : null }),
        },
      );
    return h(
      'div',
      { class: 'g-pair' },
      labelled('Lowest value', end('least'), hint).root,
      labelled('Highest value', end('most'), hint).root,
    );
  }

  /**
   * @param {number} at
   * @param {'least' | 'most'} end
   * @param {string} value
   */
  putEnd(at, end, value) {
    const rule = this.rules[at];
    if (rule?.rule === 'range') this.put(at, { ...rule, [end]: value.trim() || null });
  }

  /**
   * @param {Extract<Rule, { rule: 'sum' }>} sum
   * @param {number} at
   * @param {readonly Other[]} others
   */
  summands(sum, at, others) {
    const columns = others.flatMap((other) =>
      (other.columns ?? []).map((column) => ({ name: `${other.name}.${column.name}`, type: column.type })),
    );
    const fitting = [...others, ...columns].filter(({ name, type }) => fits('sum', type) || sum.of.includes(name));
    /** @param {(rule: Extract<Rule, { rule: 'sum' }>) => Rule} change */
    const put = (change) => {
      const rule = this.rules[at];
      if (rule?.rule === 'sum') this.put(at, change(rule));
    };
    /** @param {string} name */
    const tick = (name) =>
      tickBox(name, sum.of.includes(name), (on) =>
        put((rule) => ({ ...rule, of: on ? [...rule.of, name] : rule.of.filter((each) => each !== name) })),
      );
    const tolerance = textInput(
      String(sum.tolerance),
      (value) => put((rule) => ({ ...rule, tolerance: Number(value.replace(',', '.')) })),
      { inputmode: 'decimal' },
    );
    return [
      h(
        'p',
        { class: 'g-hint' },
        fitting.length ? 'The value is the sum of:' : 'The list has no other number or amount yet.',
      ),
      h(
        'div',
        { class: 'g-ticks' },
        fitting.map(({ name }) => tick(name)),
      ),
      labelled('Up to a difference of', tolerance, 'For rounding: 0.005 allows none in cents.').root,
    ];
  }
}
