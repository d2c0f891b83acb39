// When the login has ended, or somebody else has logged in with this browser: a line above every tab, and a dialog that
// says so and logs in again in place. Edits stay on this computer, under their author; after the login they are sent.

import { LOGGED_OUT, detailOf } from '../core/api.js';
import { openDialog } from '../core/dialog.js';
import { h, replace } from '../core/dom.js';
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

  /** @param {Person} person whose page this is */
  constructor(person) {
    this.person = person;
    this.line = h(
      'div',
      { class: 'glossator-login-ended', role: 'alert', hidden: true },
      'Your login has ended, so this page is no longer up to date. ',
      h('a', { href: `${ROOT}/login`, target: '_blank' }, 'Log in'),
      ' to go on; what you wrote is kept.',
    );
    document.body.prepend(this.line);
  }

  /** Looks who is logged in, and says so where it is not this person. */
  async look() {
    if (this.looking) return;
    this.looking = true;
    try {
      this.show(await whoIsHere());
    } catch {
      // without a server nobody can log in; the saved line says so
    } finally {
      this.looking = false;
    }
  }

  /** @param {Person | null} who */
  show(who) {
    const here = who?.id === this.person.id;
    this.line.hidden = who !== null;
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
    this.open(who);
  }

  /** @param {Person | null} who is logged in instead */
  open(who) {
    const { name } = this.person,
      kept = h('p', {}, 'Your work is kept on this computer.');
    const over = h('div', { class: 'glossator g-over' });
    document.body.append(over);
    const close = openDialog(over, {
      title: who ? `${who.name} is logged in now` : 'Your session has ended',
      body: [
        who ? h('p', {}, `This page belongs to ${name}. Somebody logged in as ${who.name} in this browser.`) : null,
        kept,
        this.form(),
        h(
          'p',
          {},
          h('a', { class: 'g-link', href: `${ROOT}/login`, target: '_blank' }, 'Open the login page in another tab'),
        ),
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

  /** The password, and then a code where one is asked for. */
  form() {
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
      replace(field, step === 'code' ? 'Code of your authenticator app' : 'Password', input);
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
        else if (answer.ok) say('Your account needs a second factor. Open the login page to set it up.');
        else {
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
  changes.loggedOut.follow(look);
  window.addEventListener('focus', look);
}
