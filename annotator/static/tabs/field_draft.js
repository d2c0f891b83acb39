// A list of fields as somebody edits it, before it is saved. Plain values; nothing is changed in place.

import { same } from '../core/values.js';
import { nameOfQuestion } from './field_names.js';

/** @import { FieldDefinition, StoredField } from '../types' */

/** @typedef {FieldDefinition['rules'][number]} Rule */

/**
 * A field in the list; `key` stays while it is edited, `id` is null until it is saved.
 *
 * @typedef {FieldDefinition & { key: string, id: string | null }} DraftField
 */

/**
 * `before`: the stored list that the editing began with.
 *
 * @typedef {{ before: StoredField[], fields: DraftField[] }} Draft
 */

/** @type {FieldDefinition} */
const PLAIN = {
  name: '',
  question: '',
  type: 'string',
  guideline: '',
  several: false,
  required: false,
  examples: [],
  choices: [],
  currency: null,
  country: null,
  rules: [],
  issuer: false,
  confidence: null,
  columns: [],
};
const PARTS = /** @type {(keyof FieldDefinition)[]} */ (Object.keys(PLAIN));

/**
 * The definition of a field alone, each part in one order.
 *
 * @param {FieldDefinition} field
 */
export function definitionOf(field) {
  const parts = Object.fromEntries(PARTS.map((part) => [part, field[part] ?? PLAIN[part]]));
  const table = field.type === 'table'; // what was written for another type stays in the draft alone
  return /** @type {FieldDefinition} */ ({ ...parts, ...(table ? { several: false } : { columns: [] }) });
}

/**
 * @param {StoredField} field
 * @returns {DraftField}
 */
const drafted = (field) => ({ ...definitionOf(field), key: field.id, id: field.id });

/**
 * @param {StoredField[]} stored
 * @returns {Draft}
 */
export const draftOf = (stored) => ({ before: stored, fields: stored.map(drafted) });

/** @param {Draft} draft */
export const isChanged = (draft) => !same(draft.fields, draftOf(draft.before).fields);

/**
 * Whether a field of the draft is new, or another one than is stored; null: neither.
 *
 * @param {Draft} draft
 * @param {DraftField} field
 * @returns {'new' | 'changed' | null}
 */
export function stateOf(draft, field) {
  const before = draft.before.find(({ id }) => id === field.id);
  if (!before) return 'new';
  return same(definitionOf(before), definitionOf(field)) ? null : 'changed';
}

/**
 * What is sent to save or to preview the draft.
 *
 * @param {Draft} draft
 */
export const requestOf = ({ before, fields }) => ({
  fields: fields.map((field) => ({ ...definitionOf(field), ...(field.id ? { id: field.id } : {}) })),
  before: versionsOf(before),
});

/** @param {StoredField[]} stored */
export const versionsOf = (stored) => Object.fromEntries(stored.map(({ id, version }) => [id, version]));

/**
 * The draft with one more field at its end.
 *
 * @param {Draft} draft
 * @param {string} key
 * @returns {Draft}
 */
export const addField = (draft, key) => ({ ...draft, fields: [...draft.fields, { ...PLAIN, key, id: null }] });

/**
 * @param {Draft} draft
 * @param {string} key
 * @returns {Draft}
 */
export const removeField = (draft, key) => ({ ...draft, fields: draft.fields.filter((field) => field.key !== key) });

/**
 * The draft with a field at another place; the same draft where there is no such place.
 *
 * @param {Draft} draft
 * @param {string} key
 * @param {number} place from 0
 * @returns {Draft}
 */
export function moveField(draft, key, place) {
  const field = draft.fields.find((each) => each.key === key);
  if (!field || place < 0 || place >= draft.fields.length) return draft;
  const others = draft.fields.filter((each) => each !== field);
  return { ...draft, fields: [...others.slice(0, place), field, ...others.slice(place)] };
}

/**
 * The draft with changed parts of a field. Rules of other fields follow a new name. A field that was never saved is
 * named after its question until somebody names it.
 *
 * @param {Draft} draft
 * @param {string} key
 * @param {Partial<FieldDefinition>} change
 * @returns {Draft}
 */
