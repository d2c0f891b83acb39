// The form that brings a dataset in: sent with its progress, answered with what came in or with what is wrong with it.

import { get, post, sendFile } from './api.js';
import { count, h, keyed, moment } from './dom.js';
import { button } from './people_parts.js';

const GOES_ON = 'It goes on without this page.';
const STOPS = 'It stops at its next step.';
const LOOK_MILLISECONDS = 2000;
const sent = new Map(); // imports that this page has sent, each with its form, which tells of it while it stands
const far = ({ doing, done, of }) => `${doing}${of ? `: ${done} of ${of}` : ''}`;
const stopped = (project, id) => post(`/projects/${project}/imports/${id}/stop`);

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

async function bringIn(form) {
  const said = form.querySelector('output'), [send, stop] = form.querySelectorAll('button'), project = form.dataset.import;
  const { file, format, status, ocr } = form.elements;
  const say = (sentence, bad = false) => {
    said.textContent = sentence;
    said.classList.toggle('g-wrong', bad);
  };
  if (send.ariaDisabled === 'true' || !file.files.length) return;
  send.ariaDisabled = 'true';
  let wanted = false, known = null; // that it stops; its id
  const step = ({ id, ...how }) => {
    if (!id) return;
    known = id;
    sent.set(id, form);
    say(`${far(how)}. ${wanted ? STOPS : GOES_ON}`);
    stop.hidden = wanted;
    stop.onclick = async () => {
      wanted = stop.hidden = true;
      say(`${far(how)}. ${STOPS}`);
      await stopped(project, id).catch(() => {}); // it has ended, which is told in a moment
    };
  };
  say('Sending: 0 %');
  const chosen = new URLSearchParams({ format: format.value, status: status.value, ocr: ocr.checked, progress: true });
  try {
    const answer = await sendFile(`/projects/${project}/import?${chosen}`, 'file', file.files[0],
      (share) => say(share < 1 ? `Sending: ${Math.floor(100 * share)} %` : `Unpacking. ${GOES_ON}`), { step });
    if (answer?.result) form.reset();
    say(answer?.result ? cameIn(answer.result) : answer?.detail ?? 'The server ended before it said what came in. Look at the list of documents.', !answer?.result && !wanted);
  } catch (error) {
    sent.delete(known); // it may go on, and stands in the list then
    say(error.message, true);
  } finally {
    send.ariaDisabled = null;
    stop.hidden = true;
  }
}

// What others brought in, or this person before the page was loaded anew, and is still at work.
async function look() {
  const list = [...document.querySelectorAll('ul[data-imports]')].find((each) => each.parentElement.checkVisibility());
  if (document.hidden || !list?.dataset.imports) return;
  const project = list.dataset.imports, all = await get(`/projects/${project}/imports`).catch(() => null);
  const others = all?.filter(({ id }) => !sent.get(id)?.isConnected);
  if (others) keyed(list, others, { key: ({ id }) => id, make: ({ id }) => row(project, id), dress: (made, one) => made.dress(one) });
}

function row(project, id) {
  const name = h('b'), how = h('span'), stop = button('Stop', async () => (await stopped(project, id).catch(() => {}), look()));
  const made = h('li', {}, h('div', { class: 'g-row-text' }, name, how), h('div', { class: 'g-row-acts' }, stop));
  made.dress = (one) => {
    const { by, began_at: began, stopping } = one;
    name.textContent = one.name;
    how.textContent = `${far(one)} · ${stopping ? STOPS : `brought in by ${by}, ${moment(began)}`}`;
    stop.hidden = stopping;
  };
  return made;
}

// Gradio builds the form anew whenever the project changes: its events are heard on the document.
export function watchImports() {
  document.addEventListener('submit', (event) => {
    const form = event.target.closest('form[data-import]');
    if (!form) return;
    event.preventDefault();
    bringIn(form);
  });
  setInterval(look, LOOK_MILLISECONDS);
}
