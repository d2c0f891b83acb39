// The audit trail: who decided what, newest first.

import { h, replace } from '../core/dom.js';
import { Say, button, card, time } from './people_parts.js';

const MANY = 10;

export class AuditCard {
  // fetch({ limit, before }): lines of the trail, newest first.
  constructor(fetch, title, everywhere = false) {
    this.fetch = fetch;
    this.everywhere = everywhere;
    this.say = new Say();
    this.list = h('ul', { class: 'g-rows g-trail' });
    this.more = button('Show older', () => this.older());
    this.more.hidden = true;
    this.root = card(title, this.list, this.say.root, this.more);
    this.load();
  }

  async load() {
    await this.say.act(async () => {
      this.lines = await this.fetch({ limit: MANY });
      this.render(this.lines.length);
    });
  }

  async older() {
    await this.say.act(async () => {
      const more = await this.fetch({ limit: MANY, before: this.lines.at(-1).id });
      this.lines.push(...more);
      this.render(more.length);
    });
  }

  render(got) {
    this.more.hidden = got < MANY;
    replace(
      this.list,
      this.lines.map((line) =>
        h(
          'li',
          {},
          time(line.created_at),
          h(
            'span',
            {},
            h('b', {}, line.actor),
            ` ${line.what}`,
            this.everywhere && line.project ? h('i', {}, ` in ${line.project}`) : null,
          ),
        ),
      ),
      this.lines.length
        ? null
        : h(
            'li',
            { class: 'g-none' },
            'No entries yet. Changes of members, roles and settings, promotions and exports are listed here.',
          ),
    );
  }
}
