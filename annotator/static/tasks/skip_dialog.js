// Says why a task cannot be answered: one digit a reason, and a note for the reviewer.

import { h } from '../core/dom.js';
import { openDialog } from '../core/dialog.js';

/** @import { SkipRequest } from '../types' */

/** @typedef {SkipRequest['reason']} SkipReason */

/** @type {readonly { reason: SkipReason, label: string }[]} */
export const REASONS = [
  { reason: 'unreadable', label: 'Unreadable' },
  { reason: 'not_sure', label: 'Not sure' },
  { reason: 'wrong_document', label: 'Wrong document' },
  { reason: 'other', label: 'Other reason' },
];

/**
 * Opens the dialog and returns the function that closes it.
 *
 * @param {HTMLElement} root takes the dialog
 * @param {string} question of the task
 * @param {(reason: SkipReason, note: string) => unknown} skip
 */
export function openSkipDialog(root, question, skip) {
  const wanting = h('p', { class: 'g-wanting', role: 'alert', hidden: true }, 'Write what is wrong.');
  const note = h('textarea', {
    rows: '3',
    maxlength: '2000',
    'aria-label': 'Note for the reviewer',
    placeholder: 'Note for the reviewer (needed for another reason)',
  });
  const choose = (/** @type {SkipReason} */ reason) => {
    const words = note.value.trim();
    if (reason === 'other' && !words) {
      wanting.hidden = false;
      note.focus();
      return;
    }
    close();
    skip(reason, words);
  };
  const reasons = REASONS.map(({ reason, label }, at) =>
    h(
      'button',
      { class: 'g-button', dataset: { reason }, on: { click: () => choose(reason) } },
      h('kbd', {}, String(at + 1)),
      ` ${label}`,
    ),
  );
  const body = h(
    'div',
    { class: 'g-skip' },
    h('p', {}, 'Nobody gets this task until a reviewer has decided: ', h('bdi', { translate: 'no' }, question)),
    h('div', { class: 'g-skip-reasons', role: 'group', 'aria-label': 'Reasons' }, reasons),
    note,
    wanting,
  );
  const close = openDialog(root, { title: 'Skip this task', body });
  const dialog = body.closest('.g-dialog');
  dialog?.addEventListener('keydown', (event) => {
    if (!(event instanceof KeyboardEvent) || event.key === 'Escape' || event.key === 'Tab') return;
    event.stopPropagation(); // no key of the page
    if (event.target === note) {
      if (event.key === 'Enter' && !event.shiftKey && !event.isComposing && event.keyCode !== 229) {
        event.preventDefault();
        choose('other');
      }
      return;
    }
    const digit = /^Digit(\d)$/.exec(event.code)?.[1] ?? event.key;
    const chosen = REASONS[Number(digit) - 1];
    if (!chosen || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    choose(chosen.reason);
  });
  return close;
}
