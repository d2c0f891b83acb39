// The answer of the open question: read out, weighed, with what one can do next; and whether the work is saved.

import { h, keyed, redraw } from '../core/dom.js';
import { count, percent } from '../core/text.js';
import { icon } from '../core/icons.js';
import { hint } from '../core/keyboard.js';
import { DECIDED } from '../state/marks.js';
import { STATUS, statusBadge, statusOf } from './question_box.js';
import { RankedPages } from './page_ranking.js';
import { rejection } from '../tasks/verdicts.js';

const gauge = (label, share, title) =>
  h(
    'div',
    { class: 'g-gauge', title },
    h('span', {}, label),
    h('b', {}, percent(share)),
    h('i', { class: 'g-track' }, h('i', { style: `width: ${100 * share}%` })),
  );

export class AnswerCard {
  // act: { accept(), next(), noAnswer(), candidate(at), page(id), askHere(), askMore(all), stop(), history(), own(), compare(), changed() }
  constructor(root, act) {
    this.act = act;
    const part = () => h('div', { class: 'g-part' });
    this.ranked = new RankedPages(act, () => act.changed());
    this.parts = {
      hint: part(),
      head: part(),
      author: part(),
      rejection: part(),
      reading: h('div', { 'aria-live': 'polite' }),
      doubtful: part(),
      figures: part(),
      candidates: h('div', { class: 'g-candidates', role: 'group', 'aria-label': 'Proposals' }),
      ranked: this.ranked.root,
      notAnswered: part(),
    };
    this.card = h('div', { class: 'g-answer' }, Object.values(this.parts));
    this.accept = h('button', { class: 'g-button g-primary g-accept', on: { click: () => act.accept() } });
    this.next = h(
      'button',
      { class: 'g-button', title: `Next open question   ${hint('next')}`, on: { click: () => act.next() } },
      'Next',
      icon('next', 16),
    );
    this.saved = h('div', { class: 'g-saved', role: 'status' });
    this.actions = h('div', { class: 'g-actions' }, this.accept, this.next);
    this.root = root;
    root.append(this.card, this.actions, this.saved);
  }

  // view: { document, annotation (local) or null, text, page, disagreement: { bare: number of words, loose: share } or null, proposal of the page, choices, refining, marked, pages: [{id, number, origin}], pending,
  //         submits, mine, locked, reviewing, rejected (a review), expected (a question that is being asked), further }
  render(view) {
    this.root.hidden = !view.document;
    const { annotation } = view;
    const done = annotation && DECIDED.includes(annotation.status);
    const [label, title] = view.submits
      ? ['Submit', 'Submit the marked answer for review']
      : ['Accept', 'Accept the marked answer'];
    redraw(this.accept, [done && annotation.status, label], () => [
      icon('check', 16),
      done ? STATUS[annotation.status][1].split(' ')[0] : label,
      done ? null : h('kbd', {}, 'Enter'),
    ]);
    this.accept.disabled = !annotation || done || view.locked;
    this.accept.title = annotation ? `${title}   Enter` : 'Ask a question first';
    this.actions.hidden = Boolean(view.reviewing);
    const coming = !annotation && view.expected;
    for (const [name, part] of Object.entries(this.parts))
      part.hidden = annotation ? name === 'hint' : !(coming ? ['head', 'reading'] : ['hint']).includes(name);
    if (annotation) this.answer(view);
    else if (coming) this.comes(coming);
    else
      redraw(this.parts.hint, true, () =>
        h(
          'div',
          { class: 'g-empty g-left' },
          h('b', {}, 'Ask a question'),
          h(
            'span',
            {},
            'Type a question above and press Enter. The answer is marked on the page and its text appears here.',
          ),
        ),
      );
  }

  // Each part is drawn only when what it shows has changed: a save or a step of the zoom moves nothing here. Only the text that was
  // read out is a live region.
  answer(view) {
    const { annotation, proposal, text, refining, marked, locked, reviewing, mine, pending } = view,
      { parts } = this;
    redraw(parts.head, [annotation.question.text, statusOf({ ...annotation, pending }), hint('history')], () =>
      this.head(view),
    );
    redraw(parts.author, [annotation.author.name, annotation.head, mine, locked, reviewing], () => this.author(view));
    redraw(parts.rejection, [view.rejected, annotation.status], () => rejection(view.rejected, annotation.status));
    redraw(parts.reading, [annotation.no_answer, text, refining, marked], () => this.reading(view));
    redraw(parts.doubtful, [view.disagreement, annotation.no_answer, refining], () => this.doubtful(view));
    redraw(
      parts.figures,
      [
        proposal && [this.confidence(view), proposal.answered, proposal.model?.label, proposal.milliseconds],
        annotation.head === 0 && !pending,
        refining,
      ],
      () => this.figures(view),
    );
    this.candidates(view);
    this.ranked.render(view);
    redraw(parts.notAnswered, [annotation.no_answer, locked, hint('noAnswer')], () => this.notAnswered(view));
  }

  // A question that is being asked.
  comes(question) {
    redraw(this.parts.head, question, () =>
      h('div', { class: 'g-answer-head' }, h('span', { class: 'g-asked', dir: 'auto' }, question)),
    );
    redraw(this.parts.reading, null, () => h('p', { class: 'g-reading g-none' }, 'The model is answering…'));
  }

  head({ annotation, pending }) {
    return h(
      'div',
      { class: 'g-answer-head' },
      h('span', { class: 'g-asked', dir: 'auto' }, annotation.question.text),
      statusBadge(statusOf({ ...annotation, pending })),
      h(
        'button',
        {
          class: 'g-icon-button g-small',
          title: `History of this answer   ${hint('history')}`,
          'aria-label': 'History of this answer',
          on: { click: () => this.act.history() },
        },
        icon('clock', 14),
      ),
    );
  }

