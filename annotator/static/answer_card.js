// The answer of the open question: read out, weighed, with what one can do next; and whether the work is saved.

import { count, h, percent, replace } from './dom.js';
import { icon } from './icons.js';
import { hint } from './keyboard.js';
import { statusBadge, statusOf } from './question_box.js';

const gauge = (label, share, title) =>
  h('div', { class: 'g-gauge', title }, h('span', {}, label), h('b', {}, percent(share)), h('i', { class: 'g-track' }, h('i', { style: `width: ${100 * share}%` })));

export class AnswerCard {
  // act: { accept(), next(), noAnswer(), candidate(at), page(id), askHere(), compare() }
  constructor(root, act) {
    this.act = act;
    this.card = h('div', { class: 'g-answer', 'aria-live': 'polite' });
    this.accept = h('button', { class: 'g-button g-primary g-accept', on: { click: () => act.accept() } });
    this.next = h('button', { class: 'g-button', title: `Next open question   ${hint('next')}`, on: { click: () => act.next() } }, 'Next', icon('next', 16));
    this.saved = h('div', { class: 'g-saved', role: 'status' });
    this.actions = h('div', { class: 'g-actions' }, this.accept, this.next);
    this.root = root;
    root.append(this.card, this.actions, this.saved);
  }

  // view: { document, annotation (local) or null, text, page, proposal of the page, choices, ranked, refining, marked, pages: [{id, number, origin}], pending }
  render(view) {
    this.root.hidden = !view.document;
    const { annotation } = view;
    const done = annotation && ['accepted', 'submitted', 'fixed'].includes(annotation.status);
    replace(this.accept, icon('check', 16), done ? 'Accepted' : 'Accept', h('kbd', {}, 'Enter'));
    this.accept.disabled = !annotation || done;
    this.accept.title = annotation ? 'Accept the answer as it is marked   Enter' : 'Ask a question first';
    if (!view.document) return replace(this.card);
    if (!annotation) return replace(this.card, h('div', { class: 'g-empty g-left' }, h('b', {}, 'Ask a question'), h('span', {}, 'Type it above and press Enter. The answer is marked on the page and read out here.')));
    replace(this.card, this.head(view), this.reading(view), this.figures(view), this.candidates(view), this.places(view), this.notAnswered(view));
  }

  head({ annotation, pending }) {
    return h('div', { class: 'g-answer-head' }, h('span', { class: 'g-asked' }, annotation.question.text), statusBadge(statusOf({ ...annotation, pending })));
  }

  reading({ annotation, text, refining, marked }) {
    if (annotation.no_answer) return h('p', { class: 'g-reading g-none' }, icon('none', 16), 'Not answered in this document');
    if (text) return h('p', { class: `g-reading${text.length > 90 ? ' g-long' : ''}`, dataset: { busy: String(refining) } }, text);
    const hintText = marked ? 'Painted, but no words are marked.' : 'Nothing is marked. Click the words of the answer, or say below that there is none.';
    return h('p', { class: 'g-reading g-none' }, hintText);
  }

  figures({ annotation, proposal, refining, pending }) {
    if (!proposal) return null;
    const doubts = annotation.head === 0 && !pending && proposal.answered < 0.5;
    const label = proposal.model?.label ?? '';
    return h(
      'div', { class: 'g-figures' },
      gauge('Confidence', proposal.score, 'How well the model expects its mark to fit'),
      gauge('Answered here', proposal.answered, 'Probability that this page answers the question'),
      doubts ? h('p', { class: 'g-doubt' }, 'The model doubts that this document answers the question.') : null,
      h('div', { class: 'g-model', title: `Answered by ${label} in ${Math.round(proposal.milliseconds)} ms` }, icon('spark', 12), refining ? 'Looking again…' : `${label} · ${Math.round(proposal.milliseconds)} ms`),
    );
  }

  candidates({ choices, chosen, annotation }) {
    if (choices.length < 2) return null;
    return h('div', { class: 'g-candidates', role: 'group', 'aria-label': 'Proposals' }, choices.map((each, at) =>
      h('button', { class: 'g-candidate', 'aria-pressed': String(!annotation.no_answer && at === chosen), title: `${each.text || 'No words'}   ${at + 1}`, on: { click: () => this.act.candidate(at) } },
        h('kbd', {}, String(at + 1)), h('span', {}, each.text || 'No words'), h('i', {}, percent(each.score)))));
  }

  places({ annotation, pages, page, ranked, marked, refining }) {
    const marks = pages.filter((each) => each.origin);
    const others = ranked.filter((each) => !marks.some((mark) => mark.id === each.page_id)).slice(0, 3);
    const several = pages.length > 1;
    const ask = several && page && !marked && !annotation.no_answer
      ? h('button', { class: 'g-link', disabled: refining, on: { click: () => this.act.askHere() } }, `Mark the answer on page ${page.number} too`) : null;
    if (!several) return null;
    const number = (id) => pages.find((each) => each.id === id)?.number;
    return h('div', { class: 'g-places' },
      marks.length ? h('span', { class: 'g-quiet' }, 'On page') : null,
      marks.map((each) => h('button', { class: 'g-chip', dataset: { origin: each.origin }, 'aria-current': String(each.id === page?.id), on: { click: () => this.act.page(each.id) } }, String(each.number))),
      others.length ? h('span', { class: 'g-quiet' }, 'perhaps') : null,
      others.map((each) => h('button', { class: 'g-chip g-perhaps', title: `Probability ${percent(each.answered)}`, 'aria-current': String(each.page_id === page?.id), on: { click: () => this.act.page(each.page_id) } }, `${number(each.page_id)}`, h('i', {}, percent(each.answered)))),
      ask);
  }

  notAnswered({ annotation }) {
    return h('button', { class: 'g-no-answer', 'aria-pressed': String(annotation.no_answer), title: `The document does not answer this   ${hint('noAnswer')}`, on: { click: () => this.act.noAnswer() } },
      icon('none', 16), 'Not answered in this document', h('kbd', {}, hint('noAnswer')));
  }

  // state: 'saved' | 'saving' | 'offline' | 'halted'; number: how many edits wait; at: Date of the last answer or null
  renderSaved({ state, number, at, lasting }) {
    this.saved.dataset.state = state;
    const clock = at?.toLocaleTimeString('en-GB');
    const kept = lasting ? 'kept here' : 'kept only until this page closes';
    const text = {
      saved: clock ? `Saved ${clock}` : '',
      saving: 'Saving…',
      offline: `Offline: ${count(number, 'edit')} ${kept}`,
      halted: `${count(number, 'edit')} ${number === 1 ? 'waits' : 'wait'} for your decision`,
    }[state];
    replace(this.saved, text ? icon({ saved: 'check', saving: 'cloud', offline: 'offline', halted: 'warn' }[state], 14) : null, text,
      state === 'halted' ? h('button', { class: 'g-link', on: { click: () => this.act.compare() } }, 'Compare') : null);
  }
}
