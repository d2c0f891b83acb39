// Paint lies over printed words that are not part of the answer's text: taking them is offered.

import { h, redraw } from '../core/dom.js';
import { icon } from '../core/icons.js';
import { count } from '../core/text.js';

export class WordOffer {
  number = 0; // words that can be taken

  /** @param {() => void} take */
  constructor(take) {
    this.root = h('button', { class: 'g-button g-offer', type: 'button', hidden: true, on: { click: () => take() } });
  }

  /** @param {number} number of words under paint */
  render(number) {
    this.number = number;
    this.root.hidden = number === 0;
    const words = number === 1 ? 'word' : count(number, 'word');
    redraw(this.root, number, () => [icon('text', 16), `Take the ${words} under the paint`, h('kbd', {}, 'Enter')]);
  }
}
