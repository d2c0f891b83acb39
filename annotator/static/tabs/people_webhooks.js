// Webhooks of a project: addresses that are sent its events, their secrets, and the log of what was sent.

import { get, getAll, patch, post, remove } from '../core/api.js';
import { h, redraw, replace } from '../core/dom.js';
import { DeliveriesPart } from './people_deliveries.js';
import { Say, button, card, copy, row, time, twice } from './people_parts.js';
import { eventName, webhookForm } from './people_webhook_form.js';

/** @import { CallbackSecretView, ChangedWebhook, ProjectView, WantedWebhook, WebhookView } from '../types' */

export class WebhooksCard {
  /** @param {ProjectView} project */
  constructor(project) {
    this.project = project;
    this.say = new Say();
    this.list = h('ul', { class: 'g-rows' });
    this.made = h('div', { class: 'g-link-made', hidden: true });
    this.callbacks = h('ul', { class: 'g-rows' });
    this.deliveries = new DeliveriesPart(project.id);
    this.changing = ''; // id of the webhook whose form is open
    const form = webhookForm('Create webhook', { url: '', events: [] }, (wanted) => this.create(wanted));
    this.root = card(
      `Webhooks of ${project.name}`,
      h('p', {}, 'Glossator sends a signed message to an address when something happens in the project.'),
      this.list,
      this.made,
      this.say.root,
      h('details', {}, h('summary', {}, 'New webhook'), form),
      this.callbacks,
      this.deliveries.root,
    );
  }

  get values() {
    return { project_id: this.project.id };
  }

  async load() {
    const went = await this.say.load(async () => {
      const [webhooks, secret] = await Promise.all([
        getAll('/projects/{project_id}/webhooks', this.values),
        get('/projects/{project_id}/callback-secret', this.values),
      ]);
      this.render(webhooks);
      this.renderCallbacks(secret);
    });
    return (await this.deliveries.load()) && went;
  }

  /** @param {WebhookView[]} webhooks */
  render(webhooks) {
    redraw(this.list, [webhooks, this.changing], () =>
      webhooks.length
        ? webhooks.map((each) => this.webhook(each))
        : h('li', { class: 'g-none' }, 'No webhooks yet. Programs learn of events through them.'),
    );
  }

  /** @param {WebhookView} each */
  webhook(each) {
    const values = { webhook_id: each.id };
    const state = each.enabled ? (each.failing_since ? 'failing' : 'on') : 'off';
    const line = row(
      [each.url, h('i', { class: state === 'on' ? '' : 'g-off' }, state)],
      [
        each.events.map(eventName).join(', '),
        each.off_reason ? `. Switched off: ${each.off_reason}` : '',
        each.enabled && each.failing_since ? [`. No success since `, time(each.failing_since)] : '',
      ],
      each.enabled ? button('Send test', () => this.test(each.id)) : null,
      button(this.changing === each.id ? 'Cancel' : 'Change', () => this.open(each.id)),
      button(each.enabled ? 'Switch off' : 'Switch on', () => this.change(each.id, { enabled: !each.enabled })),
      twice('New secret', 'Confirm new secret', () => this.rotate(each.id)),
      twice('Remove', 'Confirm removal', () => this.act(() => remove('/webhooks/{webhook_id}', values))),
    );
    if (this.changing === each.id) line.append(webhookForm('Save', each, (wanted) => this.change(each.id, wanted)));
    return line;
  }

  /** @param {CallbackSecretView} secret */
  renderCallbacks(secret) {
    const path = '/projects/{project_id}/callback-secret';
    const make = async () => this.tell((await post(path, this.values, undefined)).secret);
    redraw(this.callbacks, secret, () =>
      row(
        'Secret of callbacks',
        secret.created_at
          ? ['Signs what is sent to an address that a single request names. Created ', time(secret.created_at), '.']
          : 'None yet. Requests that name an address for their result need it.',
        secret.exists
          ? twice('New secret', 'Confirm new secret', () => this.act(make))
          : button('Create secret', () => this.act(make)),
      ),
    );
  }

  /**
   * Does something, and fetches what became of it. Resolves to whether it went.
   *
   * @param {() => Promise<unknown>} step
   * @param {string} [done]
   */
  async act(step, done) {
    const went = await this.say.act(step, done);
    await this.load();
    return went;
  }

  /** @param {WantedWebhook} wanted */
  create(wanted) {
    return this.act(async () => {
      this.tell((await post('/projects/{project_id}/webhooks', this.values, wanted)).secret);
    });
  }

  /** @param {string} id */
  open(id) {
    this.changing = this.changing === id ? '' : id;
    return this.load();
  }

  /**
   * @param {string} id
   * @param {ChangedWebhook} changed
   */
  change(id, changed) {
    return this.act(async () => {
      await patch('/webhooks/{webhook_id}', { webhook_id: id }, changed);
      this.changing = '';
    });
  }

  /** @param {string} id */
  async test(id) {
    await this.say.act(() => post('/webhooks/{webhook_id}/test', { webhook_id: id }, undefined));
    await this.deliveries.follow();
  }

  /** @param {string} id */
  rotate(id) {
    return this.act(async () => {
      this.tell((await post('/webhooks/{webhook_id}/secret', { webhook_id: id }, undefined)).secret);
    }, 'For 24 hours, messages are signed with the earlier secret too.');
  }

  /**
   * Told once: it stays until somebody says that it is kept somewhere.
   *
   * @param {string} secret
   */
  tell(secret) {
    const field = h('input', { readonly: true, value: secret, 'aria-label': 'Secret' });
    const done = () => {
      this.made.hidden = true;
      replace(this.made);
    };
    const copied = async () => this.say.show((await copy(field)) ? 'Copied.' : 'Select the secret and press Ctrl+C.');
    replace(
      this.made,
      h('p', {}, 'Copy the secret now. It is shown only once. The receiver checks signatures with it.'),
      field,
      h('div', { class: 'g-row-acts' }, button('Copy', copied, 'g-first'), button('Done', done)),
    );
    this.made.hidden = false;
    field.select();
  }
}
