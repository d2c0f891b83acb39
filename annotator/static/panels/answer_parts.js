// The parts of the answer card, each drawn from what it shows and nothing else.

/** @import { Candidate, OpenedAnswer, Proposal } from '../types' */

import { h } from '../core/dom.js';
import { count, percent } from '../core/text.js';
import { icon } from '../core/icons.js';
import { hint } from '../core/keyboard.js';
import { shownStatus, statusBadge } from './answer_status.js';

const LONG_TEXT = 90; // characters: longer ones are read out in smaller type
const SOME_PAINT = 0.005; // of the painted area: less lies outside words by the roundness of a brush
const ALL_PAINT = 0.995;

/**
 * Words and pixels differ: `bare` selected words are not painted, `loose` 0..1 of the paint lies on no selected word.
 *
 * @typedef {object} Disagreement
 * @property {number} bare
 * @property {number} loose
 */

/**
 * The question, the status of its answer, and the way to its history.
 *
 * @param {OpenedAnswer} annotation
 * @param {boolean | undefined} pending
 * @param {() => unknown} history
 * @param {(() => unknown) | null} remove null: this person may not, or not now
 */
export const answerHead = (annotation, pending, history, remove) =>
  h(
    'div',
    { class: 'g-answer-head' },
    h('span', { class: 'g-asked', dir: 'auto', title: annotation.question.text }, annotation.question.text),
    statusBadge(shownStatus({ ...annotation, pending })),
    h(
      'button',
      {
        class: 'g-icon-button g-small',
        title: `History of this answer   ${hint('history')}`,
        'aria-label': 'History of this answer',
        on: { click: history },
      },
      icon('clock', 14),
    ),
    remove &&
      h(
        'button',
        {
          class: 'g-icon-button g-small',
          title: 'Remove this question from the document',
          'aria-label': 'Remove this question',
          on: { click: remove },
        },
        icon('clear', 14),
      ),
  );

/**
 * Somebody else's answer is named as such.
 *
 * @param {{ annotation: OpenedAnswer, mine?: boolean, locked?: boolean, reviewing?: boolean }} view
 * @param {() => unknown} own asks the question oneself
 */
export function answerAuthor({ annotation, mine, locked, reviewing }, own) {
  if (mine) return null;
  return h(
    'p',
    { class: 'g-author' },
    h('b', { dir: 'auto' }, annotation.author.name),
    reviewing ? ` answered, revision ${annotation.head}` : ' answered this question.',
    locked && !reviewing ? h('button', { class: 'g-link', on: { click: own } }, 'Give your own answer') : null,
  );
}

/**
 * @param {object} view
 * @param {OpenedAnswer} view.annotation
 * @param {string} view.text
 * @param {boolean} view.refining
 * @param {boolean} view.marked
 * @param {number} [view.under] words that are offered
 * @param {readonly unknown[]} [view.choices] proposals in the list below
 */
export function answerReading({ annotation, text, refining, marked, under, choices }) {
  if (annotation.no_answer)
    return h('p', { class: 'g-reading g-none' }, icon('none', 16), 'Not answered in this document');
  if (text)
    return h(
      'p',
      {
        class: `g-reading${text.length > LONG_TEXT ? ' g-long' : ''}`,
        dir: 'auto',
        dataset: { busy: String(refining) },
      },
      text,
    );
  return h(
    'p',
    { class: 'g-reading g-none' },
    marked
      ? `No text is selected under your paint.${under ? '' : ' Click the words of the answer.'}`
      : choices?.length
        ? 'Nothing is marked. Choose a proposal below, click the words of the answer, or choose “Not answered”.'
        : 'Nothing is marked. Click the words of the answer, or choose “Not answered” below.',
  );
}

/**
 * Words and pixels may differ on purpose: a stamp has no words. It is said, not scolded.
 *
 * @param {{ annotation: OpenedAnswer, text: string, disagreement: Disagreement | null, refining: boolean }} view
 */
export function answerDoubt({ annotation, text, disagreement, refining }) {
  if (!disagreement || annotation.no_answer || refining) return null;
  const { bare, loose } = disagreement;
  const sentences = [];
  if (bare) sentences.push(`${count(bare, 'selected word')} ${bare === 1 ? 'is' : 'are'} not painted.`);
  if (loose >= ALL_PAINT) sentences.push(text || bare ? 'No text is selected under your paint.' : '');
  else if (loose >= SOME_PAINT) sentences.push(`${percent(loose)} of your paint covers no selected text.`);
  const said = sentences.filter(Boolean).join(' ');
  if (!said) return null;
  return h(
    'p',
    { class: 'g-differs' },
    h('span', { class: `g-swatch ${loose >= SOME_PAINT ? 'g-hatched' : 'g-dashed'}` }),
    said,
  );
}

