// Who is at work in this window, and what they may do in the project that is open.

/** @import { Me, ProjectView } from '../types' */

export class Session {
  /**
   * @param {Me} me
   * @param {() => ProjectView | null} project the project that is open
   */
  constructor(me, project) {
    this.user = me.user;
    /** Nobody logs in here: there is nobody to review. */
    this.alone = me.auth === 'local';
    this.project = project;
  }

  get role() {
    return this.user.role === 'admin' ? 'admin' : (this.project()?.role ?? this.user.role);
  }

  /** May write standard questions, and decide about other people's answers. */
  get reviewer() {
    return ['reviewer', 'admin'].includes(this.role);
  }

  get reviews() {
    return this.reviewer && !this.alone;
  }

  /** What this person accepts is only submitted: somebody else decides. */
  get submits() {
    return Boolean(this.project()?.settings.review_required) && !this.reviewer;
  }

  /** @param {{ author: { id: string } }} annotation */
  mine(annotation) {
    return annotation.author.id === this.user.id;
  }
}
