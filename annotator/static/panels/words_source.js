// One line above the pages: where the words of the open page are from, buttons that have it read again or turned, and a
// link to the document with its accepted answers as a PDF.

import { h } from '../core/dom.js';
import { ROOT } from '../core/root.js';

/** @import { DocumentView, PageLine } from '../types' */

/** @type {Readonly<Record<string, string>>} */
const SOURCES = {
  layer: 'Words from the file',
  ocr: 'Words by OCR',
  'layer+ocr': 'Words from the file and by OCR',
  given: 'Words from the import',
  none: 'No words',
};

export class WordsSource {
  /**
   * @param {() => unknown} again the open page is to be read again
   * @param {() => unknown} turn ... or to be turned clockwise
   */
  constructor(again, turn) {
    this.text = h('span', {});
    this.button = h('button', { class: 'g-link', type: 'button', on: { click: again } }, 'Read again with OCR');
    this.turn = h(
      'button',
      {
        class: 'g-link',
        type: 'button',
        dataset: { command: 'turnPage', tip: 'Turn this page clockwise' },
        on: { click: turn },
      },
      'Turn page',
    );
    this.marked = h(
      'a',
      { class: 'g-link', download: true, title: 'The document as a PDF with its accepted answers' },
      'Download marked PDF',
    );
    this.root = h('div', { class: 'g-words-source', hidden: true }, this.text, this.button, this.turn, this.marked);
  }

  /**
   * @param {object} view
   * @param {Pick<DocumentView, 'id' | 'reading'>} view.document
   * @param {Pick<PageLine, 'text_source'> | null | undefined} view.page
   * @param {boolean} view.may
   * @param {boolean} view.busy
   */
  render({ document, page, may, busy }) {
    this.root.hidden = !page;
    if (!page) return;
    this.marked.hidden = document.reading !== null;
    this.marked.href = `${ROOT}/api/documents/${document.id}/marked.pdf`;
    this.text.textContent = busy ? 'The page is being read…' : (SOURCES[page.text_source] ?? '');
    this.button.hidden = !may || busy;
    this.turn.hidden = busy;
  }
}