/**
 * What the model thinks of what is marked; null of what a person has made of it.
 *
 * @param {{ annotation: OpenedAnswer, choices: readonly Candidate[], chosen: number }} view
 */
export const confidenceOf = ({ annotation, choices, chosen }) =>
  annotation.no_answer ? null : (choices[chosen]?.score ?? null);

/**
 * Whether what is marked is what a field of the PDF's form says. Where the question names the field, it is certain.
 *
 * @param {object} view
 * @param {OpenedAnswer} view.annotation
 * @param {Proposal | null | undefined} view.proposal of the open page
 * @param {number} view.chosen
 */
export const isFromForm = ({ annotation, proposal, chosen }) =>
  proposal?.source === 'form' && chosen === 0 && !annotation.no_answer;

const FROM_FORM = 'From the form’s own field';
const FROM_FORM_TITLE = 'The PDF is a form, and a field of it has the name that the question asks for';

/**
 * @param {string} label
 * @param {number} share 0..1
 * @param {string} title
 */
const gauge = (label, share, title) =>
  h(
    'div',
    { class: 'g-gauge', title },
    h('span', {}, label),
    h('b', {}, percent(share)),
    h('i', { class: 'g-track' }, h('i', { style: `width: ${100 * share}%` })),
  );

/**
 * @param {object} view
 * @param {OpenedAnswer} view.annotation
 * @param {Proposal | null | undefined} view.proposal of the open page
 * @param {readonly Candidate[]} view.choices
 * @param {number} view.chosen
 * @param {boolean} view.refining
 * @param {boolean} [view.pending]
 */
export function answerFigures(view) {
  const { annotation, proposal, refining, pending } = view,
    confidence = confidenceOf(view);
  if (!proposal) return null;
  if (isFromForm(view) && proposal.score === 1 && !refining)
    return h(
      'div',
      { class: 'g-figures' },
      h('div', { class: 'g-model', title: FROM_FORM_TITLE }, icon('check', 12), FROM_FORM),
    );
  if (proposal.source === 'table' && !refining) {
    const said = `Rows from the layout of the words · ${Math.round(proposal.milliseconds)} ms`;
    return h('div', { class: 'g-figures' }, h('div', { class: 'g-model' }, icon('spark', 12), said));
  }
  const doubts = annotation.head === 0 && !pending && proposal.answered < 0.5;
  const { label } = proposal.model,
    isOutside = proposal.source === 'outside',
    time = isOutside ? 'another model' : `${Math.round(proposal.milliseconds)} ms`;
  return h(
    'div',
    { class: 'g-figures' },
    confidence === null ? null : gauge('Confidence', confidence, 'Expected accuracy of the mark (IoU)'),
    gauge('Answered here', proposal.answered, 'Probability that this page answers the question'),
    doubts ? h('p', { class: 'g-doubt' }, 'The document probably does not answer this question.') : null,
    h(
      'div',
      {
        class: 'g-model',
        title: `Answered by ${isOutside ? `another model, ${label}` : `the model ${label} in ${time}`}`,
      },
      icon('spark', 12),
      refining ? 'Refining…' : `${label} · ${time}`,
    ),
    isFromForm(view) ? h('div', { class: 'g-model' }, icon('check', 12), FROM_FORM) : null,
  );
}

/**
 * @param {OpenedAnswer} annotation
 * @param {() => unknown} choose
 */
export const notAnsweredButton = (annotation, choose) =>
  h(
    'button',
    {
      class: 'g-no-answer',
      'aria-pressed': String(annotation.no_answer),
      title: `Mark as not answered in this document   ${hint('noAnswer')}`,
      on: { click: choose },
    },
    icon('none', 16),
    'Not answered in this document',
    h('kbd', {}, hint('noAnswer')),
  );

/**
 * Says that the page prints the key more than once, and how to choose.
 *
 * @param {number} times
 * @param {number} choices
 */
export const repeatedKey = (times, choices) => {
  const [first, last] = [hint('candidate1'), hint(`candidate${choices}`)];
  if (choices < 2) return null;
  const byKeys = ['Choose with ', h('kbd', {}, first), ' to ', h('kbd', {}, last), '.'];
  return h(
    'p',
    { class: 'g-repeated' },
    `The key stands ${times} times on this page. `,
    first && last ? h('span', { class: 'g-by-keys' }, byKeys) : null,
  );
};
