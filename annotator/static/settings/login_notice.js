// When the login has ended, or somebody else has logged in with this browser: a line above every tab, and a dialog that
// says so and logs in again in place. Edits stay on this computer, under their author; after the login they are sent.

import { LOGGED_IN, LOGGED_OUT, LOG_IN, detailOf } from '../core/api.js';
import { openDialog } from '../core/dialog.js';
import { h, replace } from '../core/dom.js';
import { typing } from '../core/keyboard.js';
import { isAway } from '../core/presence.js';
import { ROOT } from '../core/root.js';
import { count } from '../core/text.js';
import { changes } from '../sync/changes.js';
import { EditStore } from '../sync/edit_store.js';

/** @import { Me } from '../types' */

/** @typedef {Me['user']} Person */

const PATIENCE = 15_000; // milliseconds for an answer
const UNREACHABLE = 'The server cannot be reached. Try again in a moment.';

/**
 * @param {string} path
 * @param {RequestInit} [how]
 */
const ask = (path, how) => fetch(path, { signal: AbortSignal.timeout(PATIENCE), ...how });

/** Who is logged in with this browser now; null: nobody. (`get` would be refused where it is somebody else.) */
async function whoIsHere() {
  const answer = await ask(`${ROOT}/api/me`, { headers: { 'X-Glossator-Background': '1' } });
  if (answer.status === 401) return null;
  if (!answer.ok) throw new Error(UNREACHABLE);
  return /** @type {Me} */ (await answer.json()).user;
}

/** @param {Person} person whose page this is */
async function keptEdits(person) {
  const store = await EditStore.open();
  const items = await store.all().catch(() => []);
  store.database?.close();
  return { lasting: store.lasting, number: items.filter((item) => item.user === person.id).length };
}

class LoginNotice {
  /** @type {(() => void) | null} */
  close = null;
  /** @type {Person | null | undefined} who was found in this person's place; undefined: nobody, they are here */
  other = undefined;
  looking = false;
  stale = false;
  reason = h('span', {});

  /** @param {Person} person whose page this is */
  constructor(person) {
    this.person = person;
    this.line = h(
      'div',
      { class: 'glossator-notice', role: 'alert', hidden: true },
      this.reason,
      ' ',
      h('button', { type: 'button', on: { click: () => this.openAgain() } }, 'Log in'),
      ' to go on; what you wrote is kept.',
    );
    document.body.prepend(this.line);
  }

  /** Looks who is logged in, and says so where it is not this person. */
  async look() {
    this.stale = true; // a look under way may have asked before what is looked for
    if (this.looking) return;
    this.looking = true;
    while (this.stale) {
      this.stale = false;
      try {
        this.show(await whoIsHere());
      } catch {
        // without a server nobody can log in; the saved line says so
      }
    }
    this.looking = false;
  }

  /** @param {Person | null} who */
  show(who) {
    const here = who?.id === this.person.id;
    this.reason.textContent = who
      ? `${who.name} is logged in now; this page belongs to ${this.person.name}.`
      : 'Your login has ended, so this page is no longer up to date.';
    this.line.hidden = here;
    document.documentElement.toggleAttribute('data-login-ended', who === null); // hides what Gradio says instead
    if (here) {
      const away = this.other !== undefined;
      this.other = undefined;
      this.close?.();
      if (!away) return;
      changes.loggedOut.set(false);
      changes.look();
      window.dispatchEvent(new Event('online')); // what waits is sent at once
      return;
    }
    if (this.other !== undefined && this.other?.id === who?.id) return; // said before, maybe closed by the person
    this.other = who;
    if (who === null) changes.logOut();
    this.close?.();
    whenFree(() => this.other === who && !this.close && this.open(who));
  }

  /** The person has closed the dialog, and wants to log in. */
  openAgain() {
    if (this.other !== undefined && !this.close) this.open(this.other);
  }

