// The left column's lower half: the pages of the open document, and which of them carry a mark.

/** @import { DocumentView, Origin, PageLine } from '../types' */

import { h, replace } from '../core/dom.js';
import { thumbnailAddress } from '../core/api.js';
import { percent } from '../core/text.js';
import { walk } from '../core/list_keys.js';
import { WordsSource } from './words_source.js';

const NEAR = '400px'; // how far outside the strip pictures are held: a document may have hundreds of pages

/**
 * @typedef {object} PageStripActs
 * @property {(page: string) => unknown} open
 * @property {() => unknown} stop the reading of a long document is to end
 * @property {() => unknown} resume ... or to go on
 * @property {() => unknown} again the open page is to be read again
 * @property {() => unknown} turn ... or to be turned clockwise
 * @property {() => unknown} rename the document is to get another name
 */

/**
 * @typedef {object} PageStripView
 * @property {Pick<DocumentView, 'id' | 'pages' | 'reading' | 'cut_off'> | null} document
 * @property {{ id: string } | null} page the open one
 * @property {boolean} mayReadAgain
 * @property {boolean} beingRead the open page, once more
 * @property {Readonly<Record<string, Origin>>} marks page id -> who drew its mark
 * @property {Readonly<Record<string, number>>} chances page id -> probability that it answers, 0..1
 */

/**
 * @typedef {object} StripRow
 * @property {string} id
 * @property {number} number
 * @property {string} image version of its picture
 * @property {HTMLElement} element
 * @property {HTMLElement} paper
 * @property {HTMLElement} share
 * @property {HTMLElement} marked
 * @property {boolean} [here]
 * @property {string} [mark]
 * @property {number} [chance]
 */

export class PageStrip {
  /**
   * @param {HTMLElement} root
   * @param {PageStripActs} acts
   */
  constructor(root, { open, stop, resume, again, turn, rename }) {
    this.open = open;
    /** @type {StripRow[]} */
    this.rows = [];
    this.title = h('h3', {});
    this.stop = h('button', { class: 'g-link', type: 'button', hidden: true, on: { click: stop } }, 'Stop reading');
    this.resume = h(
      'button',
      { class: 'g-link', type: 'button', hidden: true, on: { click: resume } },
      'Read the rest',
    );
    this.rename = h('button', {
      class: 'g-link',
      type: 'button',
      title: 'Rename document   F2',
      on: { click: rename },
    });
    this.rename.append('Rename');
    this.list = h('div', {
      class: 'g-pages',
      role: 'listbox',
      'aria-label': 'Pages',
      on: { keydown: (event) => walk(event, '.g-thumbnail') },
    });
    this.root = root;
    this.source = new WordsSource(again, turn);
    const head = h('div', { class: 'g-strip-head' }, this.title, this.stop, this.resume, this.rename);
    root.append(head, this.source.root, this.list);
    /** @type {string | null} */
    this.shown = null; // id of the document
    this.observer = new IntersectionObserver((entries) => entries.forEach((entry) => this.picture(entry)), {
      root: this.list,
      rootMargin: `${NEAR} 0px`,
    });
  }

  /** @param {PageStripView} view */
  render({ document, page, marks, chances, mayReadAgain, beingRead }) {
    this.root.hidden = !document;
    if (!document) return;
    if (this.shown !== document.id) {
      this.shown = document.id;
      this.observer.disconnect();
      this.rows = [];
      replace(this.list);
      this.list.scrollTop = 0;
    }
    const { pages, reading, cut_off: cutOff } = document;
    const here = pages.find((each) => each.id === page?.id);
    this.source.render({ document, page: here, may: mayReadAgain, busy: beingRead });
    this.rename.hidden = !mayReadAgain; // reviewers do both
    this.stop.hidden = !reading;
    this.resume.hidden = !cutOff;
    this.list.hidden = pages.length < 2 && !reading; // a single page stands before one's eyes
    this.title.textContent = reading
      ? `Pages · ${pages.length} of ${reading}`
      : pages.length > 1
        ? `Pages · ${pages.length}`
        : 'Pages';
    this.append(pages.slice(this.rows.length));
    for (const [at, row] of this.rows.entries()) {
      const line = pages[at];
      if (line && line.image !== row.image) this.turned(row, line);
      const here = row.id === page?.id,
        mark = marks[row.id] ?? '',
        chance = chances[row.id];
      if (row.here === here && row.mark === mark && row.chance === chance) continue;
      if (here && !row.here) requestAnimationFrame(() => row.element.scrollIntoView({ block: 'nearest' }));
      Object.assign(row, { here, mark, chance });
      row.element.setAttribute('aria-selected', String(here));
      row.element.tabIndex = here ? 0 : -1;
      row.element.dataset.mark = mark;
      row.element.style.setProperty('--chance', String(chance ?? 0));
      row.marked.textContent = mark ? ', marked' : '';
      row.share.textContent = chance === undefined ? '' : percent(chance);
    }
  }

  /**
   * All pages of a document, and later those that come in behind them: in their order, without gaps.
   *
   * @param {readonly PageLine[]} pages
   */
  append(pages) {
    const rows = pages.map((each) => this.row(each));
    this.rows.push(...rows);
    this.list.append(...rows.map(({ element }) => element));
    for (const { paper } of rows) this.observer.observe(paper);
  }

  /**
   * @param {PageLine} page
   * @returns {StripRow}
   */
  row({ id, number, width, height, image }) {
    const style = `aspect-ratio: ${width} / ${height}`;
    const paper = h('span', { class: 'g-paper', style, dataset: { page: id, image } });
    const marked = h('span', { class: 'g-unseen' });
    const share = h('span', { class: 'g-chance', title: 'Probability that this page answers the question' });
    const element = h(
      'button',
      { class: 'g-thumbnail', role: 'option', on: { click: () => this.open(id) } },
      paper,
      h(
        'span',
        { class: 'g-thumbnail-foot' },
        h('span', {}, h('span', { class: 'g-unseen' }, 'Page '), String(number), marked),
        share,
      ),
    );
    return { id, number, image, element, paper, share, marked };
  }

  /**
   * A page was turned: its paper has another shape, and another picture.
   *
   * @param {StripRow} row
   * @param {PageLine} page
   */
  turned(row, { width, height, image }) {
    row.image = image;
    row.paper.style.aspectRatio = `${width} / ${height}`;
    row.paper.dataset.image = image;
    row.paper.replaceChildren();
    this.observer.unobserve(row.paper); // observed anew, it tells at once whether it is near
    this.observer.observe(row.paper);
  }

  /**
   * The picture of a page that is near is fetched; that of a page far away is let go.
   *
   * @param {IntersectionObserverEntry} entry
   */
  picture({ target, isIntersecting }) {
    const { page, image = '' } = target instanceof HTMLElement ? target.dataset : {};
    if (!isIntersecting) target.replaceChildren();
    else if (page && !target.firstChild)
      target.append(h('img', { src: thumbnailAddress(page, image, 200), alt: '', decoding: 'async' }));
  }
}
