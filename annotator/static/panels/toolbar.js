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

// A tooltip with the key of a command; the workspace writes it anew when the keys change.
const tip = (text, command, more = {}) => ({
  title: `${text}   ${hint(command)}`,
  dataset: { tip: text, command, ...more },
});

export class Toolbar {
  // act: name of a command -> void. The names are those of keyboard.js.
  constructor(root, act) {
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
    this.radius = h('input', {
      type: 'range',
      min: '2',
      max: '120',
      step: '1',
      class: 'g-radius',
      'aria-label': 'Brush width',
      title: `Brush width   [ ]`,
      on: { input: (event) => act('radius', Number(event.target.value)) },
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

  // view: { tool, radius, undo, redo, marked, editable, mendable, number, pages, scale }
  render(view) {
    for (const [name, button] of Object.entries(this.tools)) {
      button.setAttribute('aria-pressed', String(name === view.tool));
      button.disabled = !(name === 'mend' ? view.mendable : view.editable);
    }
    this.undo.disabled = !view.undo;
    this.redo.disabled = !view.redo;
    this.clear.disabled = view.tool === 'mend' || !(view.editable && view.marked);
    this.size.hidden = !(view.editable && ['brush', 'eraser'].includes(view.tool));
    this.radius.value = view.radius;
    this.before.disabled = !(view.number > 1);
    this.after.disabled = !(view.number < view.pages);
    this.page.textContent = view.pages ? `${view.number} / ${view.pages}` : '–';
    this.scale.disabled = !view.pages;
    this.scaled(view.pages ? view.scale : null);
  }

  // A step of the zoom changes this alone.
  scaled(scale) {
    this.scale.textContent = scale ? `${Math.round(scale * 100)} %` : '–';
  }
}
