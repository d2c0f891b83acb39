// The audit trail: who decided what, newest first.

import { h, redraw } from '../core/dom.js';
import { Say, button, card, time } from './people_parts.js';

/** @import { AuditLine } from '../types' */

const MANY = 10;

export class AuditCard {
  /**
   * @param {(values: { limit: number, before?: string }) => Promise<AuditLine[]>} fetch lines, newest first
   * @param {string} title
   * @param {boolean} [everywhere] whether lines name their project
   */
  constructor(fetch, title, everywhere = false) {
    this.fetch = fetch;
    this.everywhere = everywhere;
    /** @type {AuditLine[]} */
    this.lines = [];
    this.say = new Say();
    this.list = h('ul', { class: 'g-rows g-trail' });
    this.more = button('Show older', () => this.older());
    this.more.hidden = true;
    this.root = card(title, this.list, this.say.root, this.more);
  }

  // The newest lines; older ones that were asked for stay.
  load() {
    return this.say.load(async () => {
      const newest = await this.fetch({ limit: MANY });
      const at = this.lines.findIndex(({ id }) => id === newest.at(-1)?.id);
      this.render(at < 0 ? newest : [...newest, ...this.lines.slice(at + 1)]);
      if (at < 0) this.more.hidden = newest.length < MANY;
    });
  }

  async older() {
    await this.say.act(async () => {
      const more = await this.fetch({ limit: MANY, before: this.lines.at(-1)?.id });
      this.render([...this.lines, ...more]);
      this.more.hidden = more.length < MANY;
    });
  }

  /** @param {AuditLine[]} lines */
  render(lines) {
    this.lines = lines;
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
