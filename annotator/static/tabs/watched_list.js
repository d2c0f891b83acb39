// A list on one of Gradio's tabs that tells of running work, asked for again while it is seen.

import { get } from '../core/api.js';

const LOOK_MILLISECONDS = 2000;

export class WatchedList {
  // kind: 'imports' or 'exports': the list bears the project as data-KIND, and /projects/ID/KIND tells what stands in it.
  // show(list, project, all, error): draws it; `all` is null where the server did not answer.
  // end(project, id): stops one.
  constructor(kind, show, end) {
    Object.assign(this, { kind, show, end, looking: false });
  }

  watch() {
    setInterval(() => this.look(), LOOK_MILLISECONDS);
  }

  // Gradio builds the list anew whenever the project changes: the one that stands in a tab that is seen.
  get seen() {
    return [...document.querySelectorAll(`ul[data-${this.kind}]`)].find((each) => each.parentElement.checkVisibility());
  }

  async look() {
    const list = this.seen,
      project = list?.dataset[this.kind];
    if (document.hidden || this.looking || !project) return;
    this.looking = true;
    let all = null,
      failed = null;
    try {
      all = await get(`/projects/{project_id}/${this.kind}`, { project_id: project });
    } catch (error) {
      failed = error;
    } finally {
      this.looking = false;
    }
    if (list.isConnected) this.show(list, project, all, failed);
  }

  // Stops one, and looks what became of it; what has ended meanwhile is stopped enough.
  async stop(project, id, wrong) {
    try {
      await this.end(project, id);
    } catch (error) {
      if (error.status !== 404) wrong(error.message);
    }
    await this.look();
  }
}
