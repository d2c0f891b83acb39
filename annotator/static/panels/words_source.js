// One line above the pages: where the words of the open page are from, and buttons that have it read again or turned.

import { h } from '../core/dom.js';

/** @import { PageLine } from '../types' */

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
    this.root = h('div', { class: 'g-words-source', hidden: true }, this.text, this.button, this.turn);
  }

  /** @param {{ page: Pick<PageLine, 'text_source'> | null | undefined, may: boolean, busy: boolean }} view */
  render({ page, may, busy }) {
    this.root.hidden = !page;
    if (!page) return;
    this.text.textContent = busy ? 'The page is being read…' : (SOURCES[page.text_source] ?? '');
    this.button.hidden = !may || busy;
    this.turn.hidden = busy;
  }
}