export function changeField(draft, key, change) {
  const field = draft.fields.find((each) => each.key === key);
  if (!field) return draft;
  const taken = new Set(draft.fields.flatMap((each) => (each === field ? [] : [each.name])));
  const proposed = !field.id && (!field.name || field.name === nameOfQuestion(field.question, taken));
  const changed = { ...field, ...change };
  if (proposed && change.question !== undefined) {
    changed.name = change.question.trim() ? nameOfQuestion(change.question, taken) : '';
  }
  const renamed = field.name && changed.name !== field.name && !taken.has(field.name);
  const fields = draft.fields.map((each) => {
    if (each === field) return changed;
    if (change.issuer && each.issuer) return { ...each, issuer: false }; // a list has one issuer
    return renamed ? { ...each, rules: each.rules.map((rule) => renameIn(rule, field.name, changed.name)) } : each;
  });
  return { ...draft, fields };
}

/**
 * @param {Rule} rule
 * @param {string} from
 * @param {string} to
 * @returns {Rule}
 */
function renameIn(rule, from, to) {
  if (rule.rule === 'sum') return { ...rule, of: rule.of.map((name) => (name === from ? to : name)) };
  if (rule.rule === 'not_before' && rule.field === from) return { ...rule, field: to };
  return rule;
}

/**
 * The draft with those fields of a list whose question or name it does not have yet. Rules that name a field which was
 * left out so are left out too. The list's own field of the issuer stays the only one.
 *
 * @param {Draft} draft
 * @param {FieldDefinition[]} further
 * @param {() => string} newKey
 * @returns {Draft}
 */
export function addFields(draft, further, newKey) {
  const names = new Set(draft.fields.map(({ name }) => name)),
    questions = new Set(draft.fields.map(({ question }) => question));
  const fresh = further.filter(({ name, question }) => !names.has(name) && !questions.has(question));
  for (const { name } of fresh) names.add(name);
  const added = fresh.map((field) => ({
    ...definitionOf(field),
    rules: field.rules.filter((rule) => namesIn(rule).every((name) => names.has(name))),
    issuer: field.issuer && !draft.fields.some(({ issuer }) => issuer),
    key: newKey(),
    id: null,
  }));
  return { ...draft, fields: [...draft.fields, ...added] };
}

/**
 * The draft with a list in place of its own. A field with the question, or else the name, of one that is there is that
 * one, and keeps its answers.
 *
 * @param {Draft} draft
 * @param {FieldDefinition[]} list
 * @param {() => string} newKey
 * @returns {Draft}
 */
export function replaceList(draft, list, newKey) {
  const left = new Set(draft.fields);
  const fields = list.map((field) => {
    const there = [...left];
    const known =
      there.find(({ question }) => question === field.question) ??
      there.find(({ name, question }) => name === field.name && !list.some((each) => each.question === question));
    if (known) left.delete(known);
    return { ...definitionOf(field), key: known?.key ?? newKey(), id: known?.id ?? null };
  });
  return { ...draft, fields };
}

/**
 * Names of the other fields that a rule is about.
 *
 * @param {Rule} rule
 * @returns {string[]}
 */
export const namesIn = (rule) => (rule.rule === 'sum' ? rule.of : rule.rule === 'not_before' ? [rule.field] : []);

/**
 * The draft on top of a list that others have saved meanwhile: what was changed here stays, all else is as they have
 * it. `both`: names of the fields that were changed here and there, with the version that was made here.
 *
 * @param {Draft} draft
 * @param {StoredField[]} theirs
 * @returns {{ draft: Draft, both: string[] }}
 */
export function rebase(draft, theirs) {
  const before = new Map(draft.before.map((field) => [field.id, field])),
    now = new Map(theirs.map((field) => [field.id, field]));
  /** @type {string[]} */
  const both = [];
  const kept = draft.fields.flatMap((field) => {
    const [old, newer] = field.id ? [before.get(field.id), now.get(field.id)] : [];
    const changed = stateOf(draft, field) !== null;
    if (!old) return [field];
    if (!newer) return changed ? (both.push(field.name), [field]) : [];
    if (!changed) return [drafted(newer)];
    if (newer.version !== old.version) both.push(field.name);
    return [field];
  });
  const added = theirs.filter(({ id }) => !before.has(id)).map(drafted);
  return { draft: { before: theirs, fields: [...kept, ...added] }, both };
}
