// The open page read again by OCR: a job of the server does it, and its words come in when that has ended.

import { get, post } from '../core/api.js';

/** @import { DocumentWithQuestions, PageLine, ProjectView } from '../types' */
/** @import { Pages } from '../state/pages.js' */

const PAUSE = 1500; // ms between two looks at the job
const LONGEST = 600_000; // ms; after so long the page is read when it is opened anew
const ENDED = ['done', 'failed', 'cancelled', 'dead'];

/**
 * @typedef {object} ReadAgainEvents
 * @property {() => void} changed
 * @property {(page: string) => void} words of a page are others
 * @property {(sentence: string) => void} tell
 */

export class ReadAgain {
  /** Pages that are being read. */
  busy = new Set();

  /**
   * @param {{
   *   readonly document: DocumentWithQuestions | null;
   *   readonly page: PageLine | null;
   *   readonly project: ProjectView | null;
   * }} library
   * @param {Pages} pages
   * @param {ReadAgainEvents} on
   */
  constructor(library, pages, on) {
    this.library = library;
    this.pages = pages;
    this.on = on;
  }

  /** Has the open page read again, and resolves when its words are here. */
  async page() {
    const { document, page, project } = this.library;
    if (!document || !page || !project || this.busy.has(page.id)) return;
    this.busy.add(page.id);
    this.on.changed();
    try {
      const asked = await post('/pages/{page_id}/read-again', { page_id: page.id }, undefined);
      this.on.tell(await this.followed(project.id, asked.id));
      await this.renew(document, page.id);
    } finally {
      this.busy.delete(page.id);
      this.on.changed();
    }
  }

  /**
   * Waits for a job; resolves with what became of it.
   *
   * @param {string} project
   * @param {string} id
   */
  async followed(project, id) {
    const end = Date.now() + LONGEST;
    while (Date.now() < end) {
      await new Promise((done) => setTimeout(done, PAUSE));
      const jobs = await get('/projects/{project_id}/jobs', { project_id: project });
      const job = jobs.find((each) => each.id === id);
      if (job && ENDED.includes(job.status)) return job.failure || job.message;
      if (job?.failure) return job.failure; // it is tried again later
    }
    return 'The page is still being read; open it again later.';
  }

  /**
   * @param {DocumentWithQuestions} document
   * @param {string} page
   */
  async renew(document, page) {
    this.pages.forget(page);
    await this.pages.wordsOf(page);
    const { pages } = await get('/documents/{document_id}', { document_id: document.id, questions: false });
    for (const fresh of pages) Object.assign(document.pages.find((each) => each.id === fresh.id) ?? {}, fresh);
    this.on.words(page);
  }
}
