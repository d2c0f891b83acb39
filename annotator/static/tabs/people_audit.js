// The audit trail: who decided what, newest first.

import { h, redraw } from '../core/dom.js';
import { Pages } from '../core/pages.js';
import { MoreButton, Say, card, time } from './people_parts.js';

/** @import { FetchPage } from '../core/pages.js' */
/** @import { AuditLine } from '../types' */

const MANY = 10; // entries of one page
const MOST = 500; // entries that the server sends at once

export class AuditCard {
  /**
   * @param {FetchPage<AuditLine>} fetch lines, newest first
   * @param {string} title
   * @param {boolean} [everywhere] whether lines name their project
   */
  constructor(fetch, title, everywhere = false) {
    this.pages = new Pages(fetch, MANY, MOST);
    this.everywhere = everywhere;
    this.say = new Say();
    this.list = h('ul', { class: 'g-rows g-trail' });
    this.more = new MoreButton(this.pages, this.say, () => this.render(), 'Show older');
    this.root = card(title, this.list, this.say.root, this.more.root);
  }

  load() {
    return this.say.load(async () => {
      await this.pages.load();
      this.render();
    });
  }

  render() {
    const lines = this.pages.items;
    this.more.draw();
    redraw(this.list, lines, () =>
      lines.length
        ? lines.map((line) => this.row(line))
        : h(
            'li',
            { class: 'g-none' },
            'No entries yet. Changes of members, roles and settings, promotions and exports are listed here.',
          ),
    );
  }

  /** @param {AuditLine} line */
  row(line) {
    const project = this.everywhere && line.project && h('i', {}, ` in ${line.project}`);
    return h('li', {}, time(line.created_at), h('span', {}, h('b', {}, line.actor), ` ${line.what}`, project));
  }
}
