// "Ask this document...": the field and its scope.

import { h } from '../core/dom.js';
import { hint } from '../core/keyboard.js';

const TALLEST = 120; // pixels of the field

/**
 * @typedef {object} QuestionBoxActs
 * @property {(text: string, wholeDocument: boolean) => unknown} ask
 * @property {() => unknown} accept Enter in the empty field
 */

/**
 * @typedef {object} QuestionBoxView
 * @property {{ pages: readonly unknown[] } | null} document
 * @property {boolean} asking
 * @property {boolean} loading whether the server still loads its networks
 */

export class QuestionBox {
  /**
   * @param {HTMLElement} root
   * @param {QuestionBoxActs} act
   */
  constructor(root, act) {
    this.act = act;
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
        title: 'Ask   Enter',
        on: { click: () => this.submit() },
      },
      'Ask',
    );
    this.only = h('input', { type: 'checkbox', 'aria-label': 'Only this page' });
    this.scope = h('label', { class: 'g-scope' }, this.only, 'Only this page');
    this.loading = h('p', { class: 'g-quiet', role: 'status' });
    root.append(
      h(
        'div',
        { class: 'g-question-box' },
        this.field,
        this.loading,
        h('div', { class: 'g-question-foot' }, this.scope, this.button),
      ),
    );
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    if (event.key !== 'Enter' || event.shiftKey) return;
    event.preventDefault();
    if (this.field.value)
      this.submit(); // nothing but blanks asks nothing, and accepts nothing
    else this.act.accept();
  }

  submit() {
    const text = this.field.value.trim().replace(/\s+/g, ' ');
    if (text) this.act.ask(text, !this.only.checked);
    else this.field.focus();
  }

  grow() {
    this.field.style.height = 'auto';
    this.field.style.height = `${Math.min(TALLEST, this.field.scrollHeight)}px`;
  }

  clear() {
    this.field.value = '';
    this.grow();
  }

  focus() {
    this.field.focus();
    this.field.select();
  }

  /** @param {QuestionBoxView} view */
  render({ document, asking, loading }) {
    const sentence = document && loading ? 'The model is loading. The first answer waits for it.' : '';
    if (this.loading.textContent !== sentence) this.loading.textContent = sentence;
    this.field.disabled = !document;
    this.button.disabled = !document || asking;
    this.button.textContent = asking ? 'Asking…' : 'Ask';
    this.field.setAttribute('aria-busy', String(asking));
    this.scope.hidden = !document || document.pages.length < 2;
  }
}
