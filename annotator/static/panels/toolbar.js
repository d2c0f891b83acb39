// The row above the page: tools, undo, pages, zoom. What does not fit stands behind "More"; the zoom then stands in a
// corner of the page, for it is needed all the time.

import { h } from '../core/dom.js';
import { icon } from '../core/icons.js';
import { hint } from '../core/keyboard.js';
import { Overflow } from './toolbar_overflow.js';

/** rank: see toolbar_overflow.js */
const TOOLS = [
  {
    name: 'word',
    sign: 'word',
    label: 'Words',
    title: 'Mark words: click one, or drag over text; Shift marks lines',
    rank: 0,
  },
  {
    name: 'box',
    sign: 'box',
    label: 'Box',
    title: 'Draw a box around the words; Shift adds, Alt asks the model',
    rank: 3,
  },
  { name: 'brush', sign: 'brush', label: 'Brush', title: 'Paint with the brush', rank: 4 },
  { name: 'eraser', sign: 'eraser', label: 'Eraser', title: 'Erase with the eraser', rank: 5 },
  { name: 'plus', sign: 'plus_point', label: 'Here', title: 'Here: click a point inside the answer', rank: 8 },
  {
    name: 'minus',
    sign: 'minus_point',
    label: 'Not here',
    title: 'Not here: click a point outside the answer',
    rank: 8,
  },
  {
    name: 'mend',
    sign: 'text',
    label: 'Fix words',
    title: 'Fix words: click one to edit it, drag on an empty area to add one',
    rank: 6,
  },
];

/**
 * @typedef {object} ToolbarView
 * @property {string} tool
 * @property {number} radius of the brush, pixels of the page
 * @property {boolean} undo
 * @property {boolean} redo
 * @property {boolean} marked the page carries a mark
 * @property {boolean} editable the answer can be changed
 * @property {boolean} mendable the words can be changed
 * @property {number | undefined} number of the page
 * @property {number} pages of the document
 * @property {number} scale
 */

export class Toolbar {
  /**
   * @param {HTMLElement} root
   * @param {HTMLElement} stage where the page stands
   * @param {(command: string, value?: number) => unknown} act names are those of keyboard.js
   */
  constructor(root, stage, act) {
    this.act = act;
    /** @type {{ sign: HTMLElement, name: string }[]} */
    this.signs = [];
    this.tools = TOOLS.map(({ name, sign, label, title, rank }) => ({
      name,
      rank,
      button: this.button(name, sign, label, title, {
        class: 'g-tool',
        'aria-pressed': 'false',
        dataset: { tool: name },
      }),
    }));
    this.undo = this.button('undo', 'undo', 'Undo');
    this.redo = this.button('redo', 'redo', 'Redo');
    this.clear = this.button('clear', 'clear', 'Clear this page', 'Clear the mark on this page');
    this.radius = this.slider();
    this.size = h('label', { class: 'g-size' }, h('span', { class: 'g-label' }, 'Brush width'), this.radius);
    this.page = h('span', { class: 'g-number', 'aria-live': 'polite' });
    this.before = this.button('pageUp', 'previous', 'Previous page');
    this.after = this.button('pageDown', 'next', 'Next page');
    this.scale = h('button', {
      class: 'g-number g-scale',
      title: `Fit the whole page   ${hint('fit')}`,
      dataset: { tip: 'Fit the whole page', command: 'fit' },
      on: { click: () => act('fit') },
    });
    this.pages = group('Pages', this.before, this.page, this.after);
    const zoom = group(
      'Zoom',
      this.button('zoomOut', 'zoom_out', 'Zoom out'),
      this.scale,
      this.button('zoomIn', 'zoom_in', 'Zoom in'),
    );
    const corner = h('div', { class: 'g-zoom-corner' });
    stage.append(corner);
    const mark = this.button('zoomMark', 'focus', 'Zoom to the mark');
    const help = this.button('help', 'help', 'Keys and colours');
    const part = (/** @type {string} */ name) => h('div', { class: `g-part-of-bar ${name}` });
    const [left, edit, right] = [part('g-tools'), part('g-edit'), part('g-view')];
    left.setAttribute('role', 'toolbar');
    left.setAttribute('aria-label', 'Tools');
    this.menu = this.menuButton();
    root.append(this.menu, left, edit, h('span', { class: 'g-space' }), right);
    const units = [
      ...this.tools.map(({ button, rank }) => ({ element: button, home: left, rank })),
      { element: this.undo, home: edit, rank: 2, stays: true },
      { element: this.redo, home: edit, rank: 7, stays: true },
      { element: this.clear, home: edit, rank: 10 },
      { element: this.size, home: edit, rank: 9, stays: true },
      { element: this.pages, home: right, rank: 1, stays: true },
      { element: zoom, home: right, rank: 11, aside: corner },
      { element: mark, home: right, rank: 12 },
      { element: help, home: right, rank: 13 },
    ];
    this.overflow = new Overflow(root, units, () => this.relabel());
  }

