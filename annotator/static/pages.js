// Pages as the browser holds them: words and pictures, fetched when somebody looks at a page, the last few kept.

import { get, imageAddress, post, ApiError } from './api.js';

const KEPT_IMAGES = 6;

export class Pages {
  constructor() {
    this.words = new Map(); // page id -> promise of { numbers, boxes, texts, lines }
    this.read = new Map(); // page id -> the same, once it has come
    this.images = new Map(); // page id -> promise of an ImageBitmap, least recently used first
  }

  wordsOf(page) {
    if (!this.words.has(page)) {
      const coming = get(`/pages/${page}/words`);
      coming.then((words) => this.read.set(page, words)).catch(() => this.words.delete(page));
      this.words.set(page, coming);
    }
    return this.words.get(page);
  }

  imageOf(page) {
    const coming = this.images.get(page) ?? this.fetchImage(page);
    this.images.delete(page);
    this.images.set(page, coming);
    coming.catch(() => this.images.delete(page));
    for (const old of this.images.keys()) {
      if (this.images.size <= KEPT_IMAGES) break;
      this.images.delete(old); // not closed here: the stage may still draw it; the collector takes it
    }
    return coming;
  }

  async fetchImage(page) {
    const response = await fetch(imageAddress(page)).catch(() => null);
    if (!response) throw new ApiError('The page cannot be loaded: the server cannot be reached.', 0);
    if (!response.ok) throw new ApiError('The picture of this page cannot be loaded.', response.status);
    return createImageBitmap(await response.blob());
  }

  // The server encodes the page for the model, so that the first question finds it warm. Fails silently: asking works anyway.
  warm(page) {
    post(`/pages/${page}/encode`).catch(() => {});
  }

  // The text of marked words over all pages, in the order of the document; null while some page's words are not here.
  text(pages, marks) {
    const parts = [];
    for (const page of pages) {
      const wanted = marks[page.id]?.words ?? [];
      if (!wanted.length) continue;
      const words = this.read.get(page.id);
      if (!words) return null;
      const chosen = new Set(wanted);
      parts.push(words.numbers.flatMap((number, at) => (chosen.has(number) ? [words.texts[at]] : [])).join(' '));
    }
    return parts.join(' ');
  }
}
