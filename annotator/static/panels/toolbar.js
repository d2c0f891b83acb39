// The row above the page: tools, undo, pages, zoom.

import { h } from '../core/dom.js';
import { icon } from '../core/icons.js';
import { hint } from '../core/keyboard.js';

const TOOLS = [
  ['word', 'Words', 'Mark words: click or drag, Shift marks the line'],
  ['box', 'Box', 'Draw a box around the answer, Shift adds a region'],
  ['brush', 'Brush', 'Paint'],
  ['eraser', 'Eraser', 'Erase'],
  ['plus', 'Here', 'Point inside the answer'],
  ['minus', 'Not here', 'Point outside the answer'],
  ['mend', 'Fix words', 'Fix words: click one to edit it, drag on an empty area to add one'],
];

/**
 * A tooltip with the key of a command; the workspace writes it anew when the keys change.
 *
 * @param {string} text
 * @param {string} command
 * @param {Record<string, string>} [more]
 */
const tip = (text, command, more = {}) => ({
  title: `${text}   ${hint(command)}`,
  dataset: { tip: text, command, ...more },
});

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
   * @param {(command: string, value?: number) => unknown} act names are those of keyboard.js
   */
  constructor(root, act) {
    /**
     * @param {string} name
     * @param {string} sign
     * @param {string} label
     */
    const button = (name, sign, label) =>
      h(
        'button',
        { class: 'g-icon-button', 'aria-label': label, ...tip(label, name), on: { click: () => act(name) } },
        icon(sign),
      );
    this.tools = Object.fromEntries(
      TOOLS.map(([name, label, title]) => [
        name,
        h(
          'button',
          {
            class: 'g-tool',
            'aria-label': title,
            'aria-pressed': 'false',
            ...tip(title, name, { tool: name }),
            on: { click: () => act(name) },
          },
          icon({ plus: 'plus_point', minus: 'minus_point', mend: 'text' }[name] ?? name),
          h('span', {}, label),
        ),
      ]),
    );
    this.undo = button('undo', 'undo', 'Undo');
    this.redo = button('redo', 'redo', 'Redo');
    this.clear = button('clear', 'clear', 'Clear the mark on this page');
    /** @type {HTMLInputElement} */
    this.radius = h('input', {
      type: 'range',
      min: '2',
      max: '120',
      step: '1',
      class: 'g-radius',
      'aria-label': 'Brush width',
      title: `Brush width   [ ]`,
      on: { input: () => act('radius', Number(this.radius.value)) },
    });
    this.size = h('label', { class: 'g-size' }, this.radius);
    this.page = h('span', { class: 'g-number', 'aria-live': 'polite' });
    this.before = button('pageUp', 'previous', 'Previous page');
    this.after = button('pageDown', 'next', 'Following page');
    this.scale = h('button', {
      class: 'g-number g-scale',
      ...tip('Fit the whole page', 'fit'),
      'aria-label': 'Fit the whole page',
      on: { click: () => act('fit') },
    });
    this.menu = h(
      'button',
      {
        class: 'g-icon-button g-menu',
        'aria-label': 'Documents and pages',
        title: 'Documents and pages',
        on: { click: () => act('menu') },
      },
      icon('menu'),
    );
    root.append(
      this.menu,
      h('div', { class: 'g-tools', role: 'toolbar', 'aria-label': 'Tools' }, Object.values(this.tools)),
      this.size,
      h('div', { class: 'g-group' }, this.undo, this.redo, this.clear),
      h('span', { class: 'g-space' }),
      h('div', { class: 'g-group', role: 'group', 'aria-label': 'Pages' }, this.before, this.page, this.after),
      h(
        'div',
        { class: 'g-group', role: 'group', 'aria-label': 'Zoom' },
        button('zoomOut', 'zoom_out', 'Zoom out'),
        this.scale,
        button('zoomIn', 'zoom_in', 'Zoom in'),
        button('zoomMark', 'focus', 'Zoom to the mark'),
      ),
      h('div', { class: 'g-group' }, button('help', 'help', 'Keys and colours')),
    );
  }

  /** @param {ToolbarView} view */
  render(view) {
    for (const [name, button] of Object.entries(this.tools)) {
      button.setAttribute('aria-pressed', String(name === view.tool));
      button.disabled = !(name === 'mend' ? view.mendable : view.editable);
    }
    this.undo.disabled = !view.undo;
    this.redo.disabled = !view.redo;
    this.clear.disabled = view.tool === 'mend' || !(view.editable && view.marked);
    this.size.hidden = !(view.editable && ['brush', 'eraser'].includes(view.tool));
    this.radius.value = String(view.radius);
    const number = view.number ?? 0;
    this.before.disabled = number <= 1;
    this.after.disabled = !number || number >= view.pages;
    this.page.textContent = view.pages ? `${number} / ${view.pages}` : '–';
    this.scale.disabled = !view.pages;
    this.scaled(view.pages ? view.scale : null);
  }

  /**
   * A step of the zoom changes this alone.
   *
   * @param {number | null | undefined} scale
   */
  scaled(scale) {
    this.scale.textContent = scale ? `${Math.round(scale * 100)} %` : '–';
  }
}
