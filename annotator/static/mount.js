// Opens the workspace in an element of the page, or says why it cannot be opened.

import { get, sentenceOf } from './core/api.js';
import { h, replace } from './core/dom.js';
import { Toasts } from './core/toast.js';
import { buildLayout, followTabs } from './panels/layout.js';
import { appear } from './settings/appearance.js';
import { Preferences } from './settings/preferences.js';
import { EditStore } from './sync/edit_store.js';
import { Workspace } from './workspace.js';

/**
 * Returns when it has opened, what places it anew below Gradio's tabs, and what takes it away again.
 *
 * @param {HTMLElement} root
 * @param {string | null} project the one to open; null: the one opened last in this browser
 */
export function mountWorkspace(root, project) {
  const rooms = buildLayout(root);
  let unfollow = followTabs(root);
  const shell = { root, rooms, toasts: new Toasts(root), preferences: new Preferences() };
  appear(shell.preferences.value);
  /** @type {Workspace | null} */
  let workspace = null;
  let gone = false;
  const open = async () => {
    try {
      const [me, store] = await Promise.all([get('/me', {}), EditStore.open()]);
      if (gone) return;
      workspace = new Workspace(shell, me, store);
      Object.assign(root, { workspace }); // for tests, and for whoever looks with the browser's tools
      await workspace.open(project);
    } catch (error) {
      console.error(error);
      const again = h('button', { class: 'g-button', on: { click: () => location.reload() } }, 'Try again');
      replace(rooms.notice, h('b', {}, 'The workspace could not be loaded'), h('span', {}, sentenceOf(error)), again);
      rooms.notice.hidden = false;
    }
    root.dataset.started = 'on';
  };
  return {
    opened: open(),
    followTabs() {
      unfollow();
      unfollow = followTabs(root);
    },
    destroy() {
      gone = true;
      unfollow();
      workspace?.destroy();
      shell.preferences.destroy();
    },
  };
}
