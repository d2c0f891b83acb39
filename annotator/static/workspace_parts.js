// What the workspace is made of, and what each part hears of the others.

import { zoomsIn } from './settings/appearance.js';
import { Following } from './sync/following.js';
import { Navigation } from './state/navigation.js';

/** @import { Workspace } from './workspace.js' */

const JUST_SAVED = 1500; // milliseconds in which a change that comes is likely to be one's own

/** @param {Workspace} workspace */
export function makeNavigation(workspace) {
  const { library, answer, pages, queue, stage } = workspace;
  return new Navigation({
    library,
    answer,
    pages,
    queue,
    ports: {
      act: (step) => void workspace.act(step),
      changed: () => workspace.render(),
      tell: (sentence) => workspace.toasts.show(sentence),
      notice: (notice) => workspace.drawing.notice(notice),
      blank: () => stage.blank(),
      show: (page, image, words) => stage.show(page, image, words),
      reveal: (box) => stage.showMark(box, zoomsIn(workspace.preferences.value, workspace.work.mode)),
      paint: () => workspace.paint(),
      focusPage: () => workspace.focusPage(),
      focusQuestion: () => workspace.panels.box.focus(),
      asked: () => workspace.panels.box.clear(),
      busy: () => Boolean(workspace.wordMode.editor.open || stage.stroking),
      leave: () => workspace.wordMode.leave(),
      free: () => workspace.work.mode === 'free',
      left: () => workspace.work.projectChanged(),
      compare: () => workspace.conflicts.compare(),
      removed: (decision) => workspace.work.removed(decision),
      closeMenu: () => workspace.menu(false),
    },
  });
}

/**
 * What is open follows the server.
 *
 * @param {Workspace} workspace
 */
export function makeFollowing(workspace) {
  return new Following(workspace.library, {
    seen: () => !document.hidden && workspace.root.getClientRects().length > 0,
    answers: () => (workspace.gold.forget(), workspace.formWork.form.refresh(), workspace.navigation.refresh()),
    pages: () => workspace.incoming.look(),
    tasks: () => workspace.work.tasksChanged(),
    questions: () => {
      const { panels, formWork } = workspace;
      return Promise.all([panels.suggestions.load(), panels.guideline.refresh(), formWork.form.refresh()]);
    },
    failed: () => {}, // the next change fetches again
    editing: () => workspace.queue.items.length > 0 || Date.now() - Number(workspace.queue.savedAt ?? 0) < JUST_SAVED,
  });
}
