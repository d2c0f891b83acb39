// Ready sets of fields, to begin with: chosen from a list, they are added to the fields of the draft.

import { get } from '../core/api.js';
import { h, redraw } from '../core/dom.js';
import { selectInput } from './field_inputs.js';
import { button, Say } from './people_parts.js';

/** @import { FieldDefinition, ReadyFields } from '../types' */

export class ReadySets {
  /** @param {(fields: FieldDefinition[]) => unknown} add */
  constructor(add) {
    this.add = add;
    /** @type {ReadyFields[]} */
    this.sets = [];
    this.say = new Say();
    this.root = h('span', { class: 'g-line' });
    this.asked = false;
  }

  /** Fetches the sets once; they come with the program. */
  async load() {
    if (this.asked) return;
    this.asked = true;
    await this.say.load(async () => {
      this.sets = await get('/field-sets', {});
    });
    this.asked = this.sets.length > 0;
    redraw(this.root, this.sets, () => [this.choice(), this.say.root]);
  }

  choice() {
    if (!this.sets.length) return null;
    const about = h('span', { class: 'g-hint' });
    const chosen = () => this.sets.find(({ name }) => name === select.value) ?? this.sets[0];
    const tell = () => (about.textContent = chosen().about);
    const select = selectInput(
      this.sets.map(({ name, title }) => [name, title]),
      this.sets[0].name,
      tell,
      { 'aria-label': 'Ready set' },
    );
    tell();
    return [select, button('Add ready set', () => this.add(chosen().fields)), about];
  }
}
