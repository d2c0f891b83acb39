// What a cell of the table of answers says: its text, its sign, and its states in words.

import { shownValue } from '../core/shown_value.js';
import { count, percent } from '../core/text.js';

/** @import { CellView, StoredField, TableRow } from '../types' */
/** @import { LatestCell } from './answer_table_latest.js' */

const UNSURE = 0.8; // below it, where a field has no confidence of its own
const MOST_LETTERS = 200; // of a cell; its title has the first thousand
const MOST_IN_TITLE = 1000;

/**
 * `sign`: of core/icons.js. `look`: how much it asks for attention.
 *
 * @typedef {{ sign: string, look: 'bad' | 'doubt' | 'good' | 'quiet', words: string }} CellState
 * @typedef {{ text: string, state: CellState | null, title: string }} CellWords
 */

/** @type {Record<string, CellState>} */
const STATES = {
  unsaved: { sign: 'clock', look: 'quiet', words: 'not saved yet' },
  behind: { sign: 'clock', look: 'quiet', words: 'saved, its rules are being checked' },
  broken: { sign: 'warn', look: 'bad', words: 'rule broken' },
  rejected: { sign: 'cross', look: 'bad', words: 'rejected' },
  ambiguous: { sign: 'question', look: 'doubt', words: 'ambiguous' },
  unreadable: { sign: 'none', look: 'doubt', words: 'unreadable' },
  unsure: { sign: 'help', look: 'doubt', words: 'unsure' },
  fixed: { sign: 'check', look: 'good', words: 'fixed by a reviewer' },
  accepted: { sign: 'check', look: 'good', words: 'accepted' },
  submitted: { sign: 'up', look: 'quiet', words: 'submitted' },
  changed: { sign: 'pencil', look: 'quiet', words: 'corrected' },
  automatic: { sign: 'spark', look: 'quiet', words: 'automatic' },
  proposal: { sign: 'spark', look: 'quiet', words: 'only proposed' },
  draft: { sign: 'clock', look: 'quiet', words: 'draft' },
};

/**
 * All states of a cell; the first one is shown as its sign.
 *
 * @param {LatestCell} cell
 * @param {StoredField} field
 */
export function statesOf(cell, field) {
  const unsure = isUnsure(cell, field);
  const holds = [cell.waits, cell.broken && 'broken', cell.state, unsure && 'unsure', cell.status];
  if (cell.changed) holds.push('changed');
  return Object.entries(STATES).flatMap(([name, state]) => (holds.includes(name) ? [state] : []));
}

/**
 * @param {CellView} cell
 * @param {StoredField} field
 */
function isUnsure({ status, confidence }, field) {
  const byModel = status === 'proposal' || status === 'automatic';
  return byModel && confidence !== null && confidence < (field.confidence ?? UNSURE);
}

/**
 * What a cell says; null stands for one that is not derived yet.
 *
 * @param {LatestCell | null | undefined} cell
 * @param {StoredField} field
 * @param {readonly { field: string, sentence: string }[]} rules broken rules of the row
 * @param {string} [locale] of the reader; undefined: the browser's
 * @returns {CellWords}
 */
export function wordsOf(cell, field, rules, locale) {
  if (!cell || cell.state === 'empty') return emptyWords(cell, field, rules);
  const states = statesOf(cell, field);
  const text = cell.state === 'absent' ? '—' : textOf(cell, field, locale);
  const sure = cell.confidence === null ? '' : `confidence ${percent(cell.confidence)}`;
  const printed = cell.printed && cell.printed !== text ? `Printed: ${cell.printed}` : '';
  const lines = [
    cell.state === 'absent' ? 'Not in the document' : text,
    [...states.map(({ words }) => words), sure].filter(Boolean).join(', '),
    printed,
    ...sentencesOf(field, rules),
  ];
  return { text: text.slice(0, MOST_LETTERS), state: states[0] ?? null, title: joined(lines) };
}

/**
 * @param {LatestCell | null | undefined} cell
 * @param {StoredField} field
 * @param {readonly { field: string, sentence: string }[]} rules
 */
function emptyWords(cell, field, rules) {
  const sentences = sentencesOf(field, rules); // as of a value that is required
  const state = cell?.waits ? STATES[cell.waits] : sentences.length || cell?.broken ? STATES.broken : null;
  return { text: '', state, title: joined([cell ? 'Empty' : 'Not read yet', state?.words ?? '', ...sentences]) };
}

/** @param {readonly string[]} lines */
const joined = (lines) => lines.filter(Boolean).join('\n').slice(0, MOST_IN_TITLE);

/**
 * @param {StoredField} field
 * @param {readonly { field: string, sentence: string }[]} rules
 */
const sentencesOf = ({ name }, rules) => rules.filter((each) => each.field === name).map(({ sentence }) => sentence);

/**
 * @param {CellView} cell
 * @param {StoredField} field
 * @param {string | undefined} locale
 */
function textOf({ values, text, printed, state }, { type }, locale) {
  if (type === 'table') return text || '—'; // the number of its rows
  const known = values.filter((each) => each !== null);
  // Of a value with several readings or none, the printed words say more.
  if (state === 'value' && known.length) return known.map((each) => shownValue(each, type, locale)).join(' · ');
  return text || printed || '—';
}

/**
 * The broken rules of a row in words; '' without any.
 *
 * @param {TableRow} row
 */
export function brokenWords({ broken, rules }) {
  if (!broken) return '';
  const more = broken - rules.length;
  return joined([
    count(broken, 'broken rule'),
    ...rules.map(({ sentence }) => sentence),
    more > 0 ? `and ${more} more` : '',
  ]);
}

/**
 * Where a cell leads: its document, at the answer of the field.
 *
 * @param {string} project id
 * @param {string} document id
 * @param {Pick<CellView, 'annotation_id' | 'page_id'> | null} [cell]
 */
export function placeOf(project, document, cell) {
  const names = new URLSearchParams({ project, document });
  if (cell?.annotation_id) names.set('annotation', cell.annotation_id);
  if (cell?.page_id) names.set('page', cell.page_id);
  return `#${names}`;
}
