// The queue of tasks: the next one is leased, asked, shown; others see that it is held. Draws nothing.

import { get } from '../core/api.js';
import { HandedOut } from './leased_work.js';
import { Lease } from '../sync/lease.js';

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

  source(project) {
    return `/projects/${project.id}/queue/next`;
  }

  place(id) {
    return `/tasks/${id}`;
  }

  idOf(found) {
    return found.task?.id ?? null;
  }

  async count() {
    const { project } = this.library;
    if (!project) return;
    const counts = await get(`/projects/${project.id}/queue`);
    if (project !== this.library.project) return;
    this.counts = counts;
    this.hear.changed();
  }

  take({ task, annotation_id, reason, queue }) {
    this.task = task;
    this.annotation = annotation_id;
    this.counts = queue;
    this.reason = task ? null : (reason ?? queue?.reason ?? 'No task left for you.');
    this.lease = task && new Lease(this.place(task.id), task.lease_until, this.idle, this.hear);
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
