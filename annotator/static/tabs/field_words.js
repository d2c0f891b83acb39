// Fields in words: types, rules, and what differs between two versions.

import { count } from '../core/text.js';

/** @import { FieldDefinition } from '../types' */
/** @import { Rule } from './field_draft.js' */

/** @typedef {FieldDefinition['type']} FieldType */

/**
 * Types in the order in which they are offered: title, and what a value of the type is.
 *
 * @type {Partial<Record<FieldType, [title: string, about: string]>>}
 */
export const TYPES = {
  string: ['Text', 'Text in one line, as it is printed: Miller & Sons.'],
  number: ['Number', 'A number with or without decimals: 1250.5.'],
  integer: ['Whole number', 'A number without decimals: 12.'],
  currency: ['Amount of money', 'An amount with its currency: 1250.00 EUR.'],
  date: ['Date', 'A day in the calendar: 2026-04-03.'],
  time: ['Time', 'A time of day: 14:30:00.'],
  boolean: ['Tick box', 'Ticked or not ticked: yes or no.'],
  choice: ['Choice', 'One of a list that you write below.'],
  phone: ['Phone number', 'A phone number with its country code: +49 30 12345678.'],
  country: ['Country', 'A country, as its code of two letters: DE.'],
  address: ['Address', 'An address with its lines, as it is printed.'],
  table: ['Table', 'Rows of cells, as the lines of an invoice. Its columns stand below.'],
  signature: ['Signature', 'The place of a signature. The mark is the value.'],
  region: ['Region', 'A place on the page, as a stamp or a logo. The mark is the value.'],
};

/** @param {FieldType} type */
export const typeTitle = (type) => TYPES[type]?.[0] ?? type;

const NUMBERS = ['number', 'integer', 'currency'];
/**
 * Kinds of rules, with the types of fields that they fit; null: every type.
 *
 * @type {Record<Rule['rule'], { title: string, types: string[] | null }>}
 */
export const RULES = {
  pattern: { title: 'Pattern of the text', types: null },
  range: { title: 'Lowest and highest value', types: [...NUMBERS, 'date', 'time'] },
  sum: { title: 'Sum of other fields', types: NUMBERS },
  not_before: { title: 'Not before another field', types: ['date', 'time'] },
};
export const RULE_KINDS = /** @type {Rule['rule'][]} */ (Object.keys(RULES));

/**
 * @param {Rule['rule']} kind
 * @param {string} type
 */
export const fits = (kind, type) => RULES[kind].types?.includes(type) ?? true;

/** @param {readonly string[]} names */
const listed = (names) =>
  names.length < 2 ? (names[0] ?? '') : `${names.slice(0, -1).join(', ')} and ${names[names.length - 1]}`;

/**
 * A rule as a sentence without its full stop: "is not before invoice_date".
 *
 * @param {Rule} rule
 */
export function ruleWords(rule) {
  if (rule.rule === 'pattern') return `fits the pattern ${rule.pattern}`;
  if (rule.rule === 'not_before') return `is not before ${rule.field}`;
  if (rule.rule === 'sum') return `is the sum of ${listed(rule.of)}, up to ${rule.tolerance}`;
  const { least, most } = rule;
  if (least && most) return `is from ${least} to ${most}`;
  return least ? `is at least ${least}` : `is at most ${most}`;
}

/**
 * What stands beside the name of a field in the list: type, several, required, number of rules.
 *
 * @param {FieldDefinition} field
 */
export const marksOf = ({ type, several, required, rules, issuer, columns }) => [
  typeTitle(type),
  ...(type === 'table' ? [count(columns.length, 'column')] : []),
  ...(issuer ? ['issuer'] : []),
  ...(several ? ['several values'] : []),
  ...(required ? ['required'] : []),
  ...(rules.length ? [count(rules.length, 'rule')] : []),
];

/** @param {unknown} value */
const yesNo = (value) => (value ? 'yes' : 'no');
/** @param {FieldDefinition['choices']} choices */
const choiceWords = (choices) =>
  choices.map(({ value, names }) => (names.length ? `${value} (${names.join(', ')})` : value)).join(', ');

/** @param {FieldDefinition['columns'][number]} column */
const columnWords = ({ question, name, type, required, choices, rules }) =>
  [
    `${question} (${name}): ${typeTitle(type)}`,
    required ? 'required' : '',
    choices.length ? choiceWords(choices) : '',
    ...rules.map(ruleWords),
  ]
    .filter(Boolean)
    .join(', ');

/** @type {[title: string, words: (field: FieldDefinition) => string][]} */
const WORDED = [
  ['Name', ({ name }) => name],
  ['Question', ({ question }) => question],
  ['Type', ({ type }) => typeTitle(type)],
  ['Several values', ({ several }) => yesNo(several)],
  ['Required', ({ required }) => yesNo(required)],
  ['Issuer', ({ issuer }) => yesNo(issuer)],
  ['Guideline', ({ guideline }) => guideline],
  ['Examples', ({ examples }) => examples.join(', ')],
  ['Choices', ({ choices }) => choiceWords(choices)],
  ['Columns', ({ columns }) => columns.map(columnWords).join('; ')],
  ['Currency', ({ currency }) => currency ?? ''],
  ['Country', ({ country }) => country ?? ''],
  ['Rules', ({ rules }) => rules.map(ruleWords).join('; ')],
  ['Confidence', ({ confidence }) => (confidence === null ? '' : String(confidence))],
];

/**
 * What differs between two versions of a field, part by part.
 *
 * @param {FieldDefinition | null} before null: there was none
 * @param {FieldDefinition} after
 * @returns {{ part: string, from: string, to: string }[]}
 */
export function differences(before, after) {
  return WORDED.flatMap(([part, words]) => {
    const [from, to] = [before ? words(before) : '', words(after)];
    return from === to || (!before && to === 'no') ? [] : [{ part, from, to }];
  });
}
