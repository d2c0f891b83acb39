// Which key calls which command: the defaults of keyboard.js, and what somebody has put in their place.
//
// A chord is written "Mod+Shift+z": "Mod" is Control, or Command on a Mac.

/** @import { Binding, KeyPress, When } from '../types' */

import { signAtPlace, signOnKey } from './keyboard_layout.js';
import { same } from './values.js';

const APPLE = /Mac|iP(hone|ad)/.test(globalThis.navigator?.platform ?? '');
/** @type {Record<string, string>} */
const SIGNS = {
  ArrowLeft: '←',
  ArrowRight: '→',
  ArrowUp: '↑',
  ArrowDown: '↓',
  Delete: 'Del',
  Escape: 'Esc',
  PageUp: 'Page ↑',
  PageDown: 'Page ↓',
  Mod: APPLE ? '⌘' : 'Ctrl',
  Shift: APPLE ? '⇧' : 'Shift',
  Alt: APPLE ? '⌥' : 'Alt',
};
const MODIFIERS = ['Control', 'Shift', 'Alt', 'AltGraph', 'Meta', 'CapsLock', 'Dead', 'Process', 'Unidentified'];
/** @type {ReadonlySet<When | undefined>} commands that hold only then */
const ALONE = new Set(['review', 'form']);
const SIGN = /^[^\p{L}\p{N}]$/u; // Shift is part of a sign like "?" already

/**
 * The keys of a chord as people read them: "Mod+Shift+z" -> ["Ctrl", "Shift", "Z"].
 *
 * @param {string} chord
 */
export function signs(chord) {
  const parts =
    chord === '+' ? ['+'] : chord.endsWith('++') ? [...chord.slice(0, -2).split('+'), '+'] : chord.split('+');
  return parts.map((part) => SIGNS[part] ?? (part.length === 1 ? signOnKey(part).toUpperCase() : part));
}

/**
 * The chords that an event may mean, the most exact first: Shift and a letter are also the letter, where nothing else
 * is said.
 *
 * @param {KeyPress} event
 */
export function chordsOf(event) {
  if (MODIFIERS.includes(event.key)) return [];
  const key = event.key === ' ' ? 'Space' : event.key.length === 1 ? event.key.toLowerCase() : event.key;
  // AltGraph is part of the sign that it types, and on Windows it says Ctrl and Alt, too.
  const typed = event.getModifierState?.('AltGraph') ?? false;
  const held = typed ? [] : [...(event.ctrlKey || event.metaKey ? ['Mod'] : []), ...(event.altKey ? ['Alt'] : [])];
  const plain = [...held, key].join('+'),
    shifted = [...held, 'Shift', key].join('+');
  if (!event.shiftKey) return [plain];
  if (held.includes('Mod')) return [shifted];
  return SIGN.test(key) ? [plain] : [shifted, plain];
}

/**
 * The chords that an event may mean by the place of its key, where the layout types none of the keymap there; and signs
 * that a Mac types with Option.
 *
 * @param {KeyPress} event
 */
function chordsAtPlace(event) {
  if (event.getModifierState?.('AltGraph')) return []; // it types a letter of its own
  const sign = signAtPlace(event);
  if (sign !== undefined) return chordsOf({ ...pressed(event), key: sign });
  return event.altKey && SIGN.test(event.key) ? chordsOf({ ...pressed(event), altKey: false, shiftKey: false }) : [];
}

/** @param {KeyPress} event */
const pressed = ({ key, ctrlKey, metaKey, altKey, shiftKey }) => ({ key, ctrlKey, metaKey, altKey, shiftKey });

/**
 * Whether two commands can be called at the same time.
 *
 * @param {When | undefined} one
 * @param {When | undefined} other
 */
const meet = (one, other) => !(one && other && one !== other);

/** The chords of all commands. */
export class Keymap {
  /**
   * @param {readonly Binding[]} bindings
   * @param {object} kinds
   * @param {readonly string[]} kinds.fixed names of commands whose keys cannot be changed
   * @param {readonly string[]} kinds.typed of those that are called while somebody writes, where a letter of its own
   *   could not be written any more
   */
  constructor(bindings, { fixed, typed }) {
    this.bindings = new Map(bindings.map(([name, usual, , text, when]) => [name, { usual, text, when }]));
    this.fixed = new Set(fixed);
    this.typed = new Set(typed);
    /** @type {Record<string, string[]>} the commands whose chords are not the usual ones */
    this.changed = {};
    /** @type {Map<string, string[]> | null} chord -> commands */
    this.table = null;
  }

