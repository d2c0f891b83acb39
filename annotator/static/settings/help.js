// "Keys and colours": every command with its keys, which can be changed here; the colours of marks; light and dark.

import { aboutLine } from './about.js';
import { THEMES } from './appearance.js';
import { openDialog } from '../core/dialog.js';
import { h, replace } from '../core/dom.js';
import { icon } from '../core/icons.js';
import { BINDINGS, keymap, signs } from '../core/keyboard.js';
import { chordsOf } from '../core/keymap.js';
import { PALETTES } from '../canvas/palettes.js';

const caps = (chord) =>
  h(
    'span',
    { class: 'g-keys' },
    signs(chord).map((sign) => h('kbd', {}, sign)),
  );

class KeyRow {
  // changed(): the keys are others now
  constructor([name, , , text], changed) {
    this.name = name;
    this.text = text;
    this.changed = changed;
    this.fixed = keymap.fixed.has(name);
    this.note = h('span', { class: 'g-key-note', role: 'status' });
    this.keys = h('button', {
      class: 'g-key-button',
      type: 'button',
      disabled: this.fixed,
      on: { click: () => this.listen(), keydown: (event) => this.heard(event), blur: () => this.stop() },
    });
    this.back = h(
      'button',
      {
        class: 'g-icon-button g-small',
        type: 'button',
        'aria-label': `Default keys for: ${text}`,
        title: 'Default keys',
        on: { click: () => this.reset() },
      },
      icon('undo', 14),
    );
    this.element = h(
      'div',
      { dataset: { command: name } },
      h('dt', {}, this.keys),
      h('dd', {}, text, this.note),
      this.back,
    );
    this.render();
  }

  render() {
    const chords = keymap.chords(this.name);
    replace(
      this.keys,
      this.listening
        ? h('i', {}, 'Press a key…')
        : chords.length
          ? chords.map((chord, at) => [at > 0 && chords.length === 2 && h('i', {}, 'or'), caps(chord)]).flat()
          : h('i', {}, 'none'),
    );
    this.keys.dataset.listening = String(Boolean(this.listening));
    const spoken = chords.map((chord) => signs(chord).join(' ')).join(' or ') || 'none';
    this.keys.setAttribute('aria-label', `${this.text}: ${spoken}.${this.fixed ? '' : ' Press to change.'}`);
    this.back.hidden = !(this.name in keymap.changed);
  }

  listen() {
    this.listening = true;
    this.wanted = null;
    this.note.textContent = '';
    this.render();
  }

  stop() {
    if (!this.listening) return;
    this.listening = false;
    this.note.textContent = '';
    this.render();
  }

  heard(event) {
    if (!this.listening || event.key === 'Tab') return;
    event.preventDefault();
    event.stopPropagation();
    if (event.key === 'Escape') return this.stop();
    const [chord] = chordsOf(event);
    if (!chord) return; // Shift or Control alone: more is to come
    const said = signs(chord).join(' '),
      rival = keymap.rival(this.name, chord);
    if (!keymap.may(this.name, chord))
      return (this.note.textContent = `${said} is needed for typing. Add ${signs('Mod')} or ${signs('Alt')}.`);
    if (keymap.fixed.has(rival)) return (this.note.textContent = `${said} cannot be reassigned. Press another key.`);
    if (rival && this.wanted !== chord) {
      const { text, when } = keymap.bindings.get(rival);
      this.wanted = chord;
      return (this.note.textContent = `${said} is in use${when === 'review' ? ' while reviewing' : ''}: “${text}”. Press it again to reassign it, or press another key.`);
    }
    this.listening = false;
    this.note.textContent = '';
    keymap.set(this.name, [chord]);
    this.changed();
  }

  reset() {
    keymap.reset(this.name);
    this.changed();
    this.keys.focus();
  }
}

const choice = (label, options, value, run) =>
  h(
    'label',
    { class: 'g-choice' },
    label,
    h(
      'select',
      { 'aria-label': label, on: { change: (event) => run(event.target.value) } },
      Object.entries(options).map(([each, text]) => h('option', { value: each, selected: each === value }, text)),
    ),
  );

export function openHelp(workspace) {
  const { preferences } = workspace;
  const rows = BINDINGS.map((binding) => [binding[2], new KeyRow(binding, changed)]);
  const all = h(
    'button',
    { class: 'g-link', type: 'button', on: { click: () => (keymap.resetAll(), changed()) } },
    'Reset all keys',
  );
  function changed() {
    for (const [, row] of rows) row.render();
    all.hidden = !Object.keys(keymap.changed).length;
    preferences.set('keys', { ...keymap.changed });
    workspace.relabel();
  }
  all.hidden = !Object.keys(keymap.changed).length;
  const groups = [...new Set(BINDINGS.map(([, , group]) => group))];
  const legend = h(
    'ul',
    { class: 'g-legend' },
    h('li', {}, h('span', { class: 'g-swatch g-model' }), 'Proposed by the model'),
    h('li', {}, h('span', { class: 'g-swatch g-person' }), 'Edited by a person'),
    h('li', {}, h('span', { class: 'g-swatch g-hatched' }), 'Hatched: painted outside marked words'),
    h('li', {}, h('span', { class: 'g-swatch g-dashed' }), 'Dashed: marked words without paint'),
  );
  const appearance = (name) => (value) => (preferences.set(name, value), workspace.appear());
  const palettes = Object.fromEntries(Object.entries(PALETTES).map(([name, { label }]) => [name, label]));
  return openDialog(workspace.root, {
    title: 'Keys and colours',
    wide: true,
    body: [
      h(
        'p',
        { class: 'g-quiet g-help-lead' },
        'Click a key to change it. The wheel zooms. Space and drag, the middle button or two fingers move the page.',
        all,
      ),
      h(
        'div',
        { class: 'g-choices' },
        choice('Theme', THEMES, preferences.value.theme ?? 'system', appearance('theme')),
        choice('Mark colours', palettes, preferences.value.palette ?? 'blue', appearance('palette')),
      ),
      h(
        'div',
        { class: 'g-help' },
        groups.map((group) =>
          h(
            'section',
            {},
            h('h3', {}, group),
            h(
              'dl',
              {},
              rows.filter(([each]) => each === group).map(([, row]) => row.element),
            ),
          ),
        ),
      ),
      h('section', { class: 'g-help-colours' }, h('h3', {}, 'Colours'), legend),
      aboutLine(),
    ],
  });
}
