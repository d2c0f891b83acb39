// Pages as the browser holds them: words and pictures, fetched when somebody looks at a page, the last few kept.

import { fetchWithin, get, imageAddress, post, ApiError } from '../core/api.js';
import { living } from '../words/words.js';

export const KEPT_WORDS = 24; // pages
const KEPT_IMAGES = 6;

export class Pages {
  // waiting(page, words): the words with changes on top that the server does not have yet
  constructor(waiting = (_page, words) => words) {
    this.waiting = waiting;
    this.words = new Map(); // page id -> promise of the words (see words.js), least recently used first
    this.read = new Map(); // page id -> the same, once they have come
    this.images = new Map(); // page id -> promise of an ImageBitmap, least recently used first
  }

  wordsOf(page) {
    const coming = this.words.get(page) ?? this.fetchWords(page);
    this.words.delete(page);
    this.words.set(page, coming);
    for (const old of this.words.keys()) {
      if (this.words.size <= KEPT_WORDS) break;
      this.forget(old);
    }
    return coming;
  }

  fetchWords(page) {
    const coming = get('/pages/{page_id}/words', { page_id: page }).then((words) => this.waiting(page, words));
    coming
      .then((words) => this.words.get(page) === coming && this.read.set(page, words))
      .catch(() => this.words.get(page) === coming && this.words.delete(page));
    return coming;
  }

  // The words were mended here, or the server has said how they stand.
  put(page, words) {
    this.words.set(page, Promise.resolve(words));
    this.read.set(page, words);
  }

  forget(page) {
    this.words.delete(page);
    this.read.delete(page);
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
    let response, picture;
    try {
      response = await fetchWithin(imageAddress(page));
      picture = await response.blob();
    } catch {
      throw new ApiError('The server cannot be reached. Try again in a moment.', 0);
    }
    if (!response.ok)
      throw new ApiError(
        'The image of this page could not be loaded. Try again; if it still fails, tell the administrator.',
        response.status,
      );
    return createImageBitmap(picture);
  }

  // The server encodes the page for the model, so that the first question finds it warm. Fails silently: asking works anyway.
  warm(page) {
    post('/pages/{page_id}/encode', { page_id: page }, undefined).catch(() => {});
  }

  // The text of marked words over all pages, in the order of the document; null while some page's words are not here.
  text(pages, marks) {
    const parts = [];
    for (const page of pages) {
      const wanted = marks[page.id]?.words ?? [];
      if (!wanted.length) continue;
      const words = this.read.get(page.id);
      if (!words) return null;
      parts.push(...living(words, wanted).map((each) => each.text));
    }
    return parts.join(' ');
  }
}