  /**
   * Takes the chords that somebody has chosen; what is not understood is left out. A chosen chord is taken from a
   * command that came later with the same usual one.
   *
   * @param {unknown} changed { command: [chords] }, as it was stored
   */
  load(changed) {
    this.changed = {};
    /** @type {[string, unknown][]} */
    const entries = Object.entries(changed ?? {});
    for (const [name, chords] of entries) {
      if (!this.bindings.has(name) || this.fixed.has(name) || !Array.isArray(chords)) continue;
      if (chords.every((chord) => typeof chord === 'string' && this.may(name, chord))) this.changed[name] = chords;
    }
    this.table = null;
    const chosen = Object.entries(this.changed);
    for (const [name, chords] of chosen)
      for (const chord of chords) {
        const other = this.rival(name, chord);
        if (!other || other in this.changed || this.fixed.has(other)) continue;
        this.changed[other] = this.chords(other).filter((each) => each !== chord);
        this.table = null;
      }
  }

  /**
   * The chords of a command.
   *
   * @param {string} name
   */
  chords(name) {
    return this.changed[name] ?? this.bindings.get(name)?.usual ?? [];
  }

  /**
   * Whether a command may have this chord at all.
   *
   * @param {string} name
   * @param {string} chord
   */
  may(name, chord) {
    return !this.typed.has(name) || /^(Mod|Alt)\+|^F\d+$/.test(chord);
  }

  /**
   * The commands that a chord calls: several where they never meet.
   *
   * @param {string} chord
   */
  named(chord) {
    this.table ??= this.tabled();
    return this.table.get(chord) ?? [];
  }

  tabled() {
    /** @type {Map<string, string[]>} */
    const table = new Map();
    for (const name of this.bindings.keys())
      for (const each of this.chords(name)) table.set(each, [...(table.get(each) ?? []), name]);
    return table;
  }

  /**
   * The command that the chord would have to be taken from, if `name` were to have it.
   *
   * @param {string} name
   * @param {string} chord
   */
  rival(name, chord) {
    const when = this.bindings.get(name)?.when;
    return this.named(chord).find((other) => other !== name && meet(when, this.bindings.get(other)?.when));
  }

  /**
   * The command that a key calls.
   *
   * @param {KeyPress} event
   * @param {string | null} [when] 'review' while an answer is under review, 'form' while the form is shown; then the
   *   keys of its own come first
   */
  commandOf(event, when = null) {
    const holds = (/** @type {string} */ name) => this.bindings.get(name)?.when;
    for (const chord of [...chordsOf(event), ...chordsAtPlace(event)]) {
      const named = this.named(chord);
      const special = when === null ? undefined : named.find((name) => holds(name) === when);
      const name = special ?? named.find((each) => !ALONE.has(holds(each)));
      if (name) return name;
    }
    return undefined;
  }

  /**
   * Whether a key calls this command.
   *
   * @param {string} name
   * @param {KeyPress} event
   */
  is(name, event) {
    return this.commandOf(event) === name;
  }

  /**
   * From now on these chords call the command, and no other one that could be meant.
   *
   * @param {string} name
   * @param {string[]} chords
   */
  set(name, chords) {
    for (const chord of chords) {
      for (let other = this.rival(name, chord); other; other = this.rival(name, chord)) {
        this.changed[other] = this.chords(other).filter((each) => each !== chord);
        this.table = null;
      }
    }
    if (same(this.bindings.get(name)?.usual, chords)) delete this.changed[name];
    else this.changed[name] = chords;
    this.table = null;
  }

  /**
   * Gives a command its usual chords back.
   *
   * @param {string} name
   */
  reset(name) {
    this.set(name, this.bindings.get(name)?.usual ?? []);
  }

  /** Gives all commands their usual chords back. */
  resetAll() {
    this.load({});
  }
}
