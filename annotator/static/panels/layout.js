// The three columns, as empty rooms, and the space that the window leaves them below Gradio's tabs.

/** @import { Attributes } from '../types' */

import { h } from '../core/dom.js';
import { icon } from '../core/icons.js';

/** @param {HTMLElement} root */
export function buildLayout(root) {
  /**
   * @param {keyof HTMLElementTagNameMap} tag
   * @param {string} name
   * @param {Attributes} [more]
   */
  const room = (tag, name, more = {}) => h(tag, { class: name, ...more });
  const rooms = {
    left: room('section', 'g-left-column', { 'aria-label': 'Documents and pages' }),
    documents: room('section', 'g-documents-room'),
    strip: room('section', 'g-strip', { hidden: true }),
    centre: room('section', 'g-centre', { 'aria-label': 'Page' }),
    toolbar: room('div', 'g-toolbar'),
    stage: room('div', 'g-stage'),
    notice: room('div', 'g-notice', { hidden: true }),
    right: room('section', 'g-right-column', { 'aria-label': 'Question and answer', dataset: { sheet: 'folded' } }),
    sheet: room('div', 'g-sheet', { id: 'g-sheet' }),
    desk: room('div', 'g-desk-room'),
    ask: room('section', 'g-ask-room'),
    suggestions: room('section', 'g-suggestions-room', { hidden: true }),
    answer: room('section', 'g-answer-room'),
    form: room('section', 'g-form-room', { 'aria-label': 'Form' }),
    questions: room('section', 'g-questions-room'),
    spoken: room('div', 'g-spoken', { 'aria-live': 'polite' }),
    dim: room('div', 'g-dim'),
  };
  rooms.left.append(rooms.documents, rooms.strip);
  rooms.stage.append(rooms.notice);
  rooms.centre.append(rooms.toolbar, rooms.stage);
  rooms.sheet.append(rooms.desk, rooms.ask, rooms.suggestions, rooms.answer, rooms.form, rooms.questions);
  rooms.right.append(fold(rooms.right), rooms.sheet);
  root.replaceChildren(rooms.left, rooms.dim, rooms.centre, rooms.right, rooms.spoken);
  return rooms;
}

/** @typedef {ReturnType<typeof buildLayout>} Rooms */

/**
 * Where the window is small, question, answer and decision alone stand beside the page; the rest unfolds.
 *
 * @param {HTMLElement} column
 */
function fold(column) {
  const button = h(
    'button',
    {
      class: 'g-icon-button g-fold',
      'aria-label': 'All details',
      'aria-expanded': 'false',
      'aria-controls': 'g-sheet',
      title: 'All details',
      on: {
        click: () => {
          const open = column.dataset.sheet === 'folded';
          column.dataset.sheet = open ? 'open' : 'folded';
          button.setAttribute('aria-expanded', String(open));
        },
      },
    },
    icon('up'),
  );
  return button;
}

/**
 * Gradio's own frame moves with its version: what counts is where its row of tabs ends.
 *
 * @param {HTMLElement} root
 * @returns {() => void} ends it
 */
export function followTabs(root) {
  const tabs = document.querySelector('[role=tablist]');
  const place = () => {
    if (tabs) root.style.setProperty('--g-top', `${Math.max(0, tabs.getBoundingClientRect().bottom)}px`);
  };
  const observer = new ResizeObserver(place);
  for (const element of [tabs, root.parentElement, document.body]) if (element) observer.observe(element);
  window.addEventListener('resize', place);
  place();
  return () => {
    observer.disconnect();
    window.removeEventListener('resize', place);
  };
}
