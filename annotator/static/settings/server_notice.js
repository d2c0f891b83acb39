// One line above every tab, for admins alone, when the server will soon refuse work: its disk is almost full, or its
// figures do not follow. The server names details to admins only, so others see nothing.

import { h } from '../core/dom.js';
import { ROOT } from '../core/root.js';

/** @import { Answer } from '../types' */

const LOOK = 10 * 60_000; // milliseconds between two looks of a visible page
const SHOWN = /** @type {const} */ (['disk', 'blobs', 'figures']);

export function placeServerNotice() {
  const sentence = h('span', {});
  const notice = h(
    'div',
    { class: 'glossator-notice', role: 'status', hidden: true },
    sentence,
    ' ',
    h('button', { type: 'button', on: { click: hide } }, 'Hide'),
  );
  document.body.prepend(notice);
  let hidden = ''; // the sentence that the person has hidden; another one shows again

  function hide() {
    hidden = sentence.textContent ?? '';
    notice.hidden = true;
  }

  async function look() {
    if (document.hidden) return;
    const text = await readWarnings();
    if (text === null) return;
    sentence.textContent = text;
    notice.hidden = !text || text === hidden;
  }

  look();
  setInterval(look, LOOK);
  document.addEventListener('visibilitychange', look);
}

/** What an admin should know; null where the server does not answer. */
async function readWarnings() {
  try {
    const answer = await fetch(`${ROOT}/api/health/ready`); // 503 has the same body
    /** @type {Answer<'get', '/health/ready'>} */
    const parts = await answer.json();
    return SHOWN.map((name) => parts[name])
      .filter((part) => part?.details && (part.warning || !part.ok))
      .map((part) => `${part.sentence} ${part.details}`)
      .join(' ');
  } catch {
    return null;
  }
}
