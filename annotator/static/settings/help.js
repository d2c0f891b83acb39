// "Keys and colours": every command with its keys, which can be changed here; the colours of marks; light and dark.

/** @import { Binding } from '../types' */
/** @import { Preferences } from './preferences.js' */

import { aboutLine } from './about.js';
import { THEMES, ZOOMS } from './appearance.js';
import { openDialog } from '../core/dialog.js';
import { h, replace } from '../core/dom.js';
import { icon } from '../core/icons.js';
import { BINDINGS, keymap, signs } from '../core/keyboard.js';
import { chordsOf } from '../core/keymap.js';
import { PALETTES } from '../canvas/palettes.js';

/** @param {string} chord */
const caps = (chord) =>
  h(
    'span',
    { class: 'g-keys' },
    signs(chord).flatMap((sign, at) => [at > 0 && ' ', h('kbd', {}, sign)]), // spaces, as its name has them
  );

/** A command with its keys, which a press of a key changes. */
class KeyRow {
  /**
   * @param {Binding} binding
   * @param {() => void} changed called when keys are others now
   */
  constructor([name, , , text], changed) {
    this.name = name;
    this.text = text;
    this.changed = changed;
    this.fixed = keymap.fixed.has(name);
    this.listening = false;
    /**
     * Chord of another command that was pressed once, to be given over at the second press.
     *
     * @type {string | null}
     */
    this.wanted = null;
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
          ? chords.map((chord, at) => [at > 0 && chords.length === 2 && h('i', {}, ' or '), caps(chord)])
          : h('i', {}, 'none'),
    );
    this.keys.dataset.listening = String(this.listening);
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

  /** @param {KeyboardEvent} event */
  heard(event) {
    if (!this.listening || event.key === 'Tab') return;
    event.preventDefault();
    event.stopPropagation();
    if (event.key === 'Escape') return this.stop();
    const [chord] = chordsOf(event);
    if (!chord) return; // Shift or Control alone: more is to come
    const obstacle = this.obstacle(chord);
    this.note.textContent = obstacle ?? '';
    if (obstacle !== null) return;
    this.listening = false;
    keymap.set(this.name, [chord]);
    this.changed();
  }

  /**
   * Why the command does not get a chord, or not at the first press; null where it does.
   *
   * @param {string} chord
   */
  obstacle(chord) {
    const said = signs(chord).join(' '),
      rival = keymap.rival(this.name, chord);
    if (!keymap.may(this.name, chord)) return `${said} is needed for typing. Add ${signs('Mod')} or ${signs('Alt')}.`;
    if (!rival) return null;
    if (keymap.fixed.has(rival)) return `${said} cannot be reassigned. Press another key.`;
    if (this.wanted === chord) return null;
    this.wanted = chord;
    const other = keymap.bindings.get(rival),
      when = other?.when === 'review' ? ' while reviewing' : '';
    return `${said} is in use${when}: “${other?.text}”. Press it again to reassign it, or press another key.`;
  }

  reset() {
    keymap.reset(this.name);
    this.changed();
    this.keys.focus();
  }
}

/**
 * A list to choose from, under its label.
 *
 * @param {string} label
 * @param {Record<string, string>} options value -> text
 * @param {unknown} value the one that is chosen now
 * @param {(value: string) => void} run
 */
function choice(label, options, value, run) {
  /** @type {HTMLSelectElement} */
  const select = h(
    'select',
    { 'aria-label': label, on: { change: () => run(select.value) } },
    Object.entries(options).map(([each, text]) => h('option', { value: each, selected: each === value }, text)),
  );
  return h('label', { class: 'g-choice' }, label, select);
}

/**
 * Opens the dialog "Keys and colours".
 *
 * @param {object} workspace
 * @param {HTMLElement} workspace.root
 * @param {Preferences} workspace.preferences
 * @param {() => void} workspace.appear shows the preferences as they are now
 * @param {() => void} workspace.relabel names the keys anew
 */
export function openHelp(workspace) {
  const { preferences } = workspace;
  const rows = BINDINGS.map((binding) => ({ group: binding[2], row: new KeyRow(binding, changed) }));
  const all = h(
    'button',
    { class: 'g-link', type: 'button', on: { click: () => (keymap.resetAll(), changed()) } },
    'Reset all keys',
  );
  function changed() {
    for (const { row } of rows) row.render();
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
    h('li', {}, h('span', { class: 'g-swatch g-hatched' }), 'Hatched: paint that covers no selected text'),
    h('li', {}, h('span', { class: 'g-swatch g-dashed' }), 'Dashed: selected words that are not painted'),
    h('li', {}, h('span', { class: 'g-swatch g-dotted' }), 'Dotted line: words that were read with low confidence'),
  );
  /** @type {(name: string) => (value: string) => void} */
  const appearance = (name) => (value) => {
    preferences.set(name, value);
    workspace.appear();
  };
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
        choice('Zoom to the mark', ZOOMS, preferences.value.zoom ?? 'tasks', appearance('zoom')),
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
              rows.filter((each) => each.group === group).map(({ row }) => row.element),
            ),
          ),
        ),
      ),
      h('section', { class: 'g-help-colours' }, h('h3', {}, 'Colours'), legend),
      aboutLine(),
    ],
  });
}
