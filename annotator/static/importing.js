// The form that brings a dataset in: sent with its progress, answered with what came in or with what is wrong with it.

import { sendFile } from './api.js';
import { count } from './dom.js';

const GOES_ON = 'It goes on without this page.';

function cameIn(answer) {
  const parts = [count(answer.documents, 'document'), count(answer.pages, 'page'), count(answer.answers, 'answer')];
  if (answer.no_answer) parts.push(`${count(answer.no_answer, 'question')} that a document does not answer`);
  const more = [
    answer.known ? `${count(answer.known, 'document')} ${answer.known === 1 ? 'was' : 'were'} there before.` : '',
    answer.read ? `${count(answer.read, 'page')} came without words and ${answer.read === 1 ? 'was' : 'were'} read.` : '',
    ...Object.entries(answer.lost).map(([name, number]) => `Left out: ${number} of ${name}.`),
  ];
  return [`Came in as ${answer.format}: ${parts.join(', ')}.`, ...more].filter(Boolean).join(' ');
}

async function send(form) {
  const said = form.querySelector('output'), button = form.querySelector('button');
  const { file, format, status, ocr } = form.elements;
  const say = (sentence, bad = false) => {
    said.textContent = sentence;
    said.classList.toggle('g-wrong', bad);
  };
  if (button.ariaDisabled === 'true' || !file.files.length) return;
  button.ariaDisabled = 'true';
  say('Sending: 0 %');
  const chosen = new URLSearchParams({ format: format.value, status: status.value, ocr: ocr.checked, progress: true });
  try {
    const answer = await sendFile(`/projects/${form.dataset.import}/import?${chosen}`, 'file', file.files[0],
      (share) => say(share < 1 ? `Sending: ${Math.floor(100 * share)} %` : `Unpacking. ${GOES_ON}`),
      { step: ({ doing, done, of }) => doing && say(`${doing}${of ? `: ${done} of ${of}` : ''}. ${GOES_ON}`) });
    if (answer?.result) form.reset();
    say(answer?.result ? cameIn(answer.result) : answer?.detail ?? 'The server ended before it said what came in. Look at the list of documents.', !answer?.result);
  } catch (error) {
    say(error.message, true);
  } finally {
    button.ariaDisabled = null;
  }
}

// Gradio builds the form anew whenever the project changes: its events are heard on the document.
export function watchImports() {
  document.addEventListener('submit', (event) => {
    const form = event.target.closest('form[data-import]');
    if (!form) return;
    event.preventDefault();
    send(form);
  });
}
