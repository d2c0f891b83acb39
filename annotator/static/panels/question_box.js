// "Ask this document...": the field, its scope, and the list of what has been asked.

import { h, keyed, redraw, replace } from '../core/dom.js';
import { icon } from '../core/icons.js';
import { hint } from '../core/keyboard.js';
import { walk } from './document_list.js';

export const STATUS = {
  proposed: ['spark', 'Proposed by the model'],
  draft: ['pencil', 'Draft'],
  submitted: ['up', 'Submitted for review'],
  accepted: ['check', 'Accepted'],
  rejected: ['cross', 'Rejected'],
  fixed: ['check', 'Fixed in review'],
};

// What a person sees of a status: a draft without a revision is still the model's alone.
export const statusOf = ({ status, head, pending }) =>
  status === 'draft' && head === 0 && !pending ? 'proposed' : status;

export function statusBadge(status) {
  const [sign, text] = STATUS[status] ?? ['question', status];
  return h('span', { class: 'g-status', dataset: { status }, title: text }, icon(sign, 12), text.split(' ')[0]);
}

export class QuestionBox {
  // act: { ask(text, wholeDocument), accept() }
  constructor(root, act) {
    this.field = h('textarea', {
      rows: '1',
      maxlength: '1000',
      placeholder: 'Ask this document…',
      'aria-label': 'Ask this document',
      dir: 'auto',
      title: `Type a question   ${hint('ask')}`,
      spellcheck: 'true',
      on: { keydown: (event) => this.key(event), input: () => this.grow(), 'glossator:filled': () => this.grow() },
    });
    this.button = h(
      'button',
      {
        class: 'g-button g-primary g-ask',
        'aria-label': 'Ask',
        title: 'Ask   Enter',
        on: { click: () => this.submit() },
      },
      'Ask',
    );
    this.whole = h('input', { type: 'checkbox', 'aria-label': 'Only this page' });
    this.scope = h('label', { class: 'g-scope' }, this.whole, 'Only this page');
    this.act = act;
    root.append(
      h(
        'div',
        { class: 'g-question-box' },
        this.field,
        h('div', { class: 'g-question-foot' }, this.scope, this.button),
      ),
    );
  }

  key(event) {
    if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    if (this.field.value)
      this.submit(); // nothing but blanks asks nothing, and accepts nothing
    else this.act.accept();
  }

  submit() {
    const text = this.field.value.trim().replace(/\s+/g, ' ');
    if (text) this.act.ask(text, !this.whole.checked);
    else this.field.focus();
  }

  grow() {
    this.field.style.height = 'auto';
    this.field.style.height = `${Math.min(120, this.field.scrollHeight)}px`;
  }

  clear() {
    this.field.value = '';
    this.grow();
  }

  focus() {
    this.field.focus();
    this.field.select();
  }

  render({ document, asking }) {
    this.field.disabled = !document;
    this.button.disabled = !document || asking;
    this.button.textContent = asking ? 'Asking…' : 'Ask';
    this.field.setAttribute('aria-busy', String(asking));
    this.scope.hidden = !document || document.pages.length < 2;
  }
}

export class QuestionList {
  constructor(root, open) {
    this.open = open;
    this.title = h('h3', {});
    this.root = root;
    this.list = h('div', {
      class: 'g-questions',
      role: 'listbox',
      'aria-label': 'Questions asked about this document',
      on: { keydown: (event) => walk(event, '.g-question') },
    });
    root.append(this.title, this.list);
  }

  // annotations: as the document lists them; pending: ids with edits that are not saved yet; mine(line), reason(line): why it was rejected
  render({ document, annotations, annotation, pending, mine, reason }) {
    this.title.textContent = annotations.length ? `Questions · ${annotations.length}` : 'Questions';
    this.root.hidden = !document;
    if (!document) return;
    if (!annotations.length) {
      return replace(
        this.list,
        h(
          'div',
          { class: 'g-empty g-left' },
          h('b', {}, 'No questions yet'),
          h(
            'span',
            {},
            'Ask a question about this document, for example “What is the total?”. The answer is marked on the page.',
          ),
        ),
      );
    }
    const first = annotations.find((each) => each.id === annotation) ?? annotations[0]; // where Tab comes in
    keyed(this.list, annotations, {
      key: (each) => each.id,
      make: (each) =>
        h('button', {
          class: 'g-question',
          role: 'option',
          dataset: { annotation: each.id },
          on: { click: () => this.open(each.id) },
        }),
      dress: (row, each) => {
        row.ariaSelected = String(each.id === annotation);
        row.tabIndex = each === first ? 0 : -1;
        this.fill(row, each, pending.has(each.id), mine(each) ? null : each.author.name, reason(each));
      },
    });
  }

  fill(row, each, pending, author, reason) {
    const answer = each.no_answer ? 'Not answered in this document' : each.text || 'No words marked',
      status = statusOf({ ...each, pending });
    redraw(row, [each.question.text, answer, author, reason, status], () => [
      h('span', { class: 'g-question-text', dir: 'auto' }, each.question.text),
      h('span', { class: 'g-question-answer', dir: 'auto' }, author ? h('b', {}, `${author}: `) : null, answer),
      reason ? h('span', { class: 'g-question-reason', dir: 'auto' }, reason) : null,
      h('span', { class: 'g-question-foot' }, statusBadge(status)),
    ]);
    row.title = [each.question.text, answer, reason].filter(Boolean).join('\n');
  }
}
