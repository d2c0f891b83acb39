// A row of the table of answers: the document, and a link for each field's cell.

import { h, replace } from '../core/dom.js';
import { icon } from '../core/icons.js';
import { brokenWords, placeOf, wordsOf } from './answer_table_words.js';

/** @import { StoredField, TableRow } from '../types' */

/**
 * The cell of a grid; a link into the workspace, so that a press, Enter and another window work as in every link.
 *
 * @param {'rowheader' | 'gridcell'} role
 */
function makeCell(role) {
  /** @type {HTMLAnchorElement} */
  const link = h('a', { class: 'g-table-link', tabindex: -1, href: '#' });
  return { root: h('div', { class: 'g-table-cell', role }, link), link };
}

export class GridRow {
  /** @type {TableRow | null} */
  shown = null;

  /**
   * @param {string} project id
   * @param {readonly StoredField[]} columns
   */
  constructor(project, columns) {
    this.project = project;
    this.columns = columns;
    this.head = makeCell('rowheader');
    this.cells = columns.map(() => makeCell('gridcell'));
    this.root = h('div', { class: 'g-table-row', role: 'row' }, this.head.root, ...this.cells.map(({ root }) => root));
  }

  /** @param {number} at column; 0: the document */
  link(at) {
    return at ? this.cells[at - 1]?.link : this.head.link;
  }

  /** @param {TableRow} row */
  updateRow(row) {
    if (row === this.shown) return;
    this.shown = row;
    this.updateHead(row);
    this.columns.forEach((field, at) => {
      const cell = row.cells[field.name],
        { root, link } = this.cells[at];
      const { text, state, title } = wordsOf(cell, field, row.rules);
      link.href = placeOf(this.project, row.document_id, cell);
      root.dataset.look = state?.look ?? '';
      link.title = title;
      // Everything that the title says is read out, for a state is no colour alone.
      link.setAttribute('aria-label', title.replaceAll('\n', '. '));
      replace(link, state && icon(state.sign, 14), h('span', { dir: 'auto' }, text));
    });
  }

  /** @param {TableRow} row */
  updateHead(row) {
    const { root, link } = this.head,
      broken = brokenWords(row);
    link.href = placeOf(this.project, row.document_id);
    root.dataset.look = broken ? 'bad' : '';
    link.title = [row.name, broken].filter(Boolean).join('\n');
    link.setAttribute('aria-label', link.title.replaceAll('\n', '. '));
    const mark = broken && h('b', { class: 'g-table-broken' }, icon('warn', 14), String(row.broken));
    replace(link, h('span', { dir: 'auto' }, row.name), mark);
  }
}
