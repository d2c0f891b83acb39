// The queue of tasks: the next one is leased, asked, shown; others see that it is held. Draws nothing.

import { get, post } from '../core/api.js';
import { HandedOut } from './leased_work.js';

export class TaskQueue extends HandedOut {
  // open(task, annotation id or null, page id): shows it, asking its question first where there is no answer.
  // idle(): milliseconds since somebody moved. hear: { changed(), lost(sentence) }
  constructor({ library, open, idle, hear }) {
    super({ library, idle, hear });
    this.open = open;
    this.counts = null; // { open, mine, held, submitted, done, total, to_review, reason }
    this.task = null; // { id, document_id, question }
    this.annotation = null; // id of one's answer, once there is one; without a task: one that a reviewer gave back
  }

  get held() {
    return this.task?.id ?? null;
  }

  ask(project, after) {
    return post('/projects/{project_id}/queue/next', { project_id: project.id }, { after });
  }

  keep(id) {
    return post('/tasks/{task_id}/heartbeat', { task_id: id }, undefined);
  }

  giveBack(id, options) {
    return post('/tasks/{task_id}/release', { task_id: id }, undefined, options);
  }

  idOf(found) {
    return found.task?.id ?? null;
  }

  async count() {
    const { project } = this.library;
    if (!project) return;
    const counts = await get('/projects/{project_id}/queue', { project_id: project.id });
    if (project !== this.library.project) return;
    this.counts = counts;
    this.hear.changed();
  }

  take({ task, annotation_id, reason, queue }) {
    this.task = task;
    this.annotation = annotation_id;
    this.counts = queue;
    this.reason = task ? null : (reason ?? queue?.reason ?? 'No task left for you.');
    this.lease = task && this.lent(task.id, task.lease_until);
  }

  present(found) {
    return this.task || this.annotation ? this.show(found.page_id) : null;
  }

  async show(page = null) {
    const { task } = this;
    const annotation = await this.open(task, this.annotation, page);
    if (this.task === task && annotation) this.annotation = annotation;
  }

  drop() {
    this.task = this.annotation = null;
  }
}
