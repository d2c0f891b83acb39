// What is wrong with the fields of a draft, at which part: found here, or by the server.

import { namesIn } from './field_draft.js';
import { fits, RULES, typeTitle } from './field_words.js';

/** @import { DraftField } from './field_draft.js' */

/** @typedef {{ key: string, part: string, sentence: string }} Problem `part`: of the definition; rules.0 for a rule */

const NAME = /^[a-z][a-z0-9_]{0,59}$/;
const MOST_COLUMNS = 40;
const NAMED = 'Use small letters, digits and _, beginning with a letter; 60 at most.';

/**
 * What can be said without the server.
 *
 * @param {readonly DraftField[]} fields
 * @returns {Problem[]}
 */
export const findProblems = (fields) => fields.flatMap((field) => problemsOf(field, fields));

/**
 * @param {DraftField} field
 * @param {readonly DraftField[]} fields
 * @returns {Problem[]}
 */
function problemsOf(field, fields) {
  /** @type {Problem[]} */
  const problems = [];
  /** @type {(part: string, sentence: string | false) => void} */
  const add = (part, sentence) => void (sentence && problems.push({ key: field.key, part, sentence }));
  const others = fields.filter((each) => each !== field),
    values = field.choices.map(({ value }) => value);
  const question = field.question.trim().split(/\s+/).join(' ');
  add('question', !question && 'Write the question that is asked of each document.');
  add(
    'question',
    question !== '' && others.some((each) => each.question === field.question) && 'Another field asks this question.',
  );
  if (question || field.name) add('name', !NAME.test(field.name) && NAMED);
  add('name', field.name !== '' && others.some(({ name }) => name === field.name) && 'Another field has this name.');
  add('issuer', field.issuer && field.type !== 'string' && 'Only a field of type Text names the issuer.');
  add('issuer', field.issuer && others.some(({ issuer }) => issuer) && 'Another field names the issuer.');
  add('choices', field.type === 'choice' && !values.length && 'Write at least one choice.');
  add('choices', new Set(values).size < values.length && 'A choice is listed twice; remove one.');
  if (field.type === 'table') addColumns(field, add);
  add('currency', field.currency !== null && !/^[A-Z]{3}$/.test(field.currency) && 'Three letters, as EUR.');
  add('country', field.country !== null && !/^[A-Z]{2}$/.test(field.country) && 'Two letters, as DE.');
  const { confidence } = field;
  add('confidence', confidence !== null && !(confidence > 0 && confidence <= 1) && 'More than 0, and 100 at most.');
  field.rules.forEach((rule, at) => {
    const part = `rules.${at}`;
    if (!fits(rule.rule, field.type)) {
      return add(part, `“${RULES[rule.rule].title}” does not fit the type ${typeTitle(field.type)}. Remove it.`);
    }
    add(part, rule.rule === 'pattern' && !rule.pattern && 'Write the pattern.');
    add(part, rule.rule === 'range' && !rule.least && !rule.most && 'Write the lowest value, the highest, or both.');
    if (rule.rule === 'range') add(part, problemOfRange(rule, field.type));
    add(part, rule.rule === 'sum' && !rule.of.length && 'Choose the fields that are added.');
    add(part, rule.rule === 'not_before' && !rule.field && 'Choose the other field.');
    for (const name of namesIn(rule).filter(Boolean)) {
      add(part, name === field.name && 'A rule cannot name its own field.');
      const known = fields.some(
        (each) => each.name === name || each.columns.some((column) => `${each.name}.${column.name}` === name),
      );
      add(part, !known && `The list has no field ${name} any more.`);
    }
  });
  return problems;
}

/**
 * @param {DraftField} field
 * @param {(part: string, sentence: string | false) => void} add
 */
