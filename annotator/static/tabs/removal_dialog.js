// A dialog before something is deleted for good: it says what will be lost, and why it was refused.

import { sentenceOf } from '../core/api.js';
import { openDialog } from '../core/dialog.js';
import { h } from '../core/dom.js';
import { once, set } from './people_parts.js';

/**
 * Asks, and deletes after a yes. It closes once that is done; a refusal is said in it.
 *
 * @param {object} question
 * @param {string} question.title
 * @param {string[]} question.sentences what will be lost
 * @param {string} question.yes label of the button that deletes
 * @param {string} question.no label of the button that does not
 * @param {() => Promise<unknown>} run
 */
export function askRemoval({ title, sentences, yes, no }, run) {
  const over = h('div', { class: 'glossator g-over' }),
    refusal = h('p', { class: 'g-removal-refused', role: 'alert', hidden: true });
  document.body.append(over);
  /** @type {HTMLButtonElement} */
  const removal = h(
    'button',
    { class: 'g-button g-danger', type: 'button', on: { click: () => once(removal, remove) } },
    yes,
  );
  const keep = h('button', { class: 'g-button', type: 'button', on: { click: () => close() } }, no);
  const close = openDialog(over, {
    title,
    body: [sentences.map((sentence) => h('p', {}, sentence)), refusal, h('div', { class: 'g-removal' }, keep, removal)],
    closed: () => over.remove(),
  });
  keep.focus();

  async function remove() {
    set(refusal, '');
    try {
      await run();
      close();
    } catch (error) {
      set(refusal, sentenceOf(error));
    }
  }
}
