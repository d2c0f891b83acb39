// Skipping a task with a reason, taking that back, and the list of skipped tasks for reviewers.

import { put, remove } from '../core/api.js';
import { openSkipDialog } from './skip_dialog.js';
import { openSkipped } from './skipped_dialog.js';

/** @import { SkipRequest } from '../types' */
/** @import { Library } from '../state/library.js' */
/** @import { Navigation } from '../state/navigation.js' */
/** @import { ToastAction, WorkMode } from './work_mode.js' */

/**
 * @typedef {object} SkipPorts
 * @property {HTMLElement} root takes the dialogs
 * @property {(step: () => unknown) => void} act runs what may fail, and says so
 * @property {(sentence: string, action?: ToastAction) => void} tell
 */

export class Skips {
  /**
   * @param {object} parts
   * @param {Library} parts.library
   * @param {Navigation} parts.navigation
   * @param {WorkMode} parts.work
   * @param {SkipPorts} ports
   */
  constructor({ library, navigation, work }, ports) {
    this.library = library;
    this.navigation = navigation;
    this.work = work;
    this.ports = ports;
  }

  /** Asks why the task in hand cannot be answered. */
  open() {
    const { task } = this.work.tasks;
    if (this.work.mode !== 'queue' || !task) return this.ports.tell('Only a task of the queue can be skipped.');
    openSkipDialog(this.ports.root, task.question.text, (reason, note) =>
      this.ports.act(() => this.skip(task.id, { reason, note })),
    );
  }

  /**
   * @param {string} task
   * @param {SkipRequest} why
   */
  async skip(task, why) {
    const { tasks } = this.work;
    await put('/tasks/{task_id}/skip', { task_id: task }, why);
    const undo = { label: 'Undo', run: () => this.ports.act(() => this.takeBack(task)) };
    this.ports.tell('Skipped. A reviewer decides what becomes of this task.', undo);
    if (tasks.held === task) await tasks.next();
  }

  /** @param {string} task */
  async takeBack(task) {
    const { work } = this;
    await remove('/tasks/{task_id}/skip', { task_id: task });
    if (work.mode === 'queue') await work.tasks.goTo(task);
    else await work.tasks.count();
  }

  /** The tasks that wait for a reviewer's decision. */
  async list() {
    const { library, navigation, work, ports } = this;
    if (!library.project) return;
    await openSkipped(ports.root, library.project.id, {
      answer: (line) =>
        ports.act(async () => {
          await work.enter('free');
          if (await navigation.document(line.document_id, null)) await navigation.ask(line.question, true);
        }),
      decided: () => work.tasks.count(),
    });
  }
}
