// The left column's upper half: the documents of the project, their search, uploads under way.

/** @import { DocumentLine, ProjectView } from '../types' */

import { h, keyed, redraw, replace } from '../core/dom.js';
import { count } from '../core/text.js';
import { walk } from '../core/list_keys.js';
import { icon } from '../core/icons.js';
import { hint } from '../core/keyboard.js';
import { thumbnailAddress } from '../core/api.js';

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
    this.uploads = h('div', { class: 'g-uploads', 'aria-live': 'polite' });
    this.list = h('div', {
      class: 'g-documents',
      role: 'listbox',
      'aria-label': 'Documents',
      on: { keydown: (event) => walk(event, '.g-document') },
    });
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
    );
    /** @type {readonly DocumentLine[] | null} */
    this.documents = null;
    /** @type {string | undefined} */
    this.open = undefined;
    this.homeless = false;
    /** @type {{ documents: readonly DocumentLine[] | null, open: string | undefined, wanted: string } | null} */
    this.painted = null;
  }

  /** @param {DocumentListView} view */
  render({ projects, project, documents, open }) {
    replace(
      this.project,
      projects.map((each) => h('option', { value: each.id }, each.name)),
    );
    this.project.value = project?.id ?? '';
    this.project.dataset.alone = String(projects.length < 2);
    this.homeless = projects.length === 0;
    this.documents = documents;
    this.open = open;
    this.paint();
  }

  paint() {
    const wanted = this.search.value.trim().toLowerCase();
    if (this.painted?.documents === this.documents && this.painted.open === this.open && this.painted.wanted === wanted)
      return; // every stroke passes here
    this.painted = { documents: this.documents, open: this.open, wanted };
    const shown = (this.documents ?? []).filter((each) => each.name.toLowerCase().includes(wanted));
    if (this.documents === null) return replace(this.list, h('p', { class: 'g-quiet g-pad' }, 'Loading…'));
    if (this.homeless) return replace(this.list); // the stage says why
    if (this.documents.length === 0) {
      return replace(
        this.list,
        h(
          'div',
          { class: 'g-empty' },
          icon('page', 28),
          h('b', {}, 'No documents yet'),
          h('span', {}, 'Drop PDF, PNG, JPEG or TIFF files anywhere in this window, or choose Upload.'),
        ),
      );
    }
    if (shown.length === 0)
      return replace(
        this.list,
        h('p', { class: 'g-quiet g-pad' }, `No document name contains “${this.search.value.trim()}”.`),
      );
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
        redraw(row, each, () => this.content(each));
      },
    });
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
        h('span', { class: 'g-name', dir: 'auto' }, shortened(each.name)),
        h(
          'span',
          { class: 'g-quiet', title: each.same_as ? `Same as ${each.same_as}` : null },
          `${count(each.pages, 'page')} · ${state}${each.same_as ? ' · duplicate' : ''}`,
        ),
      ),
      each.questions > 0 && each.accepted === each.questions
        ? h('span', { class: 'g-done', title: 'All questions accepted' }, icon('check', 14))
        : null,
      each.warnings?.length ? h('span', { class: 'g-warned', title: each.warnings.join(' ') }, icon('warn', 14)) : null,
    ];
  }
}

/**
 * The end of a long name tells most (number, date, ending): it stays, the middle gives way.
 *
 * @param {string} name
 */
function shortened(name) {
  const tail = name.length > 24 ? name.slice(-10) : '';
  return [
    h('span', { class: 'g-name-start' }, tail ? name.slice(0, -10) : name),
    tail && h('span', { class: 'g-name-end' }, tail),
  ];
}