  /** @param {Person | null} who is logged in instead */
  open(who) {
    const { name } = this.person,
      kept = h('p', {}, 'Your work is kept on this computer.');
    const to = { class: 'g-link', href: `${ROOT}/login`, target: '_blank' },
      page = h('a', to, 'Open the login page in another tab');
    const over = h('div', { class: 'glossator g-over' });
    document.body.append(over);
    const close = openDialog(over, {
      title: who ? `${who.name} is logged in now` : 'Your session has ended',
      body: [
        who ? h('p', {}, `This page belongs to ${name}. Somebody logged in as ${who.name} in this browser.`) : null,
        kept,
        this.form(page),
        h('p', {}, page),
      ],
      actions: who ? [{ label: `Go on as ${who.name}`, run: () => location.reload() }] : [],
      closed: () => {
        over.remove();
        this.close = null;
      },
    });
    this.close = close;
    focusFirst(over);
    keptEdits(this.person).then(({ number, lasting }) => {
      if (number)
        kept.textContent = `Your work is kept on this computer: ${count(number, 'edit')} will be saved when ${name} logs in again.`;
      else if (!lasting)
        kept.textContent = 'This browser keeps no edits: keep this page open until you have logged in.';
    });
  }

  /**
   * The password, and then a code where one is asked for.
   *
   * @param {HTMLAnchorElement} page link to the login page, which also sets up a second factor
   */
  form(page) {
    const { name } = this.person,
      said = h('p', { class: 'g-login-said', role: 'alert', hidden: true });
    const field = h('label', {}, 'Password');
    /** @type {HTMLInputElement} */
    let input;
    /** @param {'password' | 'code'} step */
    const askFor = (step) => {
      const password = { type: 'password', autocomplete: 'current-password', maxlength: '1000' };
      const code = { type: 'text', autocomplete: 'one-time-code', maxlength: '100', spellcheck: 'false' };
      input = h('input', { ...(step === 'code' ? code : password), name: step, required: true });
      replace(field, step === 'code' ? 'Code, or a recovery code' : 'Password', input);
      form.dataset.step = step;
    };
    const say = (/** @type {string} */ sentence) => {
      said.textContent = sentence;
      said.hidden = !sentence;
    };
    /** @type {HTMLFormElement} */
    const form = h(
      'form',
      { class: 'g-login' },
      h(
        'label',
        {},
        'Name',
        h('input', { type: 'text', name: 'name', autocomplete: 'username', value: name, readonly: true }),
      ),
      field,
      said,
      h('button', { class: 'g-button g-primary' }, 'Log in'),
    );
    askFor('password');
    form.addEventListener('submit', async (event) => {
      event.preventDefault();
      say('');
      const code = form.dataset.step === 'code';
      try {
        const answer = await ask(`${ROOT}/login${code ? '/code' : ''}`, {
          method: 'POST',
          headers: { Accept: 'application/json', 'X-Glossator': '1' },
          body: new URLSearchParams(code ? { code: input.value } : { name, password: input.value }),
        });
        const body = await answer.json().catch(() => null);
        if (answer.ok && body?.step === 'done') return void this.look();
        if (answer.ok && body?.step === 'code') askFor('code');
        else if (answer.ok) {
          say('Your account needs a second factor. Set it up in another tab, then come back here.');
          page.href = `${ROOT}/login/second-factor`;
          page.textContent = 'Set up the second factor in another tab';
        } else {
          say(detailOf(body) ?? UNREACHABLE);
          if (answer.status === 404) askFor('password');
        }
      } catch {
        say(UNREACHABLE);
      }
      input.value = '';
      input.focus();
    });
    return form;
  }
}

/**
 * Runs at once, or when somebody who is writing leaves the field: a dialog would take the keys of the next letters.
 *
 * @param {() => unknown} run
 */
function whenFree(run) {
  const field = document.activeElement,
    begun = typing(field) && !(field instanceof HTMLInputElement && field.value === '');
  if (!begun || isAway()) return void run();
  document.addEventListener('focusout', () => setTimeout(() => whenFree(run)), { once: true });
}

/** @param {HTMLElement} root */
function focusFirst(root) {
  const field = root.querySelector('input:not([readonly])');
  if (field instanceof HTMLElement) field.focus();
}

/** @param {Person} person whose page this is */
export function placeLoginNotice(person) {
  const notice = new LoginNotice(person);
  const look = () => void notice.look();
  document.addEventListener(LOGGED_OUT, look);
  document.addEventListener(LOGGED_IN, look);
  document.addEventListener(LOG_IN, () => notice.openAgain());
  changes.loggedOut.follow(look);
  window.addEventListener('focus', look);
}
