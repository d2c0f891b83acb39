// The triggers of a project's retrainings, how near the next one is, the worker that watches them, and their history.

import { patch } from '../core/api.js';
import { h, redraw } from '../core/dom.js';
import { count } from '../core/text.js';
import { Rows, Say, button, card, onSubmit, time } from './people_parts.js';

/** @import { Child, FiringView, ProjectView, SchedulerView, TriggersView } from '../types' */

/** @type {Record<string, [string, string]>} */
const OUTCOMES = {
  asked: ['retraining', 'good'],
  busy: ['already running', 'plain'],
  nothing_new: ['no new answers', 'plain'],
  missed: ['missed', 'bad'],
};
/** @type {Record<string, string>} */
const BY = { clock: 'Schedule', count: 'Count', age: 'Age' };

export class TriggersCard {
  /**
   * @param {ProjectView} project
   * @param {boolean} admin whether the person may change them
   * @param {() => unknown} changed
   */
  constructor(project, admin, changed) {
    this.project = project;
    this.changed = changed;
    this.say = new Say();
    this.state = h('div', { class: 'g-triggers' });
    this.fields = {
      automatic: h('input', { type: 'checkbox' }),
      after: h('input', { type: 'number', min: 1, required: true }),
      days: h('input', { type: 'number', min: 0, step: 'any', required: true }),
      cron: h('input', { spellcheck: 'false', maxlength: 120 }),
      zone: h('input', { spellcheck: 'false', maxlength: 60, list: 'g-zones' }),
    };
    this.form = admin ? this.settings() : null;
    this.root = card('Retraining triggers', this.state, this.say.root, this.form);
  }

  // Whether somebody has opened the settings: they are not drawn anew under their hands.
  get editing() {
    return Boolean(this.form?.open);
  }

  /** @param {TriggersView} triggers */
  show(triggers) {
    if (!this.editing) this.fill(triggers);
    const { scheduler } = triggers;
    // When the scheduler was alive last is not shown: it changes all the time.
    const view = { ...triggers, firings: null, scheduler: scheduler && { ...scheduler, heartbeat_at: null } };
    redraw(this.state, view, () => [
      h('p', { class: 'g-near' }, triggers.near),
      triggers.automatic ? this.bar(triggers) : null,
      h(
        'dl',
        {},
        this.causes(triggers).map(([name, text]) => [h('dt', {}, name), h('dd', {}, text)]),
      ),
      watching(scheduler),
    ]);
  }

  /** @param {TriggersView} triggers */
  bar({ accepted, wanted }) {
    const share = Math.min(1, accepted / wanted);
    return h(
      'div',
      {
        class: 'glossator-bar',
        role: 'progressbar',
        'aria-label': `${accepted} of ${count(wanted, 'answer')} accepted`,
        'aria-valuemin': 0,
        'aria-valuemax': wanted,
        'aria-valuenow': Math.min(accepted, wanted),
      },
      h('i', { style: `width:${100 * share}%` }),
    );
  }

  /**
   * @param {TriggersView} triggers
   * @returns {[string, Child][]}
   */
  causes(triggers) {
    if (!triggers.automatic) return [['Automatic', 'Off. Start a retraining with “Retrain now” on the tab Training.']];
    const { wanted, wanted_days: days, age_due_at: aged, clock_due_at: next } = triggers;
    const age = [`an answer has waited ${count(days, 'day')}`, aged ? [': ', time(aged)] : ''];
    const schedule = [h('code', {}, triggers.cron), ` ${triggers.time_zone}`, next ? [': next ', time(next)] : ''];
    return [
      ['Count', `${count(wanted, 'newly accepted answer')}, then a short pause in accepting`],
      ['Age', days ? age : 'off'],
      ['Schedule', triggers.cron ? schedule : 'off'],
    ];
  }

  settings() {
    const { fields } = this;
    const zones = ['UTC', ...(Intl.supportedValuesOf?.('timeZone') ?? [])];
    const form = onSubmit(
      h(
        'form',
        { class: 'g-form g-upright' },
        h('label', { class: 'g-check' }, fields.automatic, 'Automatic retraining'),
        h('label', {}, 'Newly accepted answers that start a retraining', fields.after),
        h('label', {}, 'Maximum days that an answer waits (0: no limit)', fields.days),
        h(
          'label',
          {},
          'Schedule as crontab: minute, hour, day, month, weekday. Empty: none. On workdays at half past two: 30 2 * * 1-5',
          fields.cron,
        ),
        h('label', {}, 'Time zone of the schedule', fields.zone),
        h(
          'datalist',
          { id: 'g-zones' },
          zones.map((zone) => h('option', { value: zone })),
        ),
        h('button', { class: 'g-act g-first' }, 'Save'),
        button('Cancel', () => this.close()),
      ),
      () => this.save(),
    );
    return h('details', {}, h('summary', {}, 'Change'), form);
  }

  close() {
    if (this.form) this.form.open = false;
    this.changed();
  }

  /** @param {TriggersView} triggers */
  fill(triggers) {
    const { automatic, after, days, cron, zone } = this.fields;
    automatic.checked = triggers.automatic;
    after.value = String(triggers.wanted);
    days.value = String(triggers.wanted_days);
    cron.value = triggers.cron;
    zone.value = triggers.time_zone;
  }

  async save() {
    const { automatic, after, days, cron, zone } = this.fields;
    const wanted = {
      retrain_automatically: automatic.checked,
      retrain_after: Number(after.value),
      retrain_after_days: Number(days.value),
      retrain_cron: cron.value.trim(),
      retrain_time_zone: zone.value.trim(),
    };
    const values = { project_id: this.project.id };
    if (await this.say.act(() => patch('/projects/{project_id}/settings', values, wanted), 'Saved.')) this.close();
  }
}

export class TriggerHistoryCard {
  constructor() {
    this.none = h(
      'p',
      { class: 'g-none', hidden: true },
      'No retraining was due yet. Each time that one is due is listed here, with what came of it.',
    );
    const list = h('ul', { class: 'g-rows g-trigger-history' });
    this.rows = new Rows(list, (/** @type {FiringView} */ firing) => ({
      root: firingRow(firing),
      updateRow: () => {},
    }));
    this.root = card('Automatic retrainings', this.none, list);
  }

  /** @param {readonly FiringView[]} history */
  show(history) {
    this.none.hidden = history.length > 0;
    this.rows.show(history);
  }
}

/** @param {FiringView} firing */
function firingRow(firing) {
  const [word, look] = OUTCOMES[firing.outcome] ?? [firing.outcome, 'plain'];
  return h(
    'li',
    {},
    time(firing.due_at),
    h('b', {}, BY[firing.trigger] ?? firing.trigger),
    h('span', { class: `glossator-badge ${look}` }, word),
    h('span', { class: 'g-trigger-message' }, firing.message),
  );
}

/** @param {SchedulerView | null} scheduler */
function watching(scheduler) {
  if (!scheduler)
    return h(
      'p',
      { class: 'g-unwatched' },
      'No worker is running: nothing is retrained automatically, and jobs wait. Start one: ',
      h('code', {}, 'glossator worker'),
    );
  const since = time(scheduler.since);
  return h('p', { class: 'g-watched', title: scheduler.holder }, 'Triggers are watched by a worker since ', since, '.');
}
