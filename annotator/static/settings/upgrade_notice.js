// One line above every tab when a server of another edition has answered: old modules and new answers may not fit.

import { UPGRADED, writesEnd } from '../core/api.js';
import { h } from '../core/dom.js';

const SAVING = 10_000; // milliseconds for which a reload waits for edits that are on their way

export function placeUpgradeNotice() {
  const notice = h(
    'div',
    { class: 'glossator-notice', role: 'alert', hidden: true },
    'Glossator was upgraded. ',
    h('a', { href: '', on: { click: reload } }, 'Reload'),
    ' this page; what you wrote is kept.',
  );
  document.body.prepend(notice);
  document.addEventListener(UPGRADED, () => {
    notice.hidden = false;
  });
}

/** @param {Event} event */
async function reload(event) {
  event.preventDefault(); // an address with "#" would only be jumped to
  await writesEnd(SAVING);
  location.reload();
}
