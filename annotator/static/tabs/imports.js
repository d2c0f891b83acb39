// The form that brings a dataset in: sent with its progress, answered with what came in or with what is wrong with it.

import { post, sendFile } from '../core/api.js';
import { h, keyed } from '../core/dom.js';
import { count, moment } from '../core/text.js';
import { button } from './people_parts.js';
import { WatchedList } from './watched_list.js';

const GOES_ON = 'The import continues when this page is closed.';
const STOPS = 'The import stops at its next step.';
const imports = new WatchedList('imports', show, (project, id) => stopped(project, id));
const sent = new Map(); // imports that this page has sent, each with its form, which tells of it while it stands
const outcomes = new Map(); // by project: what is to be said of an import whose form went away, and whether it is bad
const far = ({ doing, done, of }) => `${doing}${of ? `: ${done} of ${of}` : ''}`;
const stopped = (project, id) =>
  post('/projects/{project_id}/imports/{import_id}/stop', { project_id: project, import_id: id }, undefined);

function cameIn(answer) {
  const parts = [count(answer.documents, 'document'), count(answer.pages, 'page'), count(answer.answers, 'answer')];
  if (answer.no_answer) parts.push(`${count(answer.no_answer, 'question')} without an answer`);
  const more = [
    answer.known ? `${count(answer.known, 'document')} existed before.` : '',
    answer.read ? `${count(answer.read, 'page')} without words ${answer.read === 1 ? 'was' : 'were'} read by OCR.` : '',
    ...Object.entries(answer.lost).map(([name, number]) => `Left out: ${number} of ${name}.`),
  ];
  return [`Imported as ${answer.format}: ${parts.join(', ')}.`, ...more].filter(Boolean).join(' ');
}

function sayIn(output, sentence, bad = false) {
  output.textContent = sentence;
  output.classList.toggle('g-wrong', bad);
}

async function bringIn(form) {
  const said = form.querySelector('output'),
    [send, stop] = form.querySelectorAll('button'),
    project = form.dataset.import;
  const { file, format, status, ocr } = form.elements;
  const say = (...told) => sayIn(said, ...told);
  if (send.ariaDisabled === 'true' || !file.files.length) return;
  send.ariaDisabled = 'true';
  let wanted = false,
    known = null; // that it stops; its id
  const step = ({ id, ...how }) => {
    if (!id) return;
    known = id;
    sent.set(id, form);
    say(`${far(how)}. ${wanted ? STOPS : GOES_ON}`);
    stop.hidden = wanted;
    stop.onclick = async () => {
      wanted = stop.hidden = true;
      say(`${far(how)}. ${STOPS}`);
      try {
        await stopped(project, id);
      } catch (error) {
        if (error.status === 404) return; // it has ended, which is told in a moment
        wanted = stop.hidden = false;
        say(error.message, true);
      }
    };
  };
  const end = (...told) => (form.isConnected ? say(...told) : outcomes.set(project, told));
  say('Sending: 0 %');
  const chosen = new URLSearchParams({ format: format.value, status: status.value, ocr: ocr.checked, progress: true });
  try {
    const answer = await sendFile(
      `/api/projects/${project}/import?${chosen}`,
      'file',
      file.files[0],
      (share) => say(share < 1 ? `Sending: ${Math.floor(100 * share)} %` : `Unpacking. ${GOES_ON}`),
      { step },
    );
    if (answer?.result) form.reset();
    end(
      answer?.result
        ? cameIn(answer.result)
        : (answer?.detail ?? 'The connection ended without a result. Check the list of documents.'),
      !answer?.result && !answer?.detail?.startsWith('Stopped'),
    );
  } catch (error) {
    end(error.message, true);
  } finally {
    sent.delete(known); // where the line was cut it may go on, and stands in the list then
    send.ariaDisabled = null;
    stop.hidden = true;
  }
}

// What others brought in, or this person before the page was loaded anew, and is still at work.
function show(list, project, all) {
  if (outcomes.has(project)) sayIn(list.parentElement.querySelector('output'), ...outcomes.get(project));
  outcomes.delete(project);
  const others = all?.filter(({ id }) => !sent.get(id)?.isConnected);
  if (others)
    keyed(list, others, {
      key: ({ id }) => id,
      make: ({ id }) => row(project, id),
      dress: (made, one) => made.dress(one),
    });
}

function row(project, id) {
  const name = h('b'),
    how = h('span'),
    stop = button('Stop', () => imports.stop(project, id, (sentence) => (how.textContent = sentence)));
  const made = h('li', {}, h('div', { class: 'g-row-text' }, name, how), h('div', { class: 'g-row-acts' }, stop));
  made.dress = (one) => {
    const { by, began_at: began, stopping } = one;
    name.textContent = one.name;
    how.textContent = `${far(one)} · ${stopping ? STOPS : `started by ${by}, ${moment(began)}`}`;
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
  imports.watch();
}
