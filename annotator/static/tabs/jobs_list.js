// The jobs of a project: how far each is or why it failed, and stopping it or having it tried again.

import { post } from '../core/api.js';
import { h, keyed } from '../core/dom.js';
import { moment, percent } from '../core/text.js';
import { Say, button, card, twice } from './people_parts.js';

// Words of a status, and how it looks.
const STATUS = {
  waiting: ['waiting', 'plain'],
  running: ['running', 'busy'],
  done: ['done', 'good'],
  failed: ['failed', 'bad'],
  dead: ['given up', 'bad'],
  cancelled: ['stopped', 'plain'],
};
const KINDS = { retrain: 'Retraining', survey: 'Survey', import: 'Import', export: 'Export', read: 'Document' };
const MOST = 50;

export class JobsCard {
  constructor(admin, changed) {
    Object.assign(this, { admin, changed });
    this.say = new Say();
    this.list = h('ul', { class: 'g-rows g-job-rows' });
    this.none = h(
      'p',
      { class: 'g-none', hidden: true },
      'No jobs yet. A retraining starts automatically after enough accepted answers, or with “Retrain now” on the tab Training.',
    );
    this.root = card('Jobs', this.say.root, this.none, this.list);
  }

  show(jobs) {
    this.none.hidden = jobs.length > 0;
    keyed(this.list, jobs.slice(0, MOST), {
      key: (job) => job.id,
      make: (job) => this.row(job),
      dress: (row, job) => row.dress(job),
    });
  }

  // A row is made once and dressed at every look, so that a question that a button asks stays asked.
  row(job) {
    const badge = h('span'),
      when = h('span', { class: 'g-job-when' }),
      message = h('span', { class: 'g-job-message' }),
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
    const stop = twice('Stop', 'Confirm stop', () =>
      this.act('/jobs/{job_id}/cancel', job.id, 'The job stops at its next step.'),
    );
    const again = button('Try again', () =>
      this.act('/jobs/{job_id}/retry', job.id, 'The job is waiting for a worker.'),
    );
    const row = h(
      'li',
      { class: 'g-job' },
      h(
        'div',
        { class: 'g-row-text' },
        h('div', { class: 'g-job-head' }, h('b', {}, KINDS[job.kind] ?? job.kind), badge, when),
        message,
        failure,
        bar,
      ),
      this.admin ? h('div', { class: 'g-row-acts' }, stop, again) : null,
    );
    row.dress = (now) => {
      const [word, look] = STATUS[now.status] ?? [now.status, 'plain'];
      badge.className = `glossator-badge ${look}`;
      set(badge, now.status === 'running' ? `${word}, ${percent(now.progress)}` : word);
      set(when, times(now));
      set(message, now.message);
      set(failure, now.failure && !now.message.includes(now.failure) ? `Previous failure: ${now.failure}` : '');
      bar.hidden = now.status !== 'running';
      bar.setAttribute('aria-valuenow', Math.round(100 * now.progress));
      done.style.width = `${100 * now.progress}%`;
      stop.hidden = !['waiting', 'running'].includes(now.status);
      again.hidden = !['failed', 'dead'].includes(now.status);
    };
    return row;
  }

  async act(path, job, done) {
    await this.say.act(() => post(path, { job_id: job }, undefined), done);
    await this.changed();
  }
}

const set = (element, text) => {
  if (element.textContent !== text) element.textContent = text;
  element.hidden = !text;
};

// When it was asked for, how long it took, which attempt it is, and when the next one comes.
function times(job) {
  const said = [moment(job.created_at)];
  if (job.started_at && job.finished_at)
    said.push(`took ${span(new Date(job.finished_at) - new Date(job.started_at))}`);
  if (job.attempts > 1 || job.failure) said.push(`attempt ${job.attempts} of ${job.max_attempts}`);
  if (job.status === 'waiting' && new Date(job.run_after) > new Date())
    said.push(`next attempt at ${moment(job.run_after)}`);
  return said.join(' · ');
}

function span(milliseconds) {
  const seconds = Math.max(0, Math.round(milliseconds / 1000));
  return seconds < 120
    ? `${seconds} s`
    : seconds < 7200
      ? `${Math.round(seconds / 60)} min`
      : `${Math.round(seconds / 3600)} h`;
}
