// The left column's upper half: the documents of the project, their search, uploads under way.

/** @import { DocumentLine, ProjectView } from '../types' */

import { h, keyed, redraw } from '../core/dom.js';
import { count } from '../core/text.js';
import { walk } from '../core/list_keys.js';
import { icon } from '../core/icons.js';
import { hint } from '../core/keyboard.js';
import { thumbnailAddress } from '../core/api.js';

const ACCEPTED = new Set(['accepted', 'fixed']);

/**
 * @typedef {object} DocumentListActs
 * @property {(document: string) => unknown} open
 * @property {() => unknown} upload
 * @property {(project: string) => unknown} project
 */

/**
 * @typedef {object} DocumentListView
 * @property {readonly Pick<ProjectView, 'id' | 'name'>[]} projects
 * @property {Pick<ProjectView, 'id'> | null} project the open one
 * @property {readonly DocumentLine[] | null} documents null: not known yet
 * @property {string | undefined} open id of the open document
 * @property {readonly { status: string }[]} [asked] its questions, as the list beside the page has them
 */

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
      placeholder: 'Search documents',
      'aria-label': 'Search documents',
      title: `Search documents   ${hint('documents')}`,
      on: { input: () => this.paint(), keydown: (event) => this.down(event) },
    });
    this.uploads = h('div', { class: 'g-uploads', hidden: true });
    this.list = h('div', {
      class: 'g-documents',
      role: 'listbox',
      'aria-label': 'Documents',
      on: { keydown: (event) => walk(event, '.g-document') },
    });
    this.none = h('div', { class: 'g-no-documents' });
    root.append(
      h(
        'header',
        { class: 'g-head' },
        this.project,
        h(
          'button',
          {
            class: 'g-button g-upload',
            title: `Upload PDF, PNG, JPEG or TIFF   ${hint('upload')}`,
            on: { click: () => act.upload() },
          },
          icon('upload', 16),
          'Upload',
        ),
      ),
      h('label', { class: 'g-search' }, icon('search', 16), this.search),
      this.uploads,
      this.list,
      this.none,
    );
    /** @type {readonly DocumentLine[] | null} */
    this.documents = null;
    /** @type {string | undefined} */
    this.open = undefined;
    this.homeless = false;
    /** @type {readonly { status: string }[] | undefined} */
    this.asked = undefined;
    /** @type {readonly unknown[]} */
    this.painted = []; // from what
    /** @type {string | undefined} */
    this.reached = undefined; // id of the open document, once its row was brought into sight
  }

  /** @param {DocumentListView} view */
  render({ projects, project, documents, open, asked }) {
    redraw(
      this.project,
      projects.map(({ id, name }) => [id, name]),
      () => projects.map((each) => h('option', { value: each.id }, each.name)),
    );
    this.project.value = project?.id ?? '';
    this.project.dataset.alone = String(projects.length < 2);
    this.homeless = projects.length === 0;
    this.documents = documents;
    this.open = open;
    this.asked = asked;
    this.paint();
  }

  paint() {
    const wanted = this.search.value.trim().toLowerCase();
    const drawn = [this.documents, this.open, this.asked, wanted];
    if (drawn.every((each, at) => each === this.painted[at])) return; // every stroke passes here
    this.painted = drawn;
    const shown = (this.documents ?? []).filter((each) => each.name.toLowerCase().includes(wanted));
    this.list.hidden = !shown.length;
    redraw(this.none, [shown.length, this.documents?.length, wanted, this.homeless], () => this.nothing(shown.length));
    const first = shown.find((each) => each.id === this.open) ?? shown[0]; // where Tab comes in
    keyed(this.list, shown, {
      key: (each) => each.id,
      make: (each) =>
        h('button', {
          class: 'g-document',
          role: 'option',
          title: each.name,
          dataset: { document: each.id },
          on: { click: () => this.act.open(each.id) },
        }),
      dress: (row, each) => {
        row.ariaSelected = String(each.id === this.open);
        row.tabIndex = each === first ? 0 : -1;
        const line = this.counted(each);
        redraw(row, line, () => this.content(line));
      },
    });
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
    if (this.documents.length)
      return h('p', { class: 'g-quiet g-pad' }, `No document name contains “${this.search.value.trim()}”.`);
    return h(
      'div',
      { class: 'g-empty' },
      icon('page', 28),
      h('b', {}, 'No documents yet'),
      h('span', {}, 'Drop PDF, PNG, JPEG or TIFF files anywhere in this window, or choose Upload.'),
    );
  }

  /** A document that was opened comes into sight; later the list stays where somebody has scrolled it. */
  reach() {
    const { open } = this;
    if (open === this.reached) return;
    const row = this.list.querySelector('[aria-selected=true]');
    if (open && !row) return; // its line is on its way
    this.reached = open;
    row?.scrollIntoView({ block: 'nearest' });
  }

  /**
   * The questions of the open document are known better than its line, which is fetched now and then. Standard questions
   * that nobody has asked yet stand in the line alone.
   *
   * @param {DocumentLine} line
   * @returns {DocumentLine}
   */
  counted(line) {
    if (line.id !== this.open || !this.asked) return line;
    const accepted = this.asked.filter(({ status }) => ACCEPTED.has(status)).length;
    return { ...line, questions: Math.max(line.questions, this.asked.length), accepted };
  }

  /** Where Tab comes in: the open document, or the search. */
  focus() {
    const row = this.list.querySelector('[tabindex="0"]');
    (row instanceof HTMLElement ? row : this.search).focus();
  }

  /**
   * From the field down into what it has found.
   *
   * @param {KeyboardEvent} event
   */
  down(event) {
    if (event.key !== 'ArrowDown' || event.altKey) return;
    event.preventDefault();
    const first = this.list.querySelector('.g-document');
    if (first instanceof HTMLElement) first.focus();
  }

  /** @param {DocumentLine} each */
  content(each) {
    const state = each.questions ? `${each.accepted} of ${each.questions} accepted` : 'no questions';
    return [
      h('img', {
        src: each.cover_page_id && thumbnailAddress(each.cover_page_id, 80),
        alt: '',
        loading: 'lazy',
        decoding: 'async',
      }),
      h(
        'span',
        { class: 'g-document-text' },
        h('span', { class: 'g-name', dir: 'auto' }, each.name),
        h('span', { class: 'g-quiet' }, `${count(each.pages, 'page')} · ${state}`),
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
