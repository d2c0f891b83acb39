// What does not fit into the toolbar goes into a panel behind "More", the least needed first, or to a place of its own.
// Nothing else moves.

import { h } from '../core/dom.js';
import { icon } from '../core/icons.js';

const STOPS = 'button:not(:disabled), input:not(:disabled)';
const STEPS = new Map([
  ['ArrowDown', 1],
  ['ArrowUp', -1],
]);

/**
 * One thing of the toolbar, in the order of the toolbar. home: the part of the bar where it stands while there is room;
 * rank: the smaller ones come into the bar first; aside: where it stands otherwise, in place of the panel; stays: the
 * panel stays open when it is used there.
 *
 * @typedef {object} Unit
 * @property {HTMLElement} element
 * @property {HTMLElement} home
 * @property {number} rank
 * @property {HTMLElement} [aside]
 * @property {boolean} [stays]
 */

export class Overflow {
  /**
   * @param {HTMLElement} bar
   * @param {readonly Unit[]} units
   * @param {() => void} opening the panel opens
   */
  constructor(bar, units, opening) {
    this.bar = bar;
    this.units = units;
    this.opening = opening;
    this.ranks = [...new Set(units.map(({ rank }) => rank))].sort((one, other) => one - other);
    this.more = h(
      'button',
      {
        class: 'g-icon-button g-more',
        'aria-label': 'More tools',
        'aria-expanded': 'false',
        'aria-controls': 'g-more-panel',
        title: 'More tools',
        hidden: true,
        on: {
          click: () => this.open(this.panel.hidden),
          keydown: (event) => this.key(event),
        },
      },
      icon('more'),
    );
    this.panel = h('div', {
      class: 'g-more-panel',
      id: 'g-more-panel',
      role: 'group',
      'aria-label': 'More tools',
      hidden: true,
      on: {
        click: (event) => this.used(event),
        keydown: (event) => this.key(event),
        focusout: (event) => this.left(event.relatedTarget),
      },
    });
    bar.append(this.more);
    bar.after(this.panel);
    this.place(new Set(this.ranks));
    this.outside = (/** @type {PointerEvent} */ { target }) => {
      if (target instanceof Node && !this.panel.contains(target) && !this.more.contains(target)) this.open(false);
    };
    this.observer = new ResizeObserver(() => this.fit());
    this.observer.observe(bar);
  }

  /** Puts into the bar what fits; units of the same rank stand together. */
  fit() {
    const { bar, more, ranks } = this;
    if (!bar.clientWidth) return; // another tab is open
    const held = document.activeElement;
    const fits = () => bar.scrollWidth <= bar.clientWidth;
    more.hidden = true;
    bar.dataset.labels = 'on';
    this.place(new Set(ranks));
    if (!fits()) bar.dataset.labels = 'off';
    if (!fits()) {
      more.hidden = false;
      /** @type {Set<number>} */
      const kept = new Set();
      for (const rank of ranks) {
        this.place(new Set([...kept, rank]));
        if (fits()) kept.add(rank);
      }
      this.place(kept);
    }
    if (!this.panel.childElementCount) this.open(false);
    if (held instanceof HTMLElement && held !== document.activeElement && held.isConnected)
      (held.checkVisibility() ? held : more).focus({ preventScroll: true });
  }

  /** @param {ReadonlySet<number>} ranks of what stands in the bar */
  place(ranks) {
    for (const { element, home, rank, aside } of this.units)
      (ranks.has(rank) ? home : (aside ?? this.panel)).append(element);
  }

  /** @param {boolean} wish */
  open(wish) {
    if (wish === !this.panel.hidden) return;
    if (wish) this.opening();
    this.panel.hidden = !wish;
    this.more.setAttribute('aria-expanded', String(wish));
    if (wish) document.addEventListener('pointerdown', this.outside, { capture: true });
    else document.removeEventListener('pointerdown', this.outside, { capture: true });
  }

  close() {
    const inside = this.panel.contains(document.activeElement);
    this.open(false);
    if (inside) this.more.focus({ preventScroll: true });
  }

  /** @param {Event} event a click in the panel */
  used({ target }) {
    const unit = this.units.find(({ element }) => target instanceof Node && element.contains(target));
    if (unit && !unit.stays) this.close();
  }

  /** @param {EventTarget | null} to what has the focus now; null: nothing, as when the window loses it */
  left(to) {
    if (to instanceof Node && !this.panel.contains(to) && to !== this.more) this.open(false);
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const open = !this.panel.hidden,
      step = STEPS.get(event.key);
    if (event.key === 'Escape' && open) this.close();
    else if (step && event.target === this.more) {
      this.open(true);
      this.focus(step > 0 ? 0 : -1);
    } else if (step && open) this.focus(this.at() + step);
    else if (open && (event.key === 'Home' || event.key === 'End') && !(event.target instanceof HTMLInputElement))
      this.focus(event.key === 'Home' ? 0 : -1);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  stops() {
    const all = /** @type {HTMLElement[]} */ ([...this.panel.querySelectorAll(STOPS)]);
    return all.filter((each) => each.checkVisibility());
  }

  at() {
    return this.stops().findIndex((each) => each === document.activeElement);
  }

  /** @param {number} at counted round: -1 is the last one */
  focus(at) {
    const stops = this.stops();
    stops.at(at % (stops.length || 1))?.focus();
  }

  destroy() {
    this.observer.disconnect();
    this.open(false);
  }
}
