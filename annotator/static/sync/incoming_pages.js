// A document that is still being read: its further pages come in while people look at the first ones.

import { get, post } from '../core/api.js';

const PAUSE = 1000; // milliseconds between two looks

export class Incoming {
  // library: Library. grown(): the open document has more pages; warned(sentence): reading has stopped for now;
  // ended(document): all pages are there, or there will be no more.
  constructor(library, { grown, warned, ended }) {
    this.warned = warned;
    this.library = library;
    this.grown = grown;
    this.ended = ended;
    this.timer = null;
  }

  // Called whenever a document may have been opened; does nothing for one that is whole.
  follow() {
    if (this.timer || !this.library.document?.reading) return;
    this.timer = setTimeout(() => this.look(), PAUSE);
  }

  async look() {
    const { document } = this.library;
    const fresh = document?.reading
      ? await get('/documents/{document_id}', { document_id: document.id, questions: false }).catch(() => document)
      : null;
    this.timer = null;
    if (fresh) this.show(document, fresh);
    this.follow();
  }

  // The reading of the open document is to end at its next step, or to go on: wish is 'stop' or 'resume'.
  async ask(wish) {
    const { document } = this.library;
    this.show(
      document,
      await post(`/documents/{document_id}/reading/${wish}`, { document_id: document.id }, undefined),
    );
    this.follow();
  }

  show(document, fresh) {
    if (this.library.document !== document) return;
    const more = fresh.pages.length > document.pages.length,
      over = document.reading && !fresh.reading;
    if (fresh.reading && fresh.warnings.length > document.warnings.length) this.warned(fresh.warnings.at(-1));
    const changed = more || document.reading !== fresh.reading || document.cut_off !== fresh.cut_off;
    Object.assign(document, {
      pages: fresh.pages,
      reading: fresh.reading,
      cut_off: fresh.cut_off,
      warnings: fresh.warnings,
    });
    if (changed) this.grown();
    if (over) this.ended(document);
  }

  destroy() {
    clearTimeout(this.timer);
    this.timer = true; // nobody follows any more
  }
}
