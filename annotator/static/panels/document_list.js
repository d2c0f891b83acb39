// The left column's upper half: the documents of the project, their search, uploads under way.

/** @import { DocumentLine, ProjectView } from '../types' */

import { h, redraw } from '../core/dom.js';
import { count } from '../core/text.js';
import { WindowedList } from '../core/windowed_list.js';
import { icon } from '../core/icons.js';
import { hint } from '../core/keyboard.js';
import { thumbnailAddress } from '../core/api.js';

const ACCEPTED = new Set(['accepted', 'fixed']);

/**
 * @typedef {object} DocumentListActs
 * @property {(document: string) => unknown} open
 * @property {() => unknown} upload
 * @property {(text: string) => unknown} search
 * @property {() => unknown} more
 * @property {(project: string) => unknown} project
 * @property {(document: DocumentLine) => unknown} rename
 */

/**
 * @typedef {object} DocumentListView
 * @property {readonly Pick<ProjectView, 'id' | 'name' | 'archived_at'>[]} projects
 * @property {Pick<ProjectView, 'id'> | null} project the open one
 * @property {readonly DocumentLine[] | null} documents those that were fetched; null: not known yet
 * @property {number} total number of those that the search finds
 * @property {string} query what they were found by
 * @property {string | undefined} open id of the open document
 * @property {readonly { status: string }[]} [asked] its questions, as the list beside the page has them
 */

/** @param {string} text as the server compares it */
const folded = (text) => text.normalize('NFKC').toLowerCase().replaceAll('ß', 'ss').normalize('NFKC');

/**
 * Whether a search has found a document by its printed words, for the name has not all that was searched.
 *
 * @param {string} name
 * @param {string} query
 */
function foundByPrint(name, query) {
  const key = folded(name);
  return !folded(query)
    .split(/\s+/)
    .every((word) => key.includes(word));
}

export class DocumentList {
  /**
   * @param {HTMLElement} root
   * @param {DocumentListActs} act
   */
  constructor(root, act) {
    this.act = act;
    /** @type {HTMLSelectElement} */
    this.project = h('select', {
      class: 'g-project',
      'aria-label': 'Project',
      on: { change: () => act.project(this.project.value) },
    });
    /** @type {HTMLInputElement} */
    this.search = h('input', {
      type: 'search',
      placeholder: 'Search',
      'aria-label': 'Search documents',
      title: `Search in names and printed words   ${hint('documents')}`,
      on: { input: () => act.search(this.search.value), keydown: (event) => this.down(event) },
    });
    this.archived = h(
      'p',
      { class: 'g-quiet g-pad', hidden: true },
      'This project is archived. Nothing in it can be changed.',
    );
    this.uploads = h('div', { class: 'g-uploads', hidden: true });
    this.list = h('div', {
      class: 'g-documents',
      role: 'listbox',
      'aria-label': 'Documents',
    });
    this.rows = new WindowedList(this.list, {
      key: (each) => each.id,
      make: (/** @type {DocumentLine} */ each) =>
        h('button', {
          class: 'g-document',
          role: 'option',
          title: each.name,
          dataset: { document: each.id },
          on: {
            click: () => act.open(each.id),
            dblclick: () => act.rename(this.lineOf(each)),
            keydown: (event) => event.key === 'F2' && act.rename(this.lineOf(each)),
          },
        }),
      updateRow: (row, each) => {
        row.title = each.name;
        row.ariaSelected = String(each.id === this.open);
        const line = this.counted(each);
        const printed = foundByPrint(line.name, this.query);
        redraw(row, [line, printed], () => this.content(line, printed));
      },
      more: () => act.more(),
    });
    this.none = h('div', { class: 'g-no-documents' });
    root.append(
      h('header', { class: 'g-head' }, this.project),
      h(
        'div',
        { class: 'g-head' },
        h('label', { class: 'g-search' }, icon('search', 16), this.search),
        h(
          'button',
          {
            class: 'g-button g-upload',
            title: `Upload PDF files or pictures   ${hint('upload')}`,
            on: { click: () => act.upload() },
          },
          icon('upload', 16),
          h('span', { class: 'g-upload-label' }, 'Upload'),
        ),
      ),
      this.archived,
      this.uploads,
      this.list,
      this.none,
    );
    /** @type {readonly DocumentLine[] | null} */
    this.documents = null;
    this.total = 0;
    this.query = '';
    /** @type {string | undefined} id of the project whose documents are shown */
    this.place = undefined;
    /** @type {string | undefined} */
    this.open = undefined;
    this.at = -1; // where its row stands
    this.homeless = false;
    /** @type {readonly { status: string }[] | undefined} */
    this.asked = undefined;
    /** @type {readonly unknown[]} */
    this.painted = []; // from what
    /** @type {string | undefined} */
    this.reached = undefined; // id of the open document, once its row was brought into sight
    new ResizeObserver(() => this.reach()).observe(this.list); // where it was not laid out before
  }

