// What the workspace is made of, and what each part hears of the others.

import { StageTable } from './canvas/stage_table.js';
import { zoomsIn } from './settings/appearance.js';
import { OpenAnswer } from './state/answer.js';
import { placeOf } from './state/held_answer.js';
import { otherMarks } from './state/parts.js';
import { TableWork } from './state/table_work.js';
import { Effort } from './sync/effort.js';
import { Following } from './sync/following.js';
import { Navigation } from './state/navigation.js';
import { isTable } from './state/table.js';

/** @import { Stage } from './canvas/stage.js' */
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

/**
 * @param {Workspace} workspace
 * @returns {OpenAnswer}
 */
export function makeAnswer(workspace) {
  const { library, session, queue } = workspace;
  return new OpenAnswer({
    queue,
    effort: new Effort(),
    place: placeOf(library, session),
    on: {
      changed: () => workspace.render(),
      mark: () => {
        workspace.paint();
        workspace.render();
      },
      prompts: (mark) => {
        const { page, origin } = workspace.stage;
        if (!page) return;
        const { points, boxes } = mark;
        workspace.stage.setMark({ ...workspace.answer.markOn(page.id), points, boxes }, origin);
      },
      open: (page) => workspace.act(() => workspace.navigation.page(page)),
      tell: (sentence) => workspace.toasts.show(sentence),
      error: (error) => workspace.toasts.error(error),
      free: () => workspace.navigation.handsFree(),
      locked: () => {
        if (workspace.work.lock) workspace.explainLock();
        return workspace.work.lock !== null;
      },
      takeBack: (decision) => workspace.work.takeBack(decision),
    },
  });
}

/** @param {Workspace} workspace */
export const makeTable = (workspace) =>
  new TableWork(workspace.answer, {
    sheet: () => workspace.stage.sheet,
    line: () => workspace.stage.wordUnderHand?.[1] ?? null,
    tell: (sentence) => workspace.toasts.show(sentence),
    changed: () => workspace.render(),
    open: (page) => workspace.act(() => workspace.navigation.page(page)),
  });

/**
 * Shows where the rest of the open answer lies on a page: the grid of its table, or its other values.
 *
 * @param {Stage} stage
 * @param {OpenAnswer} answer
 * @param {string} page
 */
export function showOthers(stage, answer, page) {
  const { local } = answer,
    shown = local && !local.no_answer,
    table = shown && isTable(local);
  stage.setTable(table ? new StageTable(local.parts, answer.cell, page, stage.grid) : null);
  stage.others = shown && !table ? otherMarks(local.parts, local.place, page) : [];
}
