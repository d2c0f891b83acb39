// Whether the work is saved: one line below the answer.

import { h, redraw } from '../core/dom.js';
import { count } from '../core/text.js';
import { icon } from '../core/icons.js';

/**
 * @typedef {object} SavedView
 * @property {'saved' | 'saving' | 'offline' | 'halted'} state
 * @property {number} number how many edits wait
 * @property {Date | null} at when the server last stored one
 * @property {string | null} [why] the server's own sentence, where it answered that it could not save
 * @property {boolean} lasting edits survive this page
 * @property {boolean} [away] the server cannot be reached, so what others do is not heard
 * @property {boolean} [loggedOut] the session has ended: a login saves what waits
 * @property {boolean} [fixing] a reviewer's corrections wait for the verdict
 */

/** @param {SavedView} view */
function sentence({ state, number, at, why, lasting, away, loggedOut, fixing }) {
  const kept = lasting ? 'kept in this browser' : 'kept until this page is closed';
  if (state === 'saving') return 'Saving…';
  if (state === 'halted') return `${count(number, 'edit')} ${number === 1 ? 'needs' : 'need'} your decision`;
  if (loggedOut && number)
    return `Your login has ended: ${count(number, 'edit')} ${kept}. Log in to save ${number === 1 ? 'it' : 'them'}`;
  if (loggedOut) return 'Your login has ended. Log in to go on';
  if (state === 'offline')
    return why
      ? `Not saved yet: ${count(number, 'edit')} ${kept}. ${why}`
      : `Offline: ${count(number, 'edit')} ${kept}`;
  if (away) return 'Offline: changes made elsewhere appear when the connection is back';
  if (fixing) return 'Kept in this browser until you save the fix';
  return at ? `Saved ${at.toLocaleTimeString('en-GB')}` : '';
}

const SIGNS = { saved: 'check', saving: 'cloud', offline: 'offline', halted: 'warn' };

export class SavedLine {
  /** @param {() => unknown} compare shows the versions to decide between */
  constructor(compare) {
    this.compare = compare;
    this.root = h('div', { class: 'g-saved', role: 'status' });
  }

  /** @param {SavedView} view */
  render(view) {
    const { state, fixing } = view,
      text = sentence(view);
    const offline = state === 'saved' && view.away;
    this.root.dataset.state = offline ? 'offline' : state;
    redraw(this.root, [state, text, fixing], () => [
      text ? icon(offline ? 'offline' : state === 'saved' && fixing ? 'pencil' : SIGNS[state], 14) : null,
      text,
      state === 'halted' ? h('button', { class: 'g-link', on: { click: () => this.compare() } }, 'Compare') : null,
    ]);
  }
}
