// The three columns, as empty rooms, and the space that the window leaves them below Gradio's tabs.

/** @import { Attributes } from '../types' */

import { h } from '../core/dom.js';

/** @param {HTMLElement} root */
export function buildLayout(root) {
  /**
   * @param {keyof HTMLElementTagNameMap} tag
   * @param {string} name
   * @param {Attributes} [more]
   */
  const room = (tag, name, more = {}) => h(tag, { class: name, ...more });
  const rooms = {
    left: room('aside', 'g-left-column', { 'aria-label': 'Documents and pages' }),
    documents: room('section', 'g-documents-room'),
    strip: room('section', 'g-strip', { hidden: true }),
    centre: room('main', 'g-centre', { 'aria-label': 'Page' }),
    toolbar: room('div', 'g-toolbar'),
    stage: room('div', 'g-stage'),
    notice: room('div', 'g-notice', { hidden: true }),
    right: room('aside', 'g-right-column', { 'aria-label': 'Question and answer' }),
    desk: room('section', 'g-desk-room', { 'aria-label': 'Work mode' }),
    ask: room('section', 'g-ask-room'),
    suggestions: room('section', 'g-suggestions-room', { hidden: true }),
    answer: room('section', 'g-answer-room'),
    questions: room('section', 'g-questions-room'),
    spoken: room('div', 'g-spoken', { 'aria-live': 'polite' }),
    dim: room('div', 'g-dim'),
  };
  rooms.left.append(rooms.documents, rooms.strip);
  rooms.stage.append(rooms.notice);
  rooms.centre.append(rooms.toolbar, rooms.stage);
  rooms.right.append(rooms.desk, rooms.ask, rooms.suggestions, rooms.answer, rooms.questions);
  root.replaceChildren(rooms.left, rooms.dim, rooms.centre, rooms.right, rooms.spoken);
  return rooms;
}

/**
 * Gradio's own frame moves with its version: what counts is where its row of tabs ends.
 *
 * @param {HTMLElement} root
 * @returns {() => void} ends it
 */
export function followTabs(root) {
  const tabs = document.querySelector('[role=tablist]');
  const place = () => root.style.setProperty('--g-top', `${Math.max(0, tabs?.getBoundingClientRect().bottom ?? 0)}px`);
  const observer = new ResizeObserver(place);
  for (const element of [tabs, root.parentElement, document.body]) if (element) observer.observe(element);
  window.addEventListener('resize', place);
  place();
  return () => {
    observer.disconnect();
    window.removeEventListener('resize', place);
  };
}
