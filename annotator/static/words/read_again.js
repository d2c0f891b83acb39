// The open page read again by OCR, or turned: a job of the server reads it, and its words come in when that has ended.

import { get, post } from '../core/api.js';

/** @import { Action, DocumentWithQuestions, PageLine, ProjectView } from '../types' */
/** @import { Library } from '../state/library.js' */
/** @import { Pages } from '../state/pages.js' */

const PAUSE = 1500; // ms between two looks at the job
const LONGEST = 600_000; // ms; after so long the page is read when it is opened anew
const ENDED = ['done', 'failed', 'cancelled', 'dead'];

/**
 * @typedef {object} ReadAgainEvents
 * @property {() => void} changed
 * @property {(page: string) => void} words of a page are others
 * @property {() => Promise<unknown>} turned the open page was turned
 * @property {(sentence: string, action?: Action) => void} tell
 */

export class ReadAgain {
  /** Pages that are being read. */
  busy = new Set();

  /**
   * @param {Library} library
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
      await this.hear(document, page, project, asked.id);
    } finally {
      this.busy.delete(page.id);
      this.on.changed();
    }
  }

  /**
   * Turns the open page; words by OCR are read anew.
   *
   * @param {90 | 180 | 270} degrees clockwise
   */
  async turn(degrees) {
    const { document, page, project } = this.library;
    if (!document || !page || !project || this.busy.has(page.id)) return;
    const { id, number, image } = page;
    this.busy.add(id);
    this.on.changed();
    try {
      const turned = await post('/pages/{page_id}/turn', { page_id: id }, { degrees, image });
      const back = degrees === 90 ? 270 : 90;
      const undo = { label: 'Turn back', run: () => void (this.library.page?.id === id && this.turn(back)) };
      if (this.library.document === document && this.library.take([turned.page])) await this.on.turned();
      this.on.tell(`Page ${number} was turned.`, undo);
      if (turned.reading) await this.hear(document, page, project, turned.reading.id);
    } finally {
      this.busy.delete(id);
      this.on.changed();
    }
  }

  /**
   * Waits for the job that reads a page, says what became of it, and takes its words.
   *
   * @param {DocumentWithQuestions} document
   * @param {PageLine} page
   * @param {ProjectView} project
   * @param {string} job
   */
  async hear(document, page, project, job) {
    this.on.tell(await this.followed(project.id, job));
    await this.renew(document, page.id);
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
    if (this.library.document === document && this.library.take(pages)) await this.on.turned();
    for (const fresh of pages) Object.assign(document.pages.find((each) => each.id === fresh.id) ?? {}, fresh);
    this.on.words(page);
  }
}