  /**
   * A button with a sign; its name is read out, and shown where there is room. The workspace writes the tooltip anew
   * when the keys change.
   *
   * @param {string} name of the command
   * @param {string} sign
   * @param {string} label
   * @param {string} [tip]
   * @param {import('../types').Attributes} [more]
   */
  button(name, sign, label, tip = label, { dataset, ...more } = {}) {
    const key = h('kbd', { dataset: { key: hint(name) } }); // no text: the name of the button is its label
    this.signs.push({ sign: key, name });
    return h(
      'button',
      {
        class: 'g-icon-button',
        'aria-label': label,
        title: `${tip}   ${hint(name)}`,
        dataset: { tip, command: name, ...dataset },
        on: { click: () => this.act(name) },
        ...more,
      },
      icon(sign),
      h('span', { class: 'g-label' }, label),
      key,
    );
  }

  /** The keys, where the panel shows them. */
  relabel() {
    for (const { sign, name } of this.signs) sign.dataset.key = hint(name);
  }

  slider() {
    /** @type {HTMLInputElement} */
    const radius = h('input', {
      type: 'range',
      min: '2',
      max: '120',
      step: '1',
      class: 'g-radius',
      'aria-label': 'Brush width',
      title: 'Brush width   [ ]',
      on: { input: () => this.act('radius', Number(radius.value)) },
    });
    return radius;
  }

  menuButton() {
    return h(
      'button',
      {
        class: 'g-icon-button g-menu',
        'aria-expanded': 'false',
        'aria-label': 'Documents and pages',
        title: 'Documents and pages',
        on: { click: () => this.act('menu') },
      },
      icon('menu'),
    );
  }

  /** @param {ToolbarView} view */
  render(view) {
    const number = view.number ?? 0;
    for (const { name, button } of this.tools) {
      button.setAttribute('aria-pressed', String(name === view.tool));
      button.disabled = !(name === 'mend' ? view.mendable : view.editable);
    }
    this.undo.disabled = !view.undo;
    this.redo.disabled = !view.redo;
    this.clear.disabled = view.tool === 'mend' || !(view.editable && view.marked);
    this.size.dataset.of = view.editable && ['brush', 'eraser'].includes(view.tool) ? 'tool' : 'none';
    this.radius.value = String(view.radius);
    this.before.disabled = number <= 1;
    this.after.disabled = !number || number >= view.pages;
    this.page.textContent = view.pages ? `${number} / ${view.pages}` : '–';
    this.scale.disabled = !view.pages;
    this.scaled(view.pages ? view.scale : null);
    const room = `${2 * String(view.pages).length + 3}ch`; // for the last page: turning pages moves nothing
    const single = view.pages < 2;
    if (this.page.style.minWidth === room && this.pages.hidden === single) return;
    this.page.style.minWidth = room;
    this.pages.hidden = single;
    this.overflow.fit();
  }

  /** @param {boolean} open documents and pages are shown over the page */
  showMenu(open) {
    this.menu.setAttribute('aria-expanded', String(open));
  }

  /**
   * A step of the zoom changes this alone.
   *
   * @param {number | null | undefined} scale
   */
  scaled(scale) {
    this.scale.textContent = scale ? `${Math.round(scale * 100)} %` : '–';
    this.scale.setAttribute('aria-label', `${this.scale.textContent}: fit the whole page`);
  }

  destroy() {
    this.overflow.destroy();
  }
}

/**
 * @param {string} label
 * @param {...HTMLElement} controls
 */
const group = (label, ...controls) =>
  h(
    'div',
    { class: 'g-group', role: 'group', 'aria-label': label },
    h('span', { class: 'g-label', 'aria-hidden': 'true' }, label),
    controls,
  );
