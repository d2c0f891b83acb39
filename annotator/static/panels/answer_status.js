// What a person sees of the status of an answer: a sign and a word.

import { h } from '../core/dom.js';
import { icon } from '../core/icons.js';

/** @type {ReadonlyMap<string, { sign: string, text: string }>} */
const STATUS = new Map([
  ['proposed', { sign: 'spark', text: 'Proposed by the model' }],
  ['draft', { sign: 'pencil', text: 'Draft' }],
  ['submitted', { sign: 'up', text: 'Submitted for review' }],
  ['accepted', { sign: 'check', text: 'Accepted' }],
  ['rejected', { sign: 'cross', text: 'Rejected' }],
  ['fixed', { sign: 'check', text: 'Fixed in review' }],
]);

const known = (/** @type {string} */ status) => STATUS.get(status) ?? { sign: 'question', text: status };

/**
 * The status in one word.
 *
 * @param {string} status
 */
export const statusWord = (status) => known(status).text.split(' ')[0] ?? '';

/**
 * A draft without a revision is still the model's alone.
 *
 * @param {{ status: string, head: number, pending?: boolean }} answer pending: edits of it are not saved yet
 */
export const shownStatus = ({ status, head, pending }) =>
  status === 'draft' && head === 0 && !pending ? 'proposed' : status;

/** @param {string} status */
export function statusBadge(status) {
  const { sign, text } = known(status);
  return h('span', { class: 'g-status', dataset: { status }, title: text }, icon(sign, 12), statusWord(status));
}
