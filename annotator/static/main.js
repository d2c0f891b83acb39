// The door: Gradio's component calls window.Glossator.mount(root, { project }) once its element stands.

import { placePersonMenu } from './settings/person_menu.js';
import { startTabs, tabs } from './tabs/door.js';
import { Workspace } from './workspace.js';

let mounted = null;

window.Glossator = {
  ...tabs,
  mount(root, { project }) {
    if (mounted?.root === root) return;
    mounted?.destroy(); // Gradio has built the element anew
    mounted = new Workspace(root);
    root.workspace = mounted;
    mounted.start(project);
  },
};
window.dispatchEvent(new Event('glossator:ready'));
placePersonMenu();
startTabs();
