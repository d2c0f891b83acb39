// What happened to an answer: every revision and every verdict, with who, when, and how long it took.

/** @import { AnnotationView, Child, ReviewLine, RevisionLine } from '../types' */

import { getAll, getPage, sentenceOf } from '../core/api.js';
import { h, replace } from '../core/dom.js';
import { count, moment } from '../core/text.js';
import { icon } from '../core/icons.js';
import { openDialog } from '../core/dialog.js';
import { objections } from '../tasks/verdicts.js';

const PAGE = 100; // revisions

/**
 * Actions of authors, and verdicts of reviewers: a sign, and the words behind the name of the person.
 *
 * @type {ReadonlyMap<string, { sign: string, text: string }>}
 */
const DONE = new Map([
  ['edit', { sign: 'pencil', text: 'edited it' }],
  ['accept', { sign: 'check', text: 'accepted it' }],
  ['submit', { sign: 'up', text: 'submitted it' }],
  ['reopen', { sign: 'undo', text: 'reopened it' }],
  ['import', { sign: 'upload', text: 'imported it' }],
  ['reject', { sign: 'cross', text: 'rejected it' }],
  ['fix', { sign: 'check', text: 'fixed it in review' }],
  ['rejected', { sign: 'cross', text: 'rejected it' }],
  ['accepted', { sign: 'check', text: 'accepted it in review' }],
  ['fixed', { sign: 'check', text: 'fixed it in review' }],
]);
/** @type {ReadonlyMap<string, readonly [one: string, several: string]>} what a tool made */
const MADE = new Map([
  ['word', ['word', 'words']],
  ['box', ['box', 'boxes']],
  ['brush', ['brush stroke', 'brush strokes']],
  ['eraser', ['eraser stroke', 'eraser strokes']],
  ['plus', ['point', 'points']],
  ['minus', ['point', 'points']],
  ['undo', ['undo', 'undos']],
  ['redo', ['redo', 'redos']],
  ['candidate', ['proposal chosen', 'proposals chosen']],
  ['clear', ['page cleared', 'pages cleared']],
  ['row', ['row changed', 'rows changed']],
  ['cell', ['cell moved', 'cells moved']],
  ['edge', ['edge dragged', 'edges dragged']],
  ['propose', ['table proposed anew', 'tables proposed anew']],
]);

const done = (/** @type {string} */ action) => DONE.get(action) ?? { sign: 'pencil', text: action };

/** @param {number} seconds */
function duration(seconds) {
  if (!(seconds >= 0.5)) return null;
  return seconds < 100 ? `${Math.round(seconds)} s of work` : `${Math.round(seconds / 60)} min of work`;
}

/**
 * @param {string} status
 * @param {string} sign
 * @param {Child} text
 * @param {readonly (string | null)[]} quiet
 * @param {Child} [more]
 */
function entry(status, sign, text, quiet, more = null) {
  return h(
    'li',
    { dataset: { status } },
    h('span', { class: 'g-history-sign' }, icon(sign, 14)),
    h('div', {}, h('p', {}, text), more, h('span', { class: 'g-quiet' }, quiet.filter(Boolean).join(' · '))),
  );
}

/** @param {RevisionLine} revision */
function revisionEntry(revision) {
  const { sign, text } = done(revision.action);
  const used = Object.entries(revision.interactions).flatMap(([tool, times]) => {
    const made = MADE.get(tool);
    return made ? [count(times, ...made)] : [];
  });
  return entry(
    revision.status,
    sign,
    [h('b', { dir: 'auto' }, revision.author), ` ${text}`],
    [
      moment(revision.created_at),
      `revision ${revision.number}`,
      duration(revision.seconds),
      ...used,
      revision.model && `from ${revision.model}`,
    ],
  );
}

/** @param {ReviewLine} review */
function reviewEntry(review) {
  const { sign, text } = done(review.verdict);
  const said = objections(review);
  return entry(
    review.verdict,
    sign,
    [h('b', {}, review.reviewer), ` ${text}${said.length ? `: ${said.join(', ')}` : ''}`],
    [moment(review.created_at), `on revision ${review.revision}`],
    review.reason ? h('blockquote', {}, review.reason) : null,
  );
}

/**
 * What happened, newest first. Verdicts older than the revisions that are shown wait until those are.
 *
 * @param {readonly RevisionLine[]} revisions newest first
 * @param {readonly ReviewLine[]} reviews newest first
 * @param {boolean} whole whether these are all revisions
 */
function entriesOf(revisions, reviews, whole) {
  const oldest = whole ? 0 : (revisions.at(-1)?.number ?? 0);
  const judged = reviews.filter(({ revision }) => revision + 1 >= oldest); // with the revision that each one made
  // A verdict makes a revision of its own; told once, as the verdict.
  const verdicts = new Set(reviews.map((each) => `${each.revision + 1} ${each.reviewer}`));
  const told = revisions.filter((each) => !verdicts.has(`${each.number} ${each.author}`));
  return [
    ...told.map((each) => ({ at: each.created_at, line: revisionEntry(each) })),
    ...judged.map((each) => ({ at: each.created_at, line: reviewEntry(each) })),
  ]
    .sort((left, right) => (left.at < right.at ? 1 : -1))
    .map(({ line }) => line);
}

/**
 * @param {HTMLElement} root takes the dialog
 * @param {Pick<AnnotationView, 'id' | 'question' | 'proposal'>} annotation
 */
export async function openHistory(root, annotation) {
  const values = /** @type {const} */ ({ annotation_id: annotation.id, sort: '-number' });
  /** @param {string | null} cursor */
  const page = (cursor) => getPage('/annotations/{annotation_id}/revisions', { ...values, limit: PAGE, cursor });
  const [first, reviews] = await Promise.all([page(null), getAll('/annotations/{annotation_id}/reviews', values)]);
  if (root.querySelector('.g-dialog')) return;
  const list = h('ol', { class: 'g-history' }),
    said = h('p', { class: 'g-quiet', role: 'status', hidden: true });
  let { items, next } = first;
  const draw = () => {
    const entries = entriesOf(items, reviews, !next),
      model = annotation.proposal?.model?.label;
    if (model && !next) entries.push(entry('proposed', 'spark', [h('b', {}, model), ' proposed an answer'], []));
    replace(list, entries.length ? entries : h('li', {}, 'No changes yet.'));
    older.hidden = !next;
  };
  const show = async () => {
    const asked = next;
    if (!asked || older.ariaDisabled === 'true') return;
    older.ariaDisabled = 'true';
    said.hidden = true;
    try {
      const found = await page(asked);
      items = [...items, ...found.items];
      next = found.next;
      draw();
    } catch (error) {
      said.textContent = sentenceOf(error);
      said.hidden = false;
    } finally {
      older.ariaDisabled = null;
    }
  };
  /** @type {HTMLButtonElement} */
  const older = h('button', { class: 'g-button', type: 'button', hidden: true, on: { click: show } }, 'Show older');
  draw();
  openDialog(root, {
    title: 'History of this answer',
    body: [h('p', { class: 'g-asked', dir: 'auto' }, annotation.question.text), list, said, older],
  });
}
