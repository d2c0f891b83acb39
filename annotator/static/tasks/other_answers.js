// Other people's answers to the question under review: who says the same, who contradicts, and what a verdict does to
// them.

/** @import { OtherAnswer } from '../types' */

import { h } from '../core/dom.js';

const RELATIONS = { equal: 'Equal', similar: 'Similar', contradicts: 'Contradicts' };
const ACCEPTED = ['accepted', 'fixed'];

/**
 * The accepted answer that contradicts the one under review: both cannot be the label.
 *
 * @param {readonly OtherAnswer[]} others
 */
export const contradicted = (others) =>
  others.find((each) => each.relation === 'contradicts' && ACCEPTED.includes(each.status)) ?? null;

/**
 * Whether another answer is accepted: a fix may come to contradict it, whatever the submitted answer does.
 *
 * @param {readonly OtherAnswer[]} others
 */
export const anyAccepted = (others) => others.some((each) => ACCEPTED.includes(each.status));

/**
 * How many submitted answers are accepted together with this one.
 *
 * @param {readonly OtherAnswer[]} others
 */
const countEqual = (others) => others.filter((each) => each.relation === 'equal' && each.status === 'submitted').length;

/** @param {OtherAnswer} answer */
const words = ({ text, no_answer }) =>
  text
    ? h('span', { class: 'g-other-text', dir: 'auto', translate: 'no', title: text }, text)
    : h('span', { class: 'g-quiet' }, no_answer ? 'Not in this document' : 'A mark without words');

/** @param {OtherAnswer} answer */
const row = (answer) =>
  h(
    'li',
    { dataset: { relation: answer.relation } },
    h('span', { class: 'g-relation' }, RELATIONS[answer.relation]),
    words(answer),
    h(
      'span',
      { class: 'g-quiet' },
      h('span', { translate: 'no' }, answer.author),
      ACCEPTED.includes(answer.status) ? ' · accepted' : ' · submitted',
    ),
  );

/**
 * @param {readonly OtherAnswer[]} others
 * @returns {(HTMLElement | null)[]}
 */
export function renderOthers(others) {
  if (!others.length) return [];
  const equal = countEqual(others),
    against = contradicted(others);
  return [
    h('h4', {}, others.length === 1 ? 'Another answer to this question' : 'Other answers to this question'),
    h('ul', {}, others.map(row)),
    equal
      ? h(
          'p',
          { class: 'g-quiet' },
          `Accept also accepts ${equal === 1 ? 'the equal answer' : `the ${equal} equal answers`}.`,
        )
      : null,
    against
      ? h(
          'p',
          { class: 'g-against' },
          'An accepted answer contradicts this one. Accepting makes this answer the label.',
        )
      : null,
  ];
}
