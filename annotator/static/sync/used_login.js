// Tells the server now and then that its person is at work: whoever reads long, or works on a tab of Gradio, sends
// nothing else that counts as use of the login.

import { get } from '../core/api.js';
import { watchInput } from '../core/presence.js';

const EVERY = 240_000; // milliseconds

/** Tells of use while there is input; nothing where there is none. */
export function tellUse() {
  let toldAt = Date.now(); // the page has just asked who is logged in
  watchInput(window, () => {
    if (Date.now() - toldAt < EVERY) return;
    toldAt = Date.now();
    get('/me', {}).catch(() => {}); // whatever is wrong, others say
  });
}
