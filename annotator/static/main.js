// The door. The workspace opens at once, in an element of its own; Gradio's component calls
// window.Glossator.mount(root, { project }) once its element stands, a second or two later, and the workspace moves in.

import { h } from './core/dom.js';
import { keepComposing, learnLayout } from './core/keyboard_layout.js';
import { showLocalTimes, tellZone } from './core/time_zone.js';
import { placePersonMenu } from './settings/person_menu.js';
import { placeServerNotice } from './settings/server_notice.js';
import { placeLoginNotice } from './settings/login_notice.js';
import { placeUpgradeNotice } from './settings/upgrade_notice.js';
import { mountWorkspace } from './mount.js';
import { tellUse } from './sync/used_login.js';
import { startTabs, tabs } from './tabs/door.js';

/** @type {HTMLElement} */
const early = h('div', { class: 'glossator', role: 'application', 'aria-label': 'Annotation workspace' });
document.body.append(early);
/** @type {{ root: HTMLElement, workspace: ReturnType<typeof mountWorkspace> }} */
let mounted = { root: early, workspace: mountWorkspace(early, null) };
let adopted = false;

const Glossator = {
  ...tabs,
  /**
   * @param {HTMLElement} root
   * @param {{ project: string | null }} props
   */
  mount(root, { project }) {
    if (mounted.root === root) return;
    if (!adopted) return adopt(root);
    mounted.workspace.destroy(); // Gradio has built the element anew
    mounted = { root, workspace: mountWorkspace(root, project) };
  },
};

/** @param {HTMLElement} root */
function adopt(root) {
  const focused = document.activeElement;
  root.replaceWith(early);
  adopted = true;
  mounted.workspace.followTabs();
  if (focused instanceof HTMLElement && early.contains(focused)) focused.focus({ preventScroll: true });
}

tellZone();
showLocalTimes();
keepComposing(window);
learnLayout();
tellUse();
Object.assign(window, { Glossator });
mounted.workspace.opened.then(() => window.startGradio?.()); // see annotator/gradio/head.py
window.dispatchEvent(new Event('glossator:ready'));
placePersonMenu().then((me) => me && placeLoginNotice(me.user));
placeUpgradeNotice();
placeServerNotice();
startTabs();