  /** @param {DocumentListView} view */
  render({ projects, project, documents, total, query, open, asked }) {
    redraw(
      this.project,
      projects.map(({ id, name, archived_at: archived }) => [id, name, archived]),
      () =>
        projects.map((each) =>
          h('option', { value: each.id, dir: 'auto' }, each.archived_at ? `${each.name} (archived)` : each.name),
        ),
    );
    this.project.value = project?.id ?? '';
    this.archived.hidden = !projects.some((each) => each.id === project?.id && each.archived_at);
    this.project.dataset.alone = String(projects.length < 2);
    this.homeless = projects.length === 0;
    if (this.place && project?.id !== this.place) this.search.value = ''; // another project's list begins without a search
    this.place = project?.id;
    Object.assign(this, { documents, total, query, open, asked });
    this.paint();
  }

  paint() {
    const { documents, total, query, open, asked } = this,
      drawn = [documents, total, query, open, asked];
    if (drawn.every((each, at) => each === this.painted[at])) return; // every stroke passes here
    const found = query !== this.painted[2];
    this.painted = drawn;
    const shown = documents ?? [];
    this.list.hidden = !shown.length;
    redraw(this.none, [shown.length, documents === null, query, this.homeless], () => this.nothing(shown.length));
    if (found) this.list.scrollTop = 0;
    this.at = shown.findIndex((each) => each.id === open);
    this.rows.show(shown, total, Math.max(0, this.at));
    this.reach();
  }

  /**
   * Why there is nothing to choose from.
   *
   * @param {number} shown
   */
  nothing(shown) {
    if (shown || this.homeless) return null; // the stage says why
    if (!this.documents) return h('p', { class: 'g-quiet g-pad' }, 'Loading…');
    if (this.query)
      return h('p', { class: 'g-quiet g-pad' }, `No document has “${this.query}” in its name or printed on it.`);
    return h(
      'div',
      { class: 'g-empty' },
      icon('page', 28),
      h('b', {}, 'No documents yet'),
      h('span', {}, 'Drop PDF files or pictures anywhere in this window, or choose Upload.'),
    );
  }

  /** A document that was opened comes into sight; later the list stays where somebody has scrolled it. */
  reach() {
    const { open, at } = this;
    if (open === this.reached || (open && at < 0)) return; // its line is on its way
    if (!open || this.rows.reveal(at)) this.reached = open;
  }

  /**
   * The questions of the open document are known better than its line, which is fetched now and then. Standard
   * questions that nobody has asked yet stand in the line alone.
   *
   * @param {DocumentLine} line
   * @returns {DocumentLine}
   */
  counted(line) {
    if (line.id !== this.open || !this.asked) return line;
    const accepted = this.asked.filter(({ status }) => ACCEPTED.has(status)).length;
    return { ...line, questions: Math.max(line.questions, this.asked.length), accepted };
  }

  /**
   * The line of a row as it was fetched last: a row outlives the name that it was made with.
   *
   * @param {DocumentLine} made
   */
  lineOf(made) {
    return this.documents?.find(({ id }) => id === made.id) ?? made;
  }

  /** Where Tab comes in: the open document, or the search. */
  focus() {
    if (!this.rows.focus(this.rows.stop)) this.search.focus();
  }

  /**
   * From the field down into what it has found.
   *
   * @param {KeyboardEvent} event
   */
  down(event) {
    if (event.key !== 'ArrowDown' || event.altKey) return;
    event.preventDefault();
    this.rows.focus(0);
  }

  /**
   * @param {DocumentLine} each
   * @param {boolean} printed whether printed words have found it
   */
  content(each, printed) {
    const state = each.questions ? `${each.accepted} of ${each.questions} accepted` : 'no questions';
    return [
      h('img', {
        src: each.cover_page_id && thumbnailAddress(each.cover_page_id, each.cover_image ?? '', 80),
        alt: '',
        loading: 'lazy',
        decoding: 'async',
      }),
      h(
        'span',
        { class: 'g-document-text' },
        h('span', { class: 'g-name', dir: 'auto' }, each.name),
        h('span', { class: 'g-quiet' }, `${printed ? 'In its text' : count(each.pages, 'page')} · ${state}`),
      ),
      each.same_as
        ? h(
            'span',
            { class: 'g-copied', title: `Same as ${each.same_as}` },
            icon('copy', 14),
            h('span', { class: 'g-unseen' }, 'Duplicate'),
          )
        : null,
      each.questions > 0 && each.accepted === each.questions
        ? h('span', { class: 'g-done', title: 'All questions accepted' }, icon('check', 14))
        : null,
      each.warnings?.length ? h('span', { class: 'g-warned', title: each.warnings.join(' ') }, icon('warn', 14)) : null,
    ];
  }
}
