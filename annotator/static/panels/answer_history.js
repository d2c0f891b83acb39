// What happened to an answer: every revision and every verdict, with who, when, and how long it took.

import { get } from '../core/api.js';
import { h } from '../core/dom.js';
import { count, moment } from '../core/text.js';
import { icon } from '../core/icons.js';
import { openDialog } from '../core/dialog.js';
import { named, objections } from '../tasks/verdicts.js';

const DONE = {
  edit: ['pencil', 'edited it'],
  accept: ['check', 'accepted it'],
  submit: ['up', 'submitted it'],
  reopen: ['undo', 'reopened it'],
  import: ['upload', 'imported it'],
  reject: ['cross', 'rejected it'],
  fix: ['check', 'fixed it in review'],
  rejected: ['cross', 'rejected it'],
  accepted: ['check', 'accepted it in review'],
  fixed: ['check', 'fixed it in review'],
};
const TOOLS = {
  word: 'word',
  box: 'box',
  brush: 'brush stroke',
  eraser: 'erasure',
  plus: 'point',
  minus: 'point',
  undo: 'undo',
  redo: 'redo',
  candidate: 'choice',
  clear: 'clearing',
};

function duration(seconds) {
  if (!(seconds >= 0.5)) return null;
  return seconds < 100 ? `${Math.round(seconds)} s of work` : `${Math.round(seconds / 60)} min of work`;
}

function entry(status, sign, text, quiet, more = []) {
  return h(
    'li',
    { dataset: { status } },
    h('span', { class: 'g-history-sign' }, icon(sign, 14)),
    h('div', {}, h('p', {}, text), more, h('span', { class: 'g-quiet' }, quiet.filter(Boolean).join(' · '))),
  );
}

function revisionEntry(revision) {
  const [sign, text] = DONE[revision.action] ?? ['pencil', revision.action];
  const used = Object.entries(revision.interactions ?? {})
    .filter(([tool]) => TOOLS[tool])
    .map(([tool, times]) => count(times, TOOLS[tool]));
  const model = revision.model?.label ?? revision.model;
  return entry(
    revision.status,
    sign,
    [h('b', {}, named(revision.author)), ` ${text}`],
    [
      moment(revision.created_at),
      `revision ${revision.number}`,
      duration(revision.seconds),
      ...used,
      model && `from ${model}`,
    ],
  );
}

function reviewEntry(review) {
  const [sign, text] = DONE[review.verdict];
  const said = objections(review);
  return entry(
    review.verdict,
    sign,
    [h('b', {}, named(review.reviewer)), ` ${text}${said.length ? `: ${said.join(', ')}` : ''}`],
    [moment(review.created_at), `on revision ${review.revision}`, duration(review.seconds)],
    review.reason ? [h('blockquote', {}, review.reason)] : [],
  );
}

export async function openHistory(root, annotation) {
  const [revisions, reviews] = await Promise.all([
    get('/annotations/{annotation_id}/revisions', { annotation_id: annotation.id }),
    get('/annotations/{annotation_id}/reviews', { annotation_id: annotation.id }),
  ]);
  if (root.querySelector('.g-dialog')) return;
  // A verdict makes a revision of its own; told once, as the verdict.
  const verdicts = new Set(reviews.map((each) => `${each.revision + 1} ${named(each.reviewer)}`));
  const told = revisions.filter((each) => !verdicts.has(`${each.number} ${named(each.author)}`));
  const entries = [
    ...told.map((each) => [each.created_at, revisionEntry(each)]),
    ...reviews.map((each) => [each.created_at, reviewEntry(each)]),
  ]
    .sort(([left], [right]) => (left < right ? 1 : -1))
    .map(([, line]) => line);
  const model = annotation.proposal?.model?.label;
  if (model) entries.push(entry('proposed', 'spark', [h('b', {}, model), ' proposed an answer'], []));
  openDialog(root, {
    title: 'History of this answer',
    body: [
      h('p', { class: 'g-asked' }, annotation.question.text),
      h('ol', { class: 'g-history' }, entries.length ? entries : h('li', {}, 'No changes yet.')),
    ],
  });
}
