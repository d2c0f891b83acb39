// The door: Gradio's component calls window.Glossator.mount(root, { project }) once its element stands.

import { keepComposing, learnLayout } from './core/keyboard_layout.js';
import { placePersonMenu } from './settings/person_menu.js';
import { placeLoginNotice } from './settings/login_notice.js';
import { mountWorkspace } from './mount.js';
import { startTabs, tabs } from './tabs/door.js';

/** @type {{ root: HTMLElement, destroy: () => void } | null} */
let mounted = null;

const Glossator = {
  ...tabs,
  /**
   * @param {HTMLElement} root
   * @param {{ project: string | null }} props
   */
  mount(root, { project }) {
    if (mounted?.root === root) return;
    mounted?.destroy(); // Gradio has built the element anew
    mounted = { root, destroy: mountWorkspace(root, project) };
  },
};
keepComposing(window);
learnLayout();
Object.assign(window, { Glossator });
window.dispatchEvent(new Event('glossator:ready'));
placePersonMenu();
placeLoginNotice();
startTabs();
