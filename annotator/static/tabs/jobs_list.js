// The jobs of a project: how far each is or why it failed, and stopping it or having it tried again.

import { getPage, post } from '../core/api.js';
import { h } from '../core/dom.js';
import { Pages } from '../core/pages.js';
import { moment, percent } from '../core/text.js';
import { MoreButton, ProgressBar, Rows, Say, button, card, set, twice } from './people_parts.js';

/** @import { JobView } from '../types' */

/** @type {Record<string, [string, string]>} words of a status, and how it looks */
const STATUS = {
  waiting: ['waiting', 'plain'],
  running: ['running', 'busy'],
  done: ['done', 'good'],
  failed: ['failed', 'bad'],
  dead: ['given up', 'bad'],
  cancelled: ['stopped', 'plain'],
};
/** @type {Record<string, string>} */
const KINDS = {
  retrain: 'Retraining',
  survey: 'Survey',
  import: 'Import',
  export: 'Export',
  read: 'Document',
  read_again: 'Reading again',
  transfer: 'Moving or copying documents',
  propose: 'Another model',
};
const PAGE = 50; // jobs
const MOST = 1000; // jobs that the server sends at once

export class JobsCard {
  /**
   * @param {string} project
   * @param {boolean} admin whether the person may stop jobs
   * @param {() => unknown} changed
   */
  constructor(project, admin, changed) {
    this.admin = admin;
    this.changed = changed;
    this.say = new Say();
    const values = { project_id: project };
    /** @type {Pages<JobView>} */
    this.pages = new Pages((page) => getPage('/projects/{project_id}/jobs', { ...values, ...page }), PAGE, MOST);
    this.more = new MoreButton(this.pages, this.say, () => this.render(), 'Show older');
    const list = h('ul', { class: 'g-rows g-job-rows' });
    this.rows = new Rows(list, (/** @type {JobView} */ job) => new JobRow(this, job));
    this.none = h(
      'p',
      { class: 'g-none', hidden: true },
      'No jobs yet. A retraining starts automatically after enough accepted answers, or with “Retrain now” on the tab Training.',
    );
    this.root = card('Jobs', this.say.root, this.none, list, this.more.root);
  }

  async load() {
    await this.pages.load();
    this.render();
  }

  render() {
    const jobs = this.pages.items;
    this.none.hidden = jobs.length > 0;
    this.rows.show(jobs);
    this.more.draw();
  }

  /**
   * @param {'/jobs/{job_id}/cancel' | '/jobs/{job_id}/retry'} path
   * @param {string} job
   * @param {string} done
   */
  async act(path, job, done) {
    await this.say.act(() => post(path, { job_id: job }, undefined), done);
    await this.changed();
  }
}

export class JobRow {
  /**
   * @param {{ admin: boolean, act: JobsCard['act'] }} list
   * @param {JobView} job
   */
  constructor(list, job) {
    this.badge = h('span');
    this.when = h('span', { class: 'g-job-when' });
    this.message = h('span', { class: 'g-job-message' });
    this.failure = h('span', { class: 'g-job-failure' });
    this.bar = new ProgressBar();
    this.stop = twice('Stop', 'Confirm stop', () =>
      list.act('/jobs/{job_id}/cancel', job.id, 'The job stops at its next step.'),
    );
    this.again = button('Try again', () =>
      list.act('/jobs/{job_id}/retry', job.id, 'The job is waiting for a worker.'),
    );
    const head = h('div', { class: 'g-job-head' }, h('b', {}, KINDS[job.kind] ?? job.kind), this.badge, this.when);
    this.root = h(
      'li',
      { class: 'g-job' },
      h('div', { class: 'g-row-text' }, head, this.message, this.failure, this.bar.root),
      list.admin && h('div', { class: 'g-row-acts' }, this.stop, this.again),
    );
    this.updateRow = this.updateRow.bind(this);
  }

  /** @param {JobView} job */
  updateRow(job) {
    const [word, look] = STATUS[job.status] ?? [job.status, 'plain'];
    const running = job.status === 'running';
    this.badge.className = `glossator-badge ${look}`;
    set(this.badge, running ? `${word}, ${percent(job.progress)}` : word);
    set(this.when, times(job));
    set(this.message, job.message);
    set(this.failure, job.failure && !job.message.includes(job.failure) ? `Previous failure: ${job.failure}` : '');
    this.bar.show(running, job.progress);
    this.stop.hidden = !['waiting', 'running'].includes(job.status);
    this.again.hidden = !['failed', 'dead'].includes(job.status);
  }
}

/**
 * When it was asked for, how long it took, which attempt it is, and when the next one comes.
 *
 * @param {JobView} job
 */
function times(job) {
  const said = [moment(job.created_at)];
  if (job.started_at && job.finished_at)
    said.push(`took ${span(Date.parse(job.finished_at) - Date.parse(job.started_at))}`);
  if (job.attempts > 1 || job.failure) said.push(`attempt ${job.attempts} of ${job.max_attempts}`);
  if (job.status === 'waiting' && Date.parse(job.run_after) > Date.now())
    said.push(`next attempt at ${moment(job.run_after)}`);
  return said.join(' · ');
}

/** @param {number} milliseconds */
function span(milliseconds) {
  const seconds = Math.max(0, Math.round(milliseconds / 1000));
  if (seconds < 120) return `${seconds} s`;
  return seconds < 7200 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3600)} h`;
}
