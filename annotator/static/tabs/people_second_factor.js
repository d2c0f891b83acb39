// One's second factor: setting it up with a picture to scan, its recovery codes, and removing it.

import { get, post } from '../core/api.js';
import { h, redraw, replace } from '../core/dom.js';
import { count } from '../core/text.js';
import { Say, button, copy, onSubmit, row, time } from './people_parts.js';

/** @import { Enrolment, Me, SecondFactorView } from '../types' */

export class SecondFactorPart {
  /** @param {Me} me */
  constructor(me) {
    this.me = me;
    this.say = new Say();
    this.list = h('ul', { class: 'g-rows' });
    this.place = h('div', { class: 'g-link-made', hidden: true }); // what is asked or shown at the moment
    this.root = h('div', { class: 'g-tokens' }, h('h3', {}, 'Second factor'), this.list, this.place, this.say.root);
  }

  async load() {
    const view = await get('/me/second-factor', {});
    redraw(this.list, view, () => this.line(view));
  }

  /** @param {SecondFactorView} view */
  line({ since, required, recovery_codes: codes }) {
    if (since === null)
      return row(
        'Off',
        'Your login then needs the password and a code from your phone.',
        button('Set up', () => this.askPassword()),
      );
    const sure = 'Remove the second factor? Your password alone logs you in then.';
    return row(
      'On',
      ['since ', time(since), `, ${count(codes, 'recovery code')} left`],
      button('New recovery codes', () => this.askCode('Create codes', 'The earlier codes end.', (c) => this.renew(c))),
      required ? null : button('Remove', () => this.askCode('Remove', sure, (c) => this.remove(c)), 'g-danger'),
    );
  }

  /** @param {...import('../types').Child} content */
  show(...content) {
    replace(this.place, ...content);
    this.place.hidden = content.length === 0;
    this.say.show('');
    const field = this.place.querySelector('input:not([readonly], [hidden])');
    if (field instanceof HTMLElement) field.focus();
  }

  /**
   * A form of one field.
   *
   * @param {string} label
   * @param {HTMLInputElement} field
   * @param {string} send
   * @param {(value: string) => unknown} run
   */
  form(label, field, send, run) {
    const form = h(
      'form',
      { class: 'g-form g-upright' },
      h('input', { type: 'text', name: 'username', autocomplete: 'username', value: this.me.user.name, hidden: true }),
      h('label', {}, label, field),
      h('div', { class: 'g-row-acts' }, h('button', { class: 'g-act g-first' }, send), this.cancel()),
    );
    return onSubmit(form, () => run(field.value));
  }

  cancel() {
    return button('Cancel', () => this.show());
  }

  askPassword() {
    const field = h('input', { type: 'password', autocomplete: 'current-password', required: true, maxlength: '1000' });
    this.show(
      this.form('Current password', field, 'Continue', (password) =>
        this.say.act(async () => this.scan(await post('/me/second-factor', {}, { password }))),
      ),
    );
  }

  /** @param {Enrolment} enrolment */
  scan({ secret, qr }) {
    const groups = (secret.match(/.{1,4}/g) ?? []).join(' ');
    this.show(
      h('p', {}, 'Scan the picture with an authenticator app, or type the secret into it.'),
      h('img', { class: 'g-qr', src: qr, alt: 'QR code of the secret' }),
      h('p', {}, h('code', {}, groups)),
      this.form('Code that the app shows', codeField(), 'Switch on', (code) =>
        this.say.act(async () =>
          this.keep((await post('/me/second-factor/confirmation', {}, { code })).recovery_codes),
        ),
      ),
    );
  }

  /**
   * @param {string} send
   * @param {string} sentence
   * @param {(code: string) => unknown} run
   */
  askCode(send, sentence, run) {
    this.show(
      h('p', {}, sentence),
      this.form('Code, or a recovery code', codeField(), send, (code) => this.say.act(() => run(code))),
    );
  }

  /** @param {string} code */
  async renew(code) {
    await this.keep((await post('/me/second-factor/recovery-codes', {}, { code })).recovery_codes);
  }

  /** @param {string} code */
  async remove(code) {
    await post('/me/second-factor/removal', {}, { code });
    this.show();
    await this.load();
  }

  /**
   * Shown once: they stay until their owner says that they are kept somewhere.
   *
   * @param {string[]} codes
   */
  async keep(codes) {
    /** @type {HTMLTextAreaElement} */
    const field = h('textarea', { class: 'g-codes', readonly: true, rows: '10', 'aria-label': 'Recovery codes' });
    field.value = codes.join('\n');
    this.show(
      h('p', {}, 'Keep these recovery codes. Each logs you in once when your phone is lost. They are shown only now.'),
      field,
      h(
        'div',
        { class: 'g-row-acts' },
        button('Copy', async () => this.say.show((await copy(field)) ? 'Copied.' : 'Press Ctrl+C to copy.'), 'g-first'),
        button('I have kept them', () => this.show()),
      ),
    );
    field.select();
    await this.load();
  }
}

const codeField = () =>
  h('input', { autocomplete: 'one-time-code', spellcheck: 'false', required: true, maxlength: '100' });
