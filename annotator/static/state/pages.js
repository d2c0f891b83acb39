// Pages as the browser holds them: words and pictures, fetched when somebody looks at a page, the last few kept.

import { fetchWithin, get, imageAddress, post, ApiError } from '../core/api.js';
import { printedText } from '../words/printed_text.js';
import { living } from '../words/words.js';

/** @import { Mark, PageLine, Words } from '../types' */

export const KEPT_WORDS = 24; // pages
const KEPT_IMAGES = 6;

export class Pages {
  /** @param {(page: string, words: Words) => Words} waiting the words with changes on top that the server lacks yet */
  constructor(waiting) {
    this.waiting = waiting;
    /** @type {Map<string, Promise<Words>>} by page, least recently used first */
    this.words = new Map();
    /** @type {Map<string, Words>} the same, once they have come */
    this.read = new Map();
    /** @type {Map<string, Promise<ImageBitmap>>} by page and version, least recently used first */
    this.images = new Map();
    /** @type {WeakMap<object, { words: (Words | undefined)[], text: string | null }>} of marks, by the words then */
    this.texts = new WeakMap();
  }

  /** @param {string} page */
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

  /** @param {string} page */
  fetchWords(page) {
    const coming = get('/pages/{page_id}/words', { page_id: page }).then((words) => this.waiting(page, words));
    coming
      .then((words) => this.words.get(page) === coming && this.read.set(page, words))
      .catch(() => this.words.get(page) === coming && this.words.delete(page));
    return coming;
  }

  /**
   * The words were fixed here, or the server has said how they stand.
   *
   * @param {string} page
   * @param {Words} words
   */
  put(page, words) {
    this.words.set(page, Promise.resolve(words));
    this.read.set(page, words);
  }

  /** @param {string} page */
  forget(page) {
    this.words.delete(page);
    this.read.delete(page);
  }

  /** @param {Pick<PageLine, 'id' | 'image'>} page */
  imageOf(page) {
    const name = `${page.id} ${page.image}`;
    const coming = this.images.get(name) ?? this.fetchImage(page);
    this.images.delete(name);
    this.images.set(name, coming);
    coming.catch(() => this.images.delete(name));
    for (const old of this.images.keys()) {
      if (this.images.size <= KEPT_IMAGES) break;
      this.images.delete(old); // not closed here: the stage may still draw it; the collector takes it
    }
    return coming;
  }

  /** @param {Pick<PageLine, 'id' | 'image'>} page */
  async fetchImage({ id, image }) {
    let response, picture;
    try {
      response = await fetchWithin(imageAddress(id, image));
      picture = await response.blob();
    } catch {
      throw new ApiError('The server cannot be reached. Try again in a moment.', 0);
    }
    if (!response.ok) {
      const sentence =
        'The image of this page could not be loaded. Try again; if it still fails, tell the administrator.';
      throw new ApiError(sentence, response.status);
    }
    return createImageBitmap(picture);
  }

  /**
   * The server encodes the page for the model, so that the first question finds it warm. Resolves to whether the
   * server is still loading its networks. Fails silently: asking works anyway.
   *
   * @param {string} page
   */
  async warm(page) {
    const encoding = await post('/pages/{page_id}/encode', { page_id: page }, undefined).catch(() => null);
    return encoding?.status === 'loading';
  }

  /**
   * The text of marked words over all pages, in the order of the document; null while some page's words are not here.
   *
   * @param {readonly PageLine[]} pages
   * @param {Record<string, Mark>} marks
   */
  text(pages, marks) {
    const words = Object.keys(marks).map((page) => this.read.get(page)),
      known = this.texts.get(marks);
    if (known && words.every((each, at) => each === known.words[at])) return known.text;
    const text = this.readText(pages, marks);
    this.texts.set(marks, { words, text });
    return text;
  }

  /**
   * Whether one of the marked words was read with low confidence.
   *
   * @param {Record<string, Mark>} marks
   */
  doubts(marks) {
    return Object.entries(marks).some(([page, mark]) => {
      const doubtful = this.read.get(page)?.doubtful;
      return doubtful?.length && mark.words.some((word) => doubtful.includes(word));
    });
  }

  /**
   * @param {readonly PageLine[]} pages
   * @param {Record<string, Mark>} marks
   */
  readText(pages, marks) {
    const parts = [];
    for (const page of pages) {
      const wanted = marks[page.id]?.words ?? [];
      if (!wanted.length) continue;
      const words = this.read.get(page.id);
      if (!words) return null;
      parts.push(printedText(living(words, wanted)));
    }
    return parts.join(' ');
  }
}
