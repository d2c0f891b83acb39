// A document that is still being read: its further pages come in while people look at the first ones.

import { get } from './api.js';

const PAUSE = 1000; // milliseconds between two looks

export class Incoming {
  // library: Library. grown(): the open document has more pages; ended(document): all are there, or there will be no more.
  constructor(library, { grown, ended }) {
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
    const fresh = document?.reading ? await get(`/documents/${document.id}?questions=false`).catch(() => document) : null;
    this.timer = null;
    if (!fresh || this.library.document !== document) return this.follow();
    const more = fresh.pages.length > document.pages.length;
    Object.assign(document, { pages: fresh.pages, reading: fresh.reading, warnings: fresh.warnings });
    if (more) this.grown();
    if (!document.reading) this.ended(document);
    this.follow();
  }

  destroy() {
    clearTimeout(this.timer);
    this.timer = true; // nobody follows any more
  }
}
