// The answer of the open question: read out, weighed, with what one can do next; and whether the work is saved.

/** @import { Candidate, GoldState, OpenedAnswer, Proposal, ReviewLine, ValueView } from '../types' */
/** @import { AnswerValues } from '../state/answer_values.js' */
/** @import { TableWork } from '../state/table_work.js' */
/** @import { CellView } from './table_cells.js' */
/** @import { GoldView } from '../tasks/gold_answer.js' */
/** @import { Disagreement } from './answer_parts.js' */
/** @import { AnsweringPage, AskingFurther } from './page_ranking.js' */
/** @import { SavedView } from './saved_line.js' */

import { h, keyed, redraw } from '../core/dom.js';
import { percent } from '../core/text.js';
import { icon } from '../core/icons.js';
import { hint } from '../core/keyboard.js';
import { DECIDED } from '../state/marks.js';
import {
  answerAuthor,
  answerDoubt,
  answerFigures,
  answerHead,
  answerReading,
  confidenceOf,
  isFromForm,
  notAnsweredButton,
  repeatedKey,
} from './answer_parts.js';
import { shownStatus, statusWord } from './answer_status.js';
import { ValuesPanel } from './answer_values.js';
import { RankedPages } from './page_ranking.js';
import { SavedLine } from './saved_line.js';
import { goldLine } from '../tasks/gold_answer.js';
import { rejection } from '../tasks/verdicts.js';

/**
 * @typedef {object} AnswerCardActs
 * @property {() => unknown} accept
 * @property {() => unknown} next
 * @property {() => unknown} noAnswer
 * @property {(at: number) => unknown} candidate
 * @property {(page: string) => unknown} page
 * @property {() => unknown} askHere
 * @property {(all: boolean) => unknown} askMore
 * @property {() => unknown} stop
 * @property {() => unknown} history
 * @property {() => unknown} remove the question, with its answer
 * @property {() => unknown} own one's own answer to somebody else's question
 * @property {() => unknown} compare the versions to decide between
 * @property {() => unknown} changed draw anew
 * @property {(before: GoldState, answer: string | null) => unknown} gold
 * @property {AnswerValues} values
 * @property {TableWork} table
 * @property {() => unknown} [takeWords] selects the words under the paint
 */

/**
 * @typedef {object} AnswerCardView
 * @property {object | null} document
 * @property {OpenedAnswer | null} annotation
 * @property {string} text under the marks, or as a person corrected it
 * @property {(place: number) => string} textOf printed text of a value
 * @property {(place: number) => ValueView | null} viewOf what the server says of a cell of a table
 * @property {(place: number) => CellView} cellOf a cell of a table
 * @property {{ id: string, number: number } | null} page
 * @property {Disagreement | null} disagreement
 * @property {Proposal | null | undefined} proposal of the page
 * @property {readonly Candidate[]} choices
 * @property {number} chosen -1: none of them
 * @property {boolean} refining
 * @property {boolean} marked the page carries a mark
 * @property {readonly AnsweringPage[]} pages
 * @property {boolean} [pending] edits are not saved yet
 * @property {boolean} submits what is accepted is only submitted for review
 * @property {boolean} mine
 * @property {boolean} locked
 * @property {boolean} removable
 * @property {boolean} reviewing
 * @property {ReviewLine | null} rejected
 * @property {GoldView | null} gold for reviewers alone
 * @property {string | false | null} [expected] a question that is being asked
 * @property {AskingFurther | null} further
 * @property {number} [under] words under the paint that are not selected
 */

const UNAIDED = 'Mark this one without the model: agreement between people is measured on it.';

export class AnswerCard {
  /**
   * @param {HTMLElement} root
   * @param {AnswerCardActs} act
   */
  constructor(root, act) {
    this.act = act;
    this.root = root;
    const part = () => h('div', { class: 'g-part' });
    this.ranked = new RankedPages(act, () => act.changed());
    this.values = new ValuesPanel(act.values, () => act.changed(), act.table);
    this.parts = {
      hint: part(),
      head: part(),
      author: part(),
      rejection: part(),
      reading: h('div', { 'aria-live': 'polite' }),
      values: this.values.root,
      doubtful: part(),
      figures: part(),
      repeated: part(),
      candidates: h('div', { class: 'g-candidates', role: 'group', 'aria-label': 'Proposals' }),
      ranked: this.ranked.root,
      notAnswered: part(),
      gold: part(),
    };
    this.card = h('div', { class: 'g-answer' }, Object.values(this.parts));
    this.accept = h('button', { class: 'g-button g-primary g-accept', on: { click: () => act.accept() } });
    this.next = h(
      'button',
      { class: 'g-button', title: `Next open question   ${hint('next')}`, on: { click: () => act.next() } },
      'Next',
      icon('next', 16),
    );
    this.actions = h('div', { class: 'g-actions' }, this.accept, this.next);
    this.saved = new SavedLine(() => act.compare());
    root.append(this.card, this.actions, this.saved.root);
  }

  /** @param {AnswerCardView} view */
  render(view) {
    const { annotation, parts } = { annotation: view.annotation, parts: this.parts };
    this.root.hidden = !view.document;
    this.root.dataset.shows = view.annotation || view.expected ? 'answer' : 'hint';
    this.renderAccept(view);
    this.actions.hidden = view.reviewing;
    const coming = annotation ? null : view.expected;
    for (const [name, part] of Object.entries(parts))
      part.hidden = annotation ? name === 'hint' : !(coming ? ['head', 'reading'] : ['hint']).includes(name);
    if (annotation) this.renderAnswer({ ...view, annotation });
    else if (coming) this.renderComing(coming);
    else
      redraw(parts.hint, true, () =>
        h(
          'div',
          { class: 'g-empty g-left' },
          h('b', {}, 'Ask a question'),
          h(
            'span',
            {},
            'For example “What is the total?”. The answer is marked on the page and its text appears here.',
          ),
        ),
      );
  }

