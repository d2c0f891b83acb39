// The project's standard questions, one a line: what every document is asked, in this order.

import { get, put } from '../core/api.js';
import { h } from '../core/dom.js';
import { openDialog } from '../core/dialog.js';

const listed = async (project) =>
  (await get('/projects/{project_id}/standard-questions', { project_id: project.id })).map((each) => each.text);

// saved(questions) after the server has taken them; failed(error) keeps the dialog's text for another try. draft: that text, and the
// list that it is to replace.
export async function openStandardQuestions(root, project, { saved, failed }, draft = null) {
  const { before, text } = draft ?? { before: await listed(project), text: null };
  const field = h('textarea', {
    class: 'g-lines',
    rows: '10',
    'aria-label': 'Standard questions, one per line',
    placeholder: 'What is the total?\nWho signed it?',
    spellcheck: 'true',
  });
  field.value = text ?? before.join('\n');
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
            const now = error.status === 409 ? await listed(project).catch(() => before) : before;
            openStandardQuestions(root, project, { saved, failed }, { before: now, text: field.value });
            return;
          }
          saved(questions);
        },
      },
    ],
  });
  field.addEventListener('keydown', (event) => event.stopPropagation() || (event.key === 'Escape' && close()));
  field.focus();
  return close;
}
