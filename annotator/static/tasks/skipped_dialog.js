// The tasks that people skipped, for a reviewer: why, and what becomes of each.

import { get, post, sentenceOf } from '../core/api.js';
import { h } from '../core/dom.js';
import { openDialog } from '../core/dialog.js';
import { REASONS } from './skip_dialog.js';

/** @import { SkipLine, SkipVerdict } from '../types' */

/**
 * @param {HTMLElement} root takes the dialog
 * @param {string} project
 * @param {object} on
 * @param {(line: SkipLine) => unknown} on.answer the reviewer answers the task
 * @param {() => unknown} on.decided
 * @returns {Promise<() => void>} closes the dialog
 */
export async function openSkipped(root, project, { answer, decided }) {
  const lines = await get('/projects/{project_id}/skips', { project_id: project, waiting: true, limit: 100 });
  const list = h('ul', { class: 'g-skipped' });
  const filter = h(
    'select',
    { 'aria-label': 'Reason', on: { change: () => draw() } },
    h('option', { value: '' }, 'All reasons'),
    REASONS.map(({ reason, label }) => h('option', { value: reason }, label)),
  );
  /** @type {Set<string>} tasks on which this reviewer has decided */
  const gone = new Set();

  const draw = () => {
    const shown = lines.filter((line) => !gone.has(line.task_id) && (!filter.value || line.reason === filter.value));
    list.replaceChildren(...shown.map(row));
    if (!shown.length) list.append(h('li', { class: 'g-quiet' }, 'No skipped task waits for you.'));
  };

  /** @param {SkipLine} line */
  const row = (line) => {
    const failure = h('p', { class: 'g-wanting', role: 'alert', hidden: true });
    const remark = h('input', { type: 'text', maxlength: '2000', placeholder: 'Remark', 'aria-label': 'Remark' });
    remark.addEventListener(
      'keydown',
      (event) => event.key !== 'Escape' && event.key !== 'Tab' && event.stopPropagation(),
    );
    const decide = async (/** @type {SkipVerdict['verdict']} */ verdict) => {
      try {
        await post('/tasks/{task_id}/skip/verdict', { task_id: line.task_id }, { verdict, remark: remark.value });
        gone.add(line.task_id);
        draw();
        decided();
      } catch (error) {
        failure.textContent = sentenceOf(error);
        failure.hidden = false;
      }
    };
    const button = (/** @type {string} */ label, /** @type {() => unknown} */ run) =>
      h('button', { class: 'g-button', on: { click: run } }, label);
    const label = REASONS.find((each) => each.reason === line.reason)?.label ?? line.reason;
    return h(
      'li',
      {},
      h('b', { translate: 'no' }, line.question),
      h('small', { translate: 'no' }, line.document),
      h(
        'p',
        {},
        `${label} · `,
        h('bdi', { translate: 'no' }, line.person),
        line.note && ': ',
        h('bdi', { translate: 'no' }, line.note),
      ),
      remark,
      h(
        'div',
        { class: 'g-skip-reasons' },
        button('Answer it', () => (close(), answer(line))),
        button('Send back', () => decide('returned')),
        button('Cannot be answered', () => decide('dismissed')),
      ),
      failure,
    );
  };

  draw();
  const close = openDialog(root, { title: 'Skipped tasks', body: [filter, list], wide: true });
  return close;
}