  /** @param {AnswerCardView} view */
  renderAccept({ annotation, submits, locked, under }) {
    const done = annotation && DECIDED.includes(annotation.status) ? annotation.status : null;
    const [label, title] = submits
      ? ['Submit', 'Submit the marked answer for review']
      : ['Accept', 'Accept the marked answer'];
    const enter = !done && !under;
    redraw(this.accept, [done, label, enter], () => [
      icon('check', 16),
      done ? statusWord(done) : label,
      enter ? h('kbd', {}, 'Enter') : null,
    ]);
    this.accept.disabled = !annotation || done !== null || locked;
    this.accept.title = annotation ? `${title}   Enter` : 'Ask a question first';
  }

  /**
   * Each part is drawn only when what it shows has changed: a save or a step of the zoom moves nothing here. Only the
   * text that was read out is a live region.
   *
   * @param {AnswerCardView & { annotation: OpenedAnswer }} view
   */
  renderAnswer(view) {
    const { annotation, proposal, refining, marked, locked, reviewing, mine, pending } = view,
      // An empty box to tick has no word on the page; the form says what it means.
      text = view.text || (isFromForm(view) && proposal ? proposal.text : ''),
      { parts, act } = this,
      { question, no_answer: none, status, head } = annotation;
    redraw(parts.head, [question.text, shownStatus({ ...annotation, pending }), hint('history'), view.removable], () =>
      answerHead(annotation, pending, () => act.history(), view.removable ? () => act.remove() : null),
    );
    redraw(parts.author, [annotation.author.name, head, mine, locked, reviewing], () =>
      answerAuthor(view, () => act.own()),
    );
    redraw(parts.rejection, [view.rejected, status, annotation.unaided], () => [
      rejection(view.rejected, status),
      annotation.unaided && h('p', { class: 'g-quiet' }, UNAIDED),
    ]);
    redraw(parts.reading, [none, text, refining, marked, Boolean(view.under), Boolean(view.choices.length)], () =>
      answerReading({ ...view, text }),
    );
    redraw(parts.doubtful, [view.disagreement, none, refining, Boolean(text), view.under], () => [
      answerDoubt({ ...view, text }),
      this.offer(view.under),
    ]);
    const figures = proposal && [
      confidenceOf(view),
      proposal.answered,
      proposal.model.label,
      proposal.milliseconds,
      head === 0 && !pending,
      isFromForm(view),
    ];
    redraw(parts.figures, [figures, refining], () => answerFigures(view));
    this.renderCandidates(view);
    this.ranked.render(view);
    this.values.render({ annotation, locked, text: view.textOf, viewOf: view.viewOf, cellOf: view.cellOf });
    redraw(parts.notAnswered, [none, locked, hint('noAnswer')], () =>
      locked ? null : notAnsweredButton(annotation, () => act.noAnswer()),
    );
    const { gold } = view;
    redraw(parts.gold, [gold?.state, gold?.subject.id, gold?.subject.head], () => goldLine(gold, act.gold));
  }

  /**
   * Whoever paints over text mostly means the text.
   *
   * @param {number | undefined} under
   */
  offer(under) {
    if (!under || !this.act.takeWords) return null;
    const words = under === 1 ? 'the word' : `the ${under} words`;
    return h(
      'button',
      { class: 'g-button g-offer', on: { click: () => this.act.takeWords?.() } },
      `Take ${words} under the paint`,
      h('kbd', {}, 'Enter'),
    );
  }

  /**
   * A question that is being asked.
   *
   * @param {string} question
   */
  renderComing(question) {
    redraw(this.parts.head, question, () =>
      h('div', { class: 'g-answer-head' }, h('span', { class: 'g-asked', dir: 'auto' }, question)),
    );
    redraw(this.parts.reading, null, () => h('p', { class: 'g-reading g-none' }, 'The model is answering…'));
  }

  /** @param {AnswerCardView & { annotation: OpenedAnswer }} view */
  renderCandidates({ choices, chosen, annotation, marked, locked, proposal }) {
    const { candidates, repeated } = this.parts;
    // Where the model declined, nothing is marked, and a single guess is a choice, too.
    candidates.hidden = choices.length < (marked ? 2 : 1) || locked;
    redraw(repeated, [proposal?.repeated, choices.length, candidates.hidden], () =>
      candidates.hidden || !proposal?.repeated ? null : repeatedKey(proposal.repeated, choices.length),
    );
    if (candidates.hidden) return;
    keyed(candidates, choices, {
      key: (_, at) => at,
      make: (_, at) => h('button', { class: 'g-candidate', on: { click: () => this.act.candidate(at) } }),
      updateRow: (row, each, at) => {
        const key = hint(`candidate${at + 1}`),
          text = each.text || 'No words';
        row.ariaPressed = String(!annotation.no_answer && at === chosen);
        row.title = [text, each.place, key].filter(Boolean).join('   ');
        redraw(row, [key, text, each.place, each.score], () => [
          h('kbd', {}, key),
          h('span', {}, h('bdi', { dir: 'auto' }, text), each.place ? h('small', { dir: 'auto' }, each.place) : null),
          h('i', {}, percent(each.score)),
        ]);
      },
    });
  }

  /** @param {SavedView} view */
  renderSaved(view) {
    this.saved.render(view);
  }
}
