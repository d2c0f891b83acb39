// The left column's lower half: the pages of the open document, and which of them carry a mark.

import { h, replace } from './dom.js';
import { thumbnailAddress } from './api.js';
import { walk } from './documents.js';

export class PageStrip {
  constructor(root, open) {
    this.open = open;
    this.title = h('h3', {});
    this.list = h('div', { class: 'g-pages', role: 'listbox', 'aria-label': 'Pages', on: { keydown: (event) => walk(event, '.g-thumbnail') } });
    this.root = root;
    root.append(this.title, this.list);
    this.shown = null;
  }

  // marks: page id -> 'model' | 'person'; chances: page id -> probability that it answers, or undefined
  render({ document, page, marks, chances }) {
    this.root.hidden = !document;
    if (!document) return;
    if (this.shown !== document.id) {
      this.shown = document.id;
      this.title.textContent = 'Pages';
      this.rows = new Map(document.pages.map((each) => [each.id, this.row(each)]));
      replace(this.list, [...this.rows.values()]);
      this.list.scrollTop = 0;
    }
    for (const [id, row] of this.rows) {
      const here = id === page?.id;
      if (here && row.getAttribute('aria-selected') !== 'true') requestAnimationFrame(() => row.scrollIntoView({ block: 'nearest' }));
      row.setAttribute('aria-selected', String(here));
      row.tabIndex = here ? 0 : -1;
      row.dataset.mark = marks[id] ?? '';
      row.querySelector('.g-chance').textContent = chances[id] === undefined ? '' : `${Math.round(100 * chances[id])} %`;
    }
  }

  row(each) {
    return h(
      'button',
      { class: 'g-thumbnail', role: 'option', 'aria-label': `Page ${each.number}`, on: { click: () => this.open(each.id) } },
      h('span', { class: 'g-paper', style: `aspect-ratio: ${each.width} / ${each.height}` }, h('img', { src: thumbnailAddress(each.id, 200), alt: '', loading: 'lazy', decoding: 'async' })),
      h('span', { class: 'g-thumbnail-foot' }, h('span', {}, String(each.number)), h('span', { class: 'g-chance', title: 'Probability that this page answers' })),
    );
  }
}
