// What starts a project's retrainings and how near the next one is, who watches over it, and what fired lately.

import { patch } from '../core/api.js';
import { h, keyed, redraw } from '../core/dom.js';
import { count, moment } from '../core/text.js';
import { Say, button, card, onSubmit, time } from './people_parts.js';

const OUTCOMES = {
  asked: ['retraining', 'good'],
  busy: ['already running', 'plain'],
  nothing_new: ['no new answers', 'plain'],
  missed: ['missed', 'bad'],
};
const BY = { clock: 'Schedule', count: 'Count', age: 'Age' };

export class TriggersCard {
  constructor(project, admin, changed) {
    Object.assign(this, { project, changed });
    this.say = new Say();
    this.state = h('div', { class: 'g-triggers' });
    this.form = admin ? this.settings() : null;
    this.root = card('Retraining triggers', this.state, this.say.root, this.form);
  }

  // Whether somebody has opened the settings: they are not drawn anew under their hands.
  get editing() {
    return Boolean(this.form?.open);
  }

  show(triggers) {
    if (!this.editing) this.fill(triggers);
    redraw(
      this.state,
      { ...triggers, firings: null, scheduler: triggers.scheduler && { ...triggers.scheduler, heartbeat_at: null } },
      () => [
        h('p', { class: 'g-near' }, triggers.near),
        triggers.automatic ? this.bar(triggers) : null,
        h(
          'dl',
          {},
          this.causes(triggers).map(([name, text]) => [h('dt', {}, name), h('dd', {}, text)]),
        ),
        watching(triggers.scheduler),
      ],
    );
  }

  bar({ accepted, wanted }) {
    const share = Math.min(1, accepted / wanted);
    return h(
      'div',
      {
        class: 'glossator-bar',
        role: 'progressbar',
        'aria-label': `${accepted} of ${wanted} accepted`,
        'aria-valuemin': 0,
        'aria-valuemax': wanted,
        'aria-valuenow': Math.min(accepted, wanted),
      },
      h('i', { style: `width:${100 * share}%` }),
    );
  }

  causes(triggers) {
    if (!triggers.automatic) return [['Automatic', 'Off. Start a retraining with “Retrain now” on the tab Training.']];
    return [
      ['Count', `${count(triggers.wanted, 'newly accepted answer')}, then a short pause in accepting`],
      [
        'Age',
        triggers.wanted_days
          ? [
              `an answer has waited ${count(triggers.wanted_days, 'day')}`,
              triggers.age_due_at ? [': ', when(triggers.age_due_at)] : '',
            ]
          : 'off',
      ],
      [
        'Schedule',
        triggers.cron
          ? [
              h('code', {}, triggers.cron),
              ` ${triggers.time_zone}`,
              triggers.clock_due_at ? [': next ', when(triggers.clock_due_at)] : '',
            ]
          : 'off',
      ],
    ];
  }

  settings() {
    this.fields = {
      retrain_automatically: h('input', { type: 'checkbox' }),
      retrain_after: h('input', { type: 'number', min: 1, required: true }),
      retrain_after_days: h('input', { type: 'number', min: 0, step: 'any', required: true }),
      retrain_cron: h('input', { placeholder: '30 2 * * 1-5', spellcheck: 'false', maxlength: 120 }),
      retrain_time_zone: h('input', {
        placeholder: 'Europe/Berlin',
        spellcheck: 'false',
        maxlength: 60,
        list: 'g-zones',
      }),
    };
    const { fields } = this;
    const form = onSubmit(
      h(
        'form',
        { class: 'g-form g-upright' },
        h('label', { class: 'g-check' }, fields.retrain_automatically, 'Automatic retraining'),
        h('label', {}, 'Newly accepted answers that start a retraining', fields.retrain_after),
        h('label', {}, 'Days an answer waits at most (0: no limit)', fields.retrain_after_days),
        h('label', {}, 'Schedule as crontab: minute, hour, day, month, weekday (empty: none)', fields.retrain_cron),
        h('label', {}, 'Time zone of the schedule', fields.retrain_time_zone),
        h(
          'datalist',
          { id: 'g-zones' },
          ['UTC', ...(Intl.supportedValuesOf?.('timeZone') ?? [])].map((zone) => h('option', { value: zone })),
        ),
        h('button', { class: 'g-act g-first' }, 'Save'),
        button('Cancel', () => (this.form.open = false)),
      ),
      () => this.save(),
    );
    return h('details', {}, h('summary', {}, 'Change'), form);
  }

  fill(triggers) {
    if (!this.form) return;
    const { fields } = this;
    fields.retrain_automatically.checked = triggers.automatic;
    fields.retrain_after.value = triggers.wanted;
    fields.retrain_after_days.value = triggers.wanted_days;
    fields.retrain_cron.value = triggers.cron;
    fields.retrain_time_zone.value = triggers.time_zone;
  }

  async save() {
    const { fields } = this;
    const wanted = {
      retrain_automatically: fields.retrain_automatically.checked,
      retrain_after: Number(fields.retrain_after.value),
      retrain_after_days: Number(fields.retrain_after_days.value),
      retrain_cron: fields.retrain_cron.value.trim(),
      retrain_time_zone: fields.retrain_time_zone.value.trim(),
    };
    if (
      await this.say.act(
        () => patch('/projects/{project_id}/settings', { project_id: this.project.id }, wanted),
        'Saved.',
      )
    ) {
      this.form.open = false;
      await this.changed();
    }
  }
}

export class FiringsCard {
  constructor() {
    this.none = h(
      'p',
      { class: 'g-none', hidden: true },
      'No trigger has fired yet. Each firing is listed here with its result.',
    );
    this.list = h('ul', { class: 'g-rows g-firings' });
    this.root = card('Recent firings', this.none, this.list);
  }

  show(firings) {
    this.none.hidden = firings.length > 0;
    keyed(this.list, firings, {
      key: (firing) => firing.id,
      make: (firing) => {
        const [word, look] = OUTCOMES[firing.outcome] ?? [firing.outcome, 'plain'];
        return h(
          'li',
          {},
          time(firing.due_at),
          h('b', {}, BY[firing.trigger] ?? firing.trigger),
          h('span', { class: `glossator-badge ${look}` }, word),
          h('span', { class: 'g-firing-said' }, firing.message),
        );
      },
      dress: () => {},
    });
  }
}

function watching(scheduler) {
  if (!scheduler)
    return h(
      'p',
      { class: 'g-unwatched' },
      'No worker is running: triggers do not fire and jobs wait. Start one: ',
      h('code', {}, 'glossator worker'),
    );
  return h(
    'p',
    { class: 'g-watched' },
    'Scheduler: ',
    h('b', {}, scheduler.holder),
    ' since ',
    time(scheduler.since),
    '.',
  );
}

const when = (at) => h('time', { datetime: at, title: new Date(at).toLocaleString('en-GB') }, moment(at));
