// How many words of the page were read with low confidence, at the foot of the page while words are mended.

import { h, redraw } from '../core/dom.js';
import { count } from '../core/text.js';
import { hint } from '../core/keyboard.js';

export class DoubtLine {
  /**
   * @param {HTMLElement} room
   * @param {() => void} next goes to the next of these words
   */
  constructor(room, next) {
    this.next = next;
    this.text = h('span', { role: 'status' });
    this.button = h('div', {});
    this.root = h('div', { class: 'g-doubts', hidden: true }, this.text, this.button);
    room.append(this.root);
  }

  /** @param {number} number of doubtful words; 0 while no words are mended */
  render(number) {
    this.root.hidden = number === 0;
    const key = hint('nextDoubtful');
    redraw(this.text, [number], () => [number > 0 && `${count(number, 'word')} read with low confidence`]);
    // Apart from the text: the button keeps the focus while the number changes.
    redraw(this.button, [key], () => [
      h(
        'button',
        {
          class: 'g-button g-mend-button',
          type: 'button',
          'aria-label': 'Next word of low confidence',
          title: `Next word of low confidence   ${key}`,
          on: { pointerdown: (event) => event.preventDefault(), click: this.next },
        },
        h('span', {}, 'Next'),
        key && h('kbd', {}, key),
      ),
    ]);
  }
}
