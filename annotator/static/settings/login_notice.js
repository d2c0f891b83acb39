// One line above every tab when the login has ended: what that means, and the way back. It goes when somebody is logged
// in again.

import { h } from '../core/dom.js';
import { ROOT } from '../core/root.js';
import { changes } from '../sync/changes.js';

export function placeLoginNotice() {
  const notice = h(
    'div',
    { class: 'glossator-login-ended', role: 'alert', hidden: true },
    'Your login has ended, so this page is no longer up to date. ',
    h('a', { href: `${ROOT}/login`, target: '_blank' }, 'Log in'),
    ' to go on; what you wrote is kept.',
  );
  document.body.prepend(notice);
  changes.loggedOut.follow((ended) => {
    notice.hidden = !ended;
    document.documentElement.toggleAttribute('data-login-ended', ended); // hides what Gradio says instead
  });
}
