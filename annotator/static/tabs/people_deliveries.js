// The log of deliveries: what was sent to webhooks and callbacks, how that went, and sending again.

import { getPage, post } from '../core/api.js';
import { h, redraw } from '../core/dom.js';
import { Pages } from '../core/pages.js';
import { count } from '../core/text.js';
import { MoreButton, Say, button, row, time } from './people_parts.js';
import { eventName } from './people_webhook_form.js';

/** @import { DeliveryView } from '../types' */

/** @typedef {'' | 'failed' | 'waiting' | 'sent'} State */

const MANY = 10; // deliveries of one page
const MOST = 1000; // deliveries that the server sends at once
const LOOKS = [1000, 2000, 4000]; // milliseconds after a deed at which its delivery is looked for

/** @type {[State, string][]} */
const FILTERS = [
  ['', 'All deliveries'],
  ['failed', 'Failed'],
  ['waiting', 'Waiting'],
  ['sent', 'Sent'],
];
/** @type {Record<State, string>} */
const NONE = {
  '': 'Nothing was sent yet. Send a test to see a delivery here.',
  failed: 'No delivery has failed.',
  waiting: 'No delivery waits.',
  sent: 'No delivery was sent yet.',
};

export class DeliveriesPart {
  /** @param {string} project */
  constructor(project) {
    this.project = project;
    this.say = new Say();
    this.list = h('ul', { class: 'g-rows' });
    this.filter = h(
      'select',
      { 'aria-label': 'Deliveries to show', on: { change: () => this.choose() } },
      FILTERS.map(([value, text]) => h('option', { value }, text)),
    );
    /** @type {Pages<DeliveryView>} */
    this.pages = new Pages((page) => this.fetch(page), MANY, MOST);
    this.more = new MoreButton(this.pages, this.say, () => this.render(), 'Show older');
    this.root = h(
      'div',
      { class: 'g-deliveries' },
      h('h3', {}, 'Deliveries'),
      h(
        'div',
        { class: 'g-row-acts' },
        this.filter,
        button('Refresh', () => this.load()),
      ),
      this.list,
      this.say.root,
      this.more.root,
    );
  }

  get state() {
    return /** @type {State} */ (this.filter.value);
  }

  /** @param {{ limit: number, cursor: string | null }} page */
  fetch(page) {
    return getPage('/projects/{project_id}/webhook-deliveries', {
      project_id: this.project,
      state: this.state || null,
      ...page,
    });
  }

  choose() {
    this.pages.items = [];
    return this.load();
  }

  load() {
    return this.say.load(async () => {
      await this.pages.load();
      this.render();
    });
  }

  /** Looks several times what becomes of a delivery that was just asked for. */
  follow() {
    for (const milliseconds of LOOKS) setTimeout(() => this.root.isConnected && this.load(), milliseconds);
    return this.load();
  }

  render() {
    const lines = this.pages.items;
    this.more.draw();
    redraw(this.list, [this.state, lines], () =>
      lines.length ? lines.map((line) => this.line(line)) : h('li', { class: 'g-none' }, NONE[this.state]),
    );
  }

  /** @param {DeliveryView} line */
  line(line) {
    const state = h('i', { class: line.state === 'failed' ? 'g-off' : '' }, line.state);
    const again = button('Send again', () => this.sendAgain(line.id));
    if (!line.content) again.hidden = true;
    return row(
      [eventName(line.event), state],
      [
        time(line.created_at),
        ` to ${line.url}`,
        line.attempts ? `, ${count(line.attempts, 'attempt')}` : '',
        line.code === null || line.error ? '' : `, status ${line.code}`,
        line.error ? `. ${line.error}` : '',
        line.next_at && line.attempts ? [' Next attempt ', time(line.next_at), '.'] : '',
      ],
      again,
    );
  }

  /** @param {string} id */
  async sendAgain(id) {
    await this.say.act(() => post('/webhook-deliveries/{delivery_id}/send', { delivery_id: id }, undefined));
    await this.follow();
  }
}
