// The project's standard questions, one a line: what every document is asked, in this order.

import { get, put, statusOf } from '../core/api.js';
import { h } from '../core/dom.js';
import { openDialog } from '../core/dialog.js';

/** @typedef {{ id: string, name: string }} NamedProject */

/** @param {NamedProject} project */
const listed = async (project) =>
  (await get('/projects/{project_id}/standard-questions', { project_id: project.id })).map((each) => each.text);

/**
 * @param {HTMLElement} root takes the dialog
 * @param {NamedProject} project
 * @param {object} hear
 * @param {(questions: string[]) => unknown} hear.saved the server has taken them
 * @param {(error: unknown) => unknown} hear.failed the dialog opens again with its text
 * @param {{ before: string[], text: string } | null} [draft] that text, and the list that it is to replace
 * @returns {Promise<() => void>} closes the dialog
 */
export async function openStandardQuestions(root, project, { saved, failed }, draft = null) {
  const before = draft?.before ?? (await listed(project));
  const field = h('textarea', {
    class: 'g-lines',
    rows: '10',
    'aria-label': 'Standard questions, one per line',
    placeholder: 'What is the total?\nWho signed it?',
    spellcheck: 'true',
  });
  field.value = draft?.text ?? before.join('\n');
  const close = openDialog(root, {
    title: 'Standard questions',
    body: [
      h(
        'p',
        {},
        `Each question becomes a task for every document of “${project.name}”, in this order. Write one question per line.`,
      ),
      field,
      h('p', { class: 'g-quiet' }, 'Removing a question closes its tasks; its answers are kept.'),
    ],
    actions: [
      {
        label: 'Save questions',
        primary: true,
        run: async () => {
          const questions = field.value
            .split('\n')
            .map((line) => line.trim())
            .filter(Boolean);
          try {
            await put('/projects/{project_id}/standard-questions', { project_id: project.id }, { questions, before });
          } catch (error) {
            failed(error);
            // Whoever has read what others changed saves knowingly: the next try starts from their list.
            const now = statusOf(error) === 409 ? await listed(project).catch(() => before) : before;
            openStandardQuestions(root, project, { saved, failed }, { before: now, text: field.value });
            return;
          }
          saved(questions);
        },
      },
    ],
  });
  field.addEventListener('keydown', (event) => {
    event.stopPropagation();
    if (event.key === 'Escape') close();
  });
  field.focus();
  return close;
}
