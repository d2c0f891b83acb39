// What a field of the form shows, and what may be accepted with others. Pure.

/** @import { FormField, ValueView } from '../types' */

import { shownValue } from '../core/shown_value.js';
import { count } from '../core/text.js';
import { DECIDED } from './marks.js';

/**
 * @typedef {'waiting' | 'by_hand' | 'rejected' | 'broken' | 'ambiguous' | 'unreadable' | 'unanswered' | 'corrected'
 *   | 'proposed' | 'submitted' | 'accepted' | 'fixed'} FieldState
 */

/**
 * The state of a field: a decision first, then what stands in the way of one.
 *
 * @param {FormField} field
 * @returns {FieldState}
 */
export function fieldState(field) {
  const { status, values } = field;
  if (status === null) return 'waiting';
  if (DECIDED.includes(status)) return /** @type {FieldState} */ (status);
  if (status === 'rejected') return 'rejected';
  if (field.broken.length && (values.length || field.no_answer)) return 'broken';
  if (values.some((each) => each.value === null && each.readings.length)) return 'ambiguous';
  if (values.some((each) => each.value === null)) return 'unreadable';
  if (field.unaided && !values.length) return 'by_hand';
  if (field.no_answer || !values.length) return 'unanswered';
  return field.head > 0 || values.some((each) => each.corrected) ? 'corrected' : 'proposed';
}

/** @param {FormField} field */
export const isDecided = (field) => field.status !== null && DECIDED.includes(field.status);

/**
 * The fields that may be accepted together, and those whose confidence is high enough; what a person has corrected is
 * sure. `bounded`: some bound is known, so that the others are left to a person.
 *
 * @param {readonly FormField[]} fields
 */
export function acceptable(fields) {
  const candidates = fields.filter((field) => !field.broken.length && isReady(fieldState(field)));
  const sure = candidates.filter(
    ({ head, accepted_from: from, confidence }) =>
      head > 0 || (from !== null && confidence !== null && confidence >= from),
  );
  return { candidates, sure, bounded: candidates.some((field) => field.accepted_from !== null) };
}

/** @param {FieldState} state */
const isReady = (state) => state === 'proposed' || state === 'corrected';

/**
 * The values of a field as people read them; those of a table in a few words.
 *
 * @param {FormField} field
 * @param {string | undefined} locale of the project's papers
 */
export function shownValues({ no_answer: none, values, type }, locale) {
  if (none || !values.length) return [];
  const rows = new Set(values.flatMap(({ cell }) => (cell ? [cell.row] : []))).size;
  return rows ? [count(rows, 'row')] : values.map((each) => shownField(each, type, locale));
}

/**
 * Why values cannot be read, a sentence each; of a table, how many cells.
 *
 * @param {FormField} field
 */
export function unreadReasons({ values }) {
  const unread = values.filter((each) => each.value === null && (each.reason || each.readings.length));
  if (!unread.some(({ cell }) => cell)) return unread.map(({ reason }) => reason).filter(Boolean);
  return [
    `${count(unread.length, 'cell')} cannot be read as the type of ${unread.length === 1 ? 'its' : 'their'} column.`,
  ];
}

/**
 * A value as people read it; the printed text where it has none.
 *
 * @param {ValueView} view
 * @param {string} type of the field
 * @param {string | undefined} locale of the project's papers; undefined: the browser's
 */
export function shownField({ value, text }, type, locale) {
  if (value === null || value === '') return text;
  if (type === 'signature' || type === 'region') return text || 'Marked';
  try {
    return shownValue(value, type, locale?.replaceAll('_', '-'));
  } catch {
    return text; // a locale that this browser does not know
  }
}