function addColumns({ columns }, add) {
  add('columns', !columns.length && 'Add at least one column.');
  add('columns', columns.length > MOST_COLUMNS && `${MOST_COLUMNS} columns at most; remove some.`);
  columns.forEach((column, at) => {
    const part = `columns.${at}`,
      values = column.choices.map(({ value }) => value);
    add(part, !column.question.trim() && 'Write the heading of the column.');
    if (column.question.trim() || column.name) add(part, !NAME.test(column.name) && `The key: ${NAMED}`);
    const twice = columns.some((other, place) => place !== at && other.name === column.name);
    add(part, column.name !== '' && twice && 'Another column has this key.');
    add(part, column.type === 'choice' && !values.length && 'Write at least one choice.');
    add(part, new Set(values).size < values.length && 'A choice is listed twice; remove one.');
    for (const rule of column.rules) {
      const wrong = !fits(rule.rule, column.type) && `“${RULES[rule.rule].title}” does not fit this type.`;
      add(part, wrong);
      const lost = namesIn(rule).find((name) => !columns.some((other) => other.name === name));
      add(part, lost !== undefined && `A rule of this column names ${lost}, which is no column any more.`);
    }
  });
}

/** @type {Record<string, [RegExp, string]>} */
const ENDS = {
  date: [/^\d{4}-\d\d-\d\d$/, 'Write a day as 2026-04-03.'],
  time: [/^\d\d:\d\d:\d\d/, 'Write a time as 14:30:00.'],
};
/** @type {[RegExp, string]} */
const NUMBER = [/^-?\d+(\.\d+)?$/, 'Write a number with a point, as 1250.5.'];

/**
 * @param {{ least: string | null, most: string | null }} range
 * @param {string} type
 */
function problemOfRange({ least, most }, type) {
  const [form, sentence] = ENDS[type] ?? NUMBER;
  if ([least, most].some((end) => end && !form.test(end))) return sentence;
  const above = least && most && (type in ENDS ? least > most : Number(least) > Number(most));
  return above ? 'The lowest value is above the highest.' : false;
}

/** @type {[RegExp, (match: RegExpMatchArray) => string][]} */
const SENTENCES = [
  [/at most (\d+) characters/, ([, number]) => `Too long: ${number} characters at most.`],
  [/at least (\d+) items?/, ([, number]) => `At least ${number} needed.`],
  [/at most (\d+) items?/, ([, number]) => `Too many: ${number} at most.`],
  [/at least (\d+) characters?/, () => 'It is empty; write or remove it.'],
  [/greater than (?:or equal to )?([\d.]+)/, ([, number]) => `Too small: more than ${number}.`],
  [/less than or equal to ([\d.]+)/, ([, number]) => `Too large: ${number} at most.`],
  [/^(?:Value error, )?(.+?)\.?$/s, ([, said]) => `${said[0].toUpperCase()}${said.slice(1)}.`],
];

/** @param {string} what as the server's checks say it */
function plain(what) {
  for (const [pattern, words] of SENTENCES) {
    const match = what.match(pattern);
    if (match) return words(match);
  }
  return what;
}

/**
 * What the server has refused, at the parts of the fields that were sent; empty where it names none.
 *
 * @param {unknown} body of the answer: `errors` with the place of each
 * @param {readonly DraftField[]} fields as they were sent
 * @returns {Problem[]}
 */
export function problemsFrom(body, fields) {
  const errors = typeof body === 'object' && body && 'errors' in body && Array.isArray(body.errors) ? body.errors : [];
  return errors.flatMap(({ where, what }) => {
    const [, list, at, part, rule] = /** @type {string[]} */ (where);
    const field = list === 'fields' ? fields[Number(at)] : undefined;
    if (!field) return [];
    // The conditions on a whole field are about its choices, or about a rule that does not fit its type.
    const whole = /choice/.test(what) ? 'choices' : /column/.test(what) ? 'columns' : 'type';
    const place = (part === 'rules' || part === 'columns') && rule !== undefined ? `${part}.${rule}` : (part ?? whole);
    return [{ key: field.key, part: place, sentence: part === 'name' ? NAMED : plain(what) }];
  });
}