  // Somebody else's answer is named as such.
  author({ annotation, mine, locked, reviewing }) {
    if (mine) return null;
    return h(
      'p',
      { class: 'g-author' },
      h('b', {}, annotation.author.name),
      reviewing ? ` answered, revision ${annotation.head}` : ' answered this question.',
      locked && !reviewing
        ? h('button', { class: 'g-link', on: { click: () => this.act.own() } }, 'Give your own answer')
        : null,
    );
  }

  reading({ annotation, text, refining, marked }) {
    if (annotation.no_answer)
      return h('p', { class: 'g-reading g-none' }, icon('none', 16), 'Not answered in this document');
    if (text)
      return h(
        'p',
        { class: `g-reading${text.length > 90 ? ' g-long' : ''}`, dir: 'auto', dataset: { busy: String(refining) } },
        text,
      );
    const hintText = marked
      ? 'Painted, but no words are marked. Mark the words of the answer.'
      : 'Nothing is marked. Click the words of the answer, or choose “Not answered” below.';
    return h('p', { class: 'g-reading g-none' }, hintText);
  }

  // Words and pixels may differ on purpose: a stamp has no words. It is said, not scolded.
  doubtful({ annotation, disagreement, refining }) {
    if (!disagreement || annotation.no_answer || refining) return null;
    const { bare, loose } = disagreement,
      share = percent(loose);
    const bareText = bare ? `${count(bare, 'marked word')} ${bare === 1 ? 'is' : 'are'} not painted` : '';
    const looseText =
      loose >= 0.005 ? `${share === '100 %' ? 'All' : share} of the painted area is outside marked words` : '';
    const text = [bareText, looseText].filter(Boolean).join('; ');
    return text
      ? h(
          'p',
          { class: 'g-differs' },
          h('span', { class: `g-swatch ${looseText ? 'g-hatched' : 'g-dashed'}` }),
          `${text}.`,
        )
      : null;
  }

  // Of what is marked: what a person has made of it the model has not weighed.
  confidence({ annotation, choices, chosen }) {
    return annotation.no_answer ? null : (choices[chosen]?.score ?? null);
  }

  figures(view) {
    const { annotation, proposal, refining, pending } = view,
      confidence = this.confidence(view);
    if (!proposal) return null;
    const doubts = annotation.head === 0 && !pending && proposal.answered < 0.5;
    const label = proposal.model?.label ?? '';
    return h(
      'div',
      { class: 'g-figures' },
      confidence === null ? null : gauge('Confidence', confidence, 'Expected accuracy of the mark (IoU)'),
      gauge('Answered here', proposal.answered, 'Probability that this page answers the question'),
      doubts ? h('p', { class: 'g-doubt' }, 'The document probably does not answer this question.') : null,
      h(
        'div',
        { class: 'g-model', title: `Answered by ${label} in ${Math.round(proposal.milliseconds)} ms` },
        icon('spark', 12),
        refining ? 'Refining…' : `${label} · ${Math.round(proposal.milliseconds)} ms`,
      ),
    );
  }

  candidates({ choices, chosen, annotation, locked }) {
    const { candidates } = this.parts;
    candidates.hidden = choices.length < 2 || locked;
    if (candidates.hidden) return;
    keyed(candidates, choices, {
      key: (_, at) => at,
      make: (_, at) => h('button', { class: 'g-candidate', on: { click: () => this.act.candidate(at) } }),
      dress: (row, each, at) => {
        const key = hint(`candidate${at + 1}`),
          text = each.text || 'No words';
        row.ariaPressed = String(!annotation.no_answer && at === chosen);
        row.title = `${text}   ${key}`;
        redraw(row, [key, text, each.score], () => [
          h('kbd', {}, key),
          h('span', { dir: 'auto' }, text),
          h('i', {}, percent(each.score)),
        ]);
      },
    });
  }

  notAnswered({ annotation, locked }) {
    if (locked) return null;
    return h(
      'button',
      {
        class: 'g-no-answer',
        'aria-pressed': String(annotation.no_answer),
        title: `Mark as not answered in this document   ${hint('noAnswer')}`,
        on: { click: () => this.act.noAnswer() },
      },
      icon('none', 16),
      'Not answered in this document',
      h('kbd', {}, hint('noAnswer')),
    );
  }

  // state: 'saved' | 'saving' | 'offline' | 'halted'; number: how many edits wait; at: Date of the last answer or null
  // fixing: a reviewer's corrections wait for the verdict
  // why: the server's own sentence, where it answered that it could not save
  renderSaved({ state, number, at, why, lasting, fixing }) {
    this.saved.dataset.state = state;
    const clock = at?.toLocaleTimeString('en-GB');
    const kept = lasting ? 'kept in this browser' : 'kept until this page is closed';
    const text = {
      saved: fixing ? 'Kept in this browser until you save the fix' : clock ? `Saved ${clock}` : '',
      saving: 'Saving…',
      offline: why
        ? `Not saved yet: ${count(number, 'edit')} ${kept}. ${why}`
        : `Offline: ${count(number, 'edit')} ${kept}`,
      halted: `${count(number, 'edit')} ${number === 1 ? 'needs' : 'need'} your decision`,
    }[state];
    redraw(this.saved, [state, text, fixing], () => [
      text
        ? icon({ saved: fixing ? 'pencil' : 'check', saving: 'cloud', offline: 'offline', halted: 'warn' }[state], 14)
        : null,
      text,
      state === 'halted' ? h('button', { class: 'g-link', on: { click: () => this.act.compare() } }, 'Compare') : null,
    ]);
  }
}
