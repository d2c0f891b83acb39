// The queue of tasks: the next one is leased, asked, shown; others see that it is held. Draws nothing.

import { get, post } from '../core/api.js';
import { LeasedWork } from './leased_work.js';

/** @import { LeasedTask, NextTask, QueueView, RequestOptions } from '../types' */
/** @import { LeaseEvents } from '../sync/lease.js' */
/** @import { ProjectPlace } from './leased_work.js' */

/**
 * Shows a task, asking its question first where there is no answer yet. Resolves to the id of the answer.
 *
 * @callback ShowTask
 * @param {LeasedTask | null} task
 * @param {string | null} annotation
 * @param {string | null} page
 * @returns {Promise<string | null>}
 */

/** @extends {LeasedWork<NextTask>} */
export class TaskQueue extends LeasedWork {
  /** @type {QueueView | null} */
  counts = null;
  /** @type {LeasedTask | null} */
  task = null;
  /** @type {string | null} one's answer, once there is one; without a task: one that a reviewer gave back */
  annotation = null;

  /**
   * @param {ProjectPlace} library
   * @param {() => number} idle
   * @param {LeaseEvents} on
   * @param {ShowTask} open
   * @param {(document: string, page: string | null) => void} expect fetches what is likely to be shown next
   */
  constructor(library, idle, on, open, expect) {
    super(library, idle, on);
    this.open = open;
    this.expect = expect;
  }

  get held() {
    return this.task?.id ?? null;
  }

  /**
   * @param {string} project
   * @param {string | null} after
   */
  ask(project, after) {
    return post('/projects/{project_id}/queue/next', { project_id: project }, { after });
  }

  /** @param {string} id */
  keep(id) {
    return post('/tasks/{task_id}/heartbeat', { task_id: id }, undefined);
  }

  /**
   * @param {string} id
   * @param {RequestOptions} [options]
   */
  giveBack(id, options) {
    return post('/tasks/{task_id}/release', { task_id: id }, undefined, options);
  }

  /** @param {NextTask} found */
  idOf(found) {
    return found.task?.id ?? null;
  }

  /** Counts again. Fails silently: the next change tells. */
  async count() {
    const { project } = this.library;
    const counts = project && (await get('/projects/{project_id}/queue', { project_id: project.id }).catch(() => null));
    if (!counts || project !== this.library.project) return;
    this.counts = counts;
    this.on.changed();
  }

  /** @param {NextTask} found */
  take({ task, annotation_id, reason, queue }) {
    this.task = task;
    this.annotation = annotation_id;
    this.counts = queue;
    this.reason = task ? null : (reason ?? queue.reason ?? 'No task left for you.');
    this.lease = task && this.lent(task.id, task.lease_until);
  }

  /** @param {NextTask} found */
  present(found) {
    return this.task || this.annotation ? this.show(found.page_id) : null;
  }

  /** @param {string | null} [page] */
  async show(page = null) {
    const { task } = this;
    const annotation = await this.open(task, this.annotation, page);
    if (this.task !== task) return;
    if (annotation) this.annotation = annotation;
    if (task) this.prepareNext(task);
  }

  /**
   * While somebody works on a task, the server computes the answer of the next one, and its document and page are
   * fetched. Fails silently: the next task then takes longer.
   *
   * @param {LeasedTask} task
   */
  async prepareNext(task) {
    const { project } = this.library;
    if (!project) return;
    const address = '/projects/{project_id}/queue/upcoming';
    const upcoming = await post(address, { project_id: project.id }, { after: task.id }).catch(() => null);
    if (upcoming && this.task === task) this.expect(upcoming.document_id, upcoming.page_id);
  }

  /**
   * Takes a certain task instead of the one in hand.
   *
   * @param {string} id
   */
  async goTo(id) {
    await this.lease?.release();
    await this.resume(id);
  }

  drop() {
    this.task = this.annotation = null;
  }
}
