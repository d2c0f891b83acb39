// The tab Export: a button that starts an export, and the list of the project's exports with their files.

import { post } from '../core/api.js';
import { h, keyed } from '../core/dom.js';
import { count, moment, percent } from '../core/text.js';
import { button, once } from './people_parts.js';
import { WatchedList } from './watched_list.js';

const STATE = {
  waiting: ['waiting', 'plain'],
  running: ['running', 'busy'],
  done: ['done', 'good'],
  failed: ['failed', 'bad'],
};
const STOPS = 'The export stops at its next step.';
const exports = new WatchedList('exports', show, (project, id) =>
  post('/projects/{project_id}/exports/{export_id}/stop', { project_id: project, export_id: id }, undefined),
);

function show(list, project, all, error) {
  const none = list.parentElement.querySelector('.g-none');
  if (error) {
    none.hidden = list.children.length > 0;
    none.textContent = error.message;
    return;
  }
  none.hidden = all.length > 0;
  none.textContent = 'No exports yet.';
  keyed(list, all, { key: ({ id }) => id, make: ({ id }) => row(project, id), dress: (made, one) => made.dress(one) });
}

function row(project, id) {
  const title = h('b'),
    badge = h('span'),
    how = h('span', { class: 'g-job-message' }),
    about = h('span'),
    failure = h('span', { class: 'g-job-failure' });
  const done = h('i'),
    bar = h(
      'div',
      {
        class: 'glossator-bar',
        role: 'progressbar',
        'aria-label': 'Progress',
        'aria-valuemin': 0,
        'aria-valuemax': 100,
      },
      done,
    );
  const stop = button('Stop', () => exports.stop(project, id, (sentence) => set(failure, sentence)));
  const fetch = h(
    'a',
    { class: 'g-act', href: `/api/projects/${project}/exports/${id}/file`, download: true },
    'Download',
  );
  const made = h(
    'li',
    { class: 'g-job' },
    h('div', { class: 'g-row-text' }, h('div', { class: 'g-job-head' }, title, badge), how, failure, about, bar),
    h('div', { class: 'g-row-acts' }, fetch, stop),
  );
  made.dress = (one) => {
    const [word, look] = STATE[one.state],
      running = one.state === 'running';
    set(title, one.title);
    badge.className = `glossator-badge ${look}`;
    set(badge, running ? `${word}, ${percent(one.progress)}` : word);
    set(how, one.state === 'failed' ? '' : one.stopping ? STOPS : one.state === 'done' ? found(one) : one.message);
    set(failure, one.state === 'failed' ? one.message : '');
    set(about, [one.chosen, `started by ${one.by}, ${moment(one.asked_at)}`].filter(Boolean).join(' · '));
    bar.hidden = !running;
    bar.setAttribute('aria-valuenow', Math.round(100 * one.progress));
    done.style.width = `${100 * one.progress}%`;
    stop.hidden = one.stopping || !(running || one.state === 'waiting');
    fetch.hidden = one.state !== 'done';
    fetch.setAttribute('aria-label', `Download ${one.title}, ${moment(one.asked_at)}`);
  };
  return made;
}

const found = (one) => `${count(one.answers, 'answer')} · ${size(one.bytes)} · kept until ${moment(one.kept_until)}`;

function size(bytes) {
  const [unit, name] = [
    [1e9, 'GB'],
    [1e6, 'MB'],
    [1e3, 'KB'],
    [1, 'bytes'],
  ].find(([each]) => bytes >= each) ?? [1, 'bytes'];
  return `${(bytes / unit).toLocaleString('en-GB', { maximumFractionDigits: unit === 1 ? 0 : 1 })} ${name}`;
}

const set = (element, text) => {
  if (element.textContent !== text) element.textContent = text;
  element.hidden = !text;
};

async function start({ dataset }) {
  const said = exports.seen?.parentElement.querySelector('.g-say');
  const say = (sentence) => said && Object.assign(said, { textContent: sentence, hidden: !sentence });
  say('');
  try {
    await post(
      '/projects/{project_id}/exports',
      { project_id: dataset.export, ...Object.fromEntries(new URLSearchParams(dataset.chosen)) },
      undefined,
    );
  } catch (error) {
    say(error.message);
  }
  await exports.look();
}

// Gradio builds the button anew with every filter: its events are heard on the document.
export function watchExports() {
  document.addEventListener('click', (event) => {
    const pressed = event.target.closest?.('button[data-export]');
    if (pressed) once(pressed, () => start(pressed));
  });
  exports.watch();
}
