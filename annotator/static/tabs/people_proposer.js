// Another model that proposes answers: what the project asks, how far that is, and the tokens that it took.

import { get, post, put, remove } from '../core/api.js';
import { h, redraw } from '../core/dom.js';
import { count } from '../core/text.js';
import { JobRow } from './jobs_list.js';
import { Rows, Say, button, card, row, time, twice } from './people_parts.js';
import { proposerForm } from './people_proposer_form.js';

/** @import { JobView, OutsideModelView, ProjectView, ProposerState, ProposerView, WantedProposer } from '../types' */

const PATH = '/projects/{project_id}/proposer';
const OPEN = ['waiting', 'running'];

export class ProposerCard {
  /** @param {ProjectView} project */
  constructor(project) {
    this.project = project;
    this.admin = project.role === 'admin';
    this.say = new Say();
    this.asked = h('ul', { class: 'g-rows' });
    this.form = h('div', { class: 'g-tokens', hidden: true });
    const job = h('ul', { class: 'g-rows g-job-rows' });
    this.job = new Rows(job, (/** @type {JobView} */ each) => new JobRow(this, each));
    this.models = h('ul', { class: 'g-rows' });
    this.changing = false;
    this.root = card(
      `Another model for ${project.name}`,
      h(
        'p',
        {},
        'Another model can propose answers. Its server gets the pages and fields of the project. ',
        'A text becomes a proposal only where a page prints it, and people decide.',
      ),
      this.asked,
      this.say.root,
      this.form,
      job,
      this.models,
    );
  }

  get values() {
    return { project_id: this.project.id };
  }

  load() {
    return this.say.load(async () => this.render(await get(PATH, this.values)));
  }

  /** @param {ProposerState} state */
  render(state) {
    const { proposer, addresses, job, models } = state;
    redraw(this.asked, [proposer, addresses, this.changing, OPEN.includes(job?.status ?? '')], () =>
      proposer ? this.row(proposer, job) : this.none(addresses),
    );
    redraw(this.form, this.changing && [addresses, proposer?.number], () =>
      this.changing ? proposerForm(state, (wanted) => this.store(wanted)) : null,
    );
    this.form.hidden = !this.changing;
    this.job.show(job ? [job] : []);
    redraw(this.models, models, () => models.map(version));
  }

  /** @param {readonly string[]} addresses */
  none(addresses) {
    if (!addresses.length)
      return row('No other model', [
        'The administrator allows no server yet. Setting: ',
        h('code', {}, 'GLOSSATOR_PROPOSER_ADDRESSES'),
      ]);
    const hint = this.admin ? `Allowed servers: ${addresses.join(', ')}` : 'An admin of the project can set one.';
    return row('No other model', hint, this.admin && this.changeButton('Set model'));
  }

  /**
   * @param {ProposerView} proposer
   * @param {JobView | null} job
   */
  row(proposer, job) {
    return row(
      proposer.model,
      [
        `${proposer.url} · ${proposer.alone ? 'instead of the own model' : 'beside the own model'}`,
        ` · ${proposer.automatic ? 'asked about new documents automatically' : 'asked on request'}`,
        proposer.has_key ? ' · with a key' : '',
        ` · settings ${proposer.number} by ${proposer.changed_by}, `,
        time(proposer.changed_at),
      ],
      OPEN.includes(job?.status ?? '') ? null : button('Ask about documents', () => this.ask(), 'g-first'),
      this.admin && this.changeButton('Change'),
      this.admin && twice('Remove', 'Confirm removal', () => this.change(() => remove(PATH, this.values))),
    );
  }

  /** @param {string} text */
  changeButton(text) {
    return button(this.changing ? 'Cancel' : text, () => {
      this.changing = !this.changing;
      this.say.show('');
      return this.load();
    });
  }

  /**
   * Does something, and fetches what became of it. Resolves to whether it went.
   *
   * @param {() => Promise<unknown>} step
   * @param {string} [done]
   */
  async change(step, done) {
    const went = await this.say.act(step, done);
    await this.load();
    return went;
  }

  /** @param {WantedProposer} wanted */
  store(wanted) {
    return this.change(async () => {
      await put(PATH, this.values, wanted);
      this.changing = false;
    });
  }

  ask() {
    return this.change(() => post('/projects/{project_id}/proposer/requests', this.values, {}));
  }

  /**
   * Of the row of the job.
   *
   * @param {'/jobs/{job_id}/cancel' | '/jobs/{job_id}/retry'} path
   * @param {string} job
   * @param {string} done
   */
  async act(path, job, done) {
    await this.change(() => post(path, { job_id: job }, undefined), done);
  }
}

/**
 * A version of another model with what it took.
 *
 * @param {OutsideModelView} model
 */
function version(model) {
  const took = [
    count(model.requests, 'request'),
    `${model.tokens_in.toLocaleString('en')} tokens read`,
    `${model.tokens_out.toLocaleString('en')} written`,
    `${Math.round(model.milliseconds / 1000).toLocaleString('en')} s`,
  ];
  const line = row(
    `${model.name} ${model.version}`,
    model.requests ? took.join(' · ') : 'Sent by another program',
    h('span', { class: 'g-tag' }, time(model.created_at)),
  );
  if (model.prompt) {
    const prompt = h('details', {}, h('summary', {}, 'Prompt'), h('p', { class: 'g-prompt' }, model.prompt));
    line.firstElementChild?.append(prompt);
  }
  return line;
}
