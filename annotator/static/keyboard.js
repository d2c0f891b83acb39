// Every key and what it does. The help under "?" and the tooltips are made from this table.

// [name, keys, group, what it does]. "Mod" is Control, or Command on a Mac.
export const BINDINGS = [
  ['ask', ['/', 'q'], 'Ask and answer', 'Write a question'],
  ['accept', ['Enter'], 'Ask and answer', 'Accept the answer'],
  ['next', ['n'], 'Ask and answer', 'Next open question'],
  ['candidate', ['1', '2', '3'], 'Ask and answer', 'First, second, third proposal'],
  ['noAnswer', ['x'], 'Ask and answer', 'Not answered in this document'],
  ['questionUp', ['k'], 'Ask and answer', 'Question before'],
  ['questionDown', ['j'], 'Ask and answer', 'Question after'],
  ['word', ['w'], 'Tools', 'Words: click or drag; Shift takes the line'],
  ['box', ['r'], 'Tools', 'Box: draw a frame around the answer'],
  ['brush', ['b'], 'Tools', 'Brush'],
  ['eraser', ['e'], 'Tools', 'Eraser'],
  ['plus', ['p'], 'Tools', 'Point: it is here'],
  ['minus', ['m'], 'Tools', 'Point: it is not here'],
  ['thickness', ['[', ']'], 'Tools', 'Thinner, thicker brush'],
  ['undo', ['Mod+z'], 'Tools', 'Undo'],
  ['redo', ['Mod+Shift+z', 'Mod+y'], 'Tools', 'Redo'],
  ['clear', ['Delete', 'Backspace'], 'Tools', 'Clear this page'],
  ['cursor', ['ArrowLeft', 'ArrowRight', 'ArrowUp', 'ArrowDown'], 'Without a mouse', 'Move over words; move the cross of a tool'],
  ['apply', ['Space'], 'Without a mouse', 'Use the tool there; a box takes two corners'],
  ['zoomIn', ['+'], 'Page', 'Zoom in'],
  ['zoomOut', ['-'], 'Page', 'Zoom out'],
  ['fit', ['0'], 'Page', 'Whole page'],
  ['pageUp', ['PageUp'], 'Page', 'Page before'],
  ['pageDown', ['PageDown'], 'Page', 'Page after'],
  ['documents', ['d'], 'Page', 'Search the documents'],
  ['upload', ['u'], 'Page', 'Upload documents'],
  ['help', ['?'], 'Page', 'This list'],
  ['escape', ['Escape'], 'Page', 'Close; leave a field; give up a stroke'],
];

const APPLE = /Mac|iP(hone|ad)/.test(navigator.platform ?? '');
const SIGNS = {
  ArrowLeft: '←', ArrowRight: '→', ArrowUp: '↑', ArrowDown: '↓', Delete: 'Del', Escape: 'Esc', PageUp: 'Page ↑', PageDown: 'Page ↓',
  Mod: APPLE ? '⌘' : 'Ctrl', Shift: APPLE ? '⇧' : 'Shift', Alt: APPLE ? '⌥' : 'Alt',
};

// "Mod+Shift+z" -> ["Ctrl", "Shift", "Z"]
export const signs = (key) =>
  (key === '+' ? ['+'] : key.split('+')).map((part) => SIGNS[part] ?? (part.length === 1 ? part.toUpperCase() : part));

export function hint(name) {
  const binding = BINDINGS.find(([each]) => each === name);
  return binding ? signs(binding[1][0]).join(' ') : '';
}

function written(event) {
  const key = event.key === ' ' ? 'Space' : event.key.length === 1 ? event.key.toLowerCase() : event.key;
  const parts = [];
  if (event.ctrlKey || event.metaKey) parts.push('Mod');
  if (event.altKey) parts.push('Alt');
  // Shift is part of a sign like "?" already; arrows and Space take it as a modifier of what they do.
  if (event.shiftKey && parts.includes('Mod')) parts.push('Shift');
  return [...parts, key].join('+');
}

const TABLE = new Map([...BINDINGS.flatMap(([name, keys]) => keys.map((key) => [key, name])), ['=', 'zoomIn']]); // "+" without Shift
const typing = (element) => element?.matches?.('input, textarea, select, [contenteditable=true]');
// A button or a row that has the focus answers to these itself.
const own = (element, key) => ['Enter', 'Space'].includes(key) && element?.matches?.('button, a, [role=option], [role=button], summary');

// commands: name -> function(event). Keys that nobody wants are left to the browser.
export class Keyboard {
  constructor(root, commands, space) {
    this.root = root;
    this.commands = commands;
    this.space = space; // (held) => void
    this.listening = new AbortController();
    const { signal } = this.listening;
    document.addEventListener('keydown', (event) => this.down(event), { signal });
    document.addEventListener('keyup', (event) => event.key === ' ' && this.space(false, event), { signal });
    window.addEventListener('blur', () => this.space(false, null), { signal });
  }

  // Only while the workspace is on the screen, and the focus is in it or nowhere.
  awake(target) {
    return this.root.offsetParent !== null || this.root.getClientRects().length > 0 ? this.root.contains(target) || target === document.body : false;
  }

  down(event) {
    if (event.defaultPrevented || event.isComposing || !this.awake(event.target)) return;
    const key = written(event);
    const name = TABLE.get(key);
    if (document.querySelector('.g-dialog') && name !== 'escape') return;
    if (typing(event.target) && name !== 'escape') return;
    if (own(event.target, key)) return;
    if (key === 'Space') {
      event.preventDefault();
      if (!event.repeat) this.space(true, event);
      return;
    }
    const command = this.commands[name];
    if (!command) return;
    if (command(event) !== false) event.preventDefault();
  }

  destroy() {
    this.listening.abort();
  }
}
