// A document that is still being read: its further pages come in while people look at the first ones.

import { get, post } from '../core/api.js';

/** @import { DocumentView, DocumentWithQuestions } from '../types' */

/** @typedef {Pick<DocumentView, 'pages' | 'reading' | 'cut_off' | 'warnings'>} Reading */

/**
 * @typedef {object} ReadingEvents
 * @property {() => void} grown the open document has more pages
 * @property {(sentence: string) => void} warned reading has stopped for now
 * @property {(document: DocumentWithQuestions) => void} ended all pages are there, or there will be no more
 */

export class IncomingPages {
  /**
   * @param {{ readonly document: DocumentWithQuestions | null }} library
   * @param {ReadingEvents} on
   */
  constructor(library, on) {
    this.library = library;
    this.on = on;
  }

  /** Looks how far the open document is. Fails silently: the next change tells again. */
  async look() {
    const { document } = this.library;
    if (!document?.reading) return;
    const values = { document_id: document.id, questions: false };
    const fresh = await get('/documents/{document_id}', values).catch(() => null);
    if (fresh) this.show(document, fresh);
  }

  /**
   * The reading of the open document is to end at its next step, or to go on.
   *
   * @param {'stop' | 'resume'} wish
   */
  async ask(wish) {
    const { document } = this.library;
    if (!document) return;
    this.show(
      document,
      await post(`/documents/{document_id}/reading/${wish}`, { document_id: document.id }, undefined),
    );
  }

  /**
   * @param {DocumentWithQuestions} document
   * @param {Reading} fresh
   */
  show(document, { pages, reading, cut_off, warnings }) {
    if (this.library.document !== document) return;
    const more = pages.length > document.pages.length,
      over = document.reading && !reading;
    const newest = warnings.at(-1);
    if (reading && newest && warnings.length > document.warnings.length) this.on.warned(newest);
    const changed = more || document.reading !== reading || document.cut_off !== cut_off;
    Object.assign(document, { pages, reading, cut_off, warnings });
    if (changed) this.on.grown();
    if (over) this.on.ended(document);
  }
}
