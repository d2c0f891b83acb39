// Every command with its usual keys. The help under "?" and the tooltips are made from this table; people may choose
// other keys.

/** @import { Binding } from '../types' */

import { Keymap, chordsOf, signs } from './keymap.js';
import { REVIEW_BINDINGS } from './review_keys.js';

export { signs };

/**
 * "marking" commands rest while an answer is under review, "review" commands hold only then: the two never meet, so the
 * same key may call one of each.
 *
 * @type {Binding[]}
 */
export const BINDINGS = [
  ['ask', ['/', 'q'], 'Ask and answer', 'Type a question'],
  ['accept', ['Enter'], 'Ask and answer', 'Accept the answer'],
  ['next', ['n'], 'Ask and answer', 'Next open question'],
  ['skip', ['Shift+n'], 'Ask and answer', 'Skip the task of the queue, with a reason'],
  ['candidate1', ['1'], 'Ask and answer', 'First proposal'],
  ['candidate2', ['2'], 'Ask and answer', 'Second proposal'],
  ['candidate3', ['3'], 'Ask and answer', 'Third proposal'],
  ['candidate4', ['4'], 'Ask and answer', 'Fourth proposal'],
  ['candidate5', ['5'], 'Ask and answer', 'Fifth proposal'],
  ['candidate6', ['6'], 'Ask and answer', 'Sixth proposal'],
  ['candidate7', ['7'], 'Ask and answer', 'Seventh proposal'],
  ['candidate8', ['8'], 'Ask and answer', 'Eighth proposal'],
  ['candidate9', ['9'], 'Ask and answer', 'Ninth proposal'],
  ['reading1', ['y'], 'Values', 'Pick the first reading of an ambiguous value', 'marking'],
  ['reading2', ['o'], 'Values', 'Pick the second reading', 'marking'],
  ['reading3', ['i'], 'Values', 'Pick the third reading', 'marking'],
  ['correctText', ['c'], 'Values', 'Correct the text of the value', 'marking'],
  ['addValue', ['Shift+a'], 'Values', 'Add a value to the answer', 'marking'],
  ['removeValue', ['Shift+Delete'], 'Values', 'Remove the value in hand', 'marking'],
  ['nextValue', ['.'], 'Values', 'Next value of the answer', 'marking'],
  ['previousValue', [','], 'Values', 'Previous value of the answer', 'marking'],
  ['tableAdd', ['Alt+ArrowDown'], 'Tables', 'Add a row below the one in hand', 'marking'],
  ['tableDelete', ['Alt+Delete', 'Alt+Backspace'], 'Tables', 'Delete the row in hand', 'marking'],
  ['tableMerge', ['Alt+ArrowUp'], 'Tables', 'Merge the row in hand with the one above', 'marking'],
  [
    'tableSplit',
    ['Alt+Enter'],
    'Tables',
    'Split the row at the word under the pointer, else below its first line',
    'marking',
  ],
  ['tableLeft', ['Mod+ArrowLeft'], 'Tables', 'Move the words of the cell in hand to the left', 'marking'],
  ['tableRight', ['Mod+ArrowRight'], 'Tables', 'Move the words of the cell in hand to the right', 'marking'],
  ['tableUp', ['Mod+ArrowUp'], 'Tables', 'Move the words of the cell in hand to the row above', 'marking'],
  ['tableDown', ['Mod+ArrowDown'], 'Tables', 'Move the words of the cell in hand to the row below', 'marking'],
  ['proposeRows', ['Alt+r'], 'Tables', 'Propose the other rows from those made or corrected by hand', 'marking'],
  ['noAnswer', ['x'], 'Ask and answer', 'Mark as not answered'],
  ['questionUp', ['k'], 'Ask and answer', 'Previous question'],
  ['questionDown', ['j'], 'Ask and answer', 'Next question'],
  ['standard', ['s'], 'Ask and answer', 'Ask a standard question: then its digit, or Enter for all'],
  ['history', ['h'], 'Ask and answer', 'History of the answer'],
  ['queue', ['l'], 'Work', 'Switch between queue and free questions'],
  ['review', ['v'], 'Work', 'Switch between review and free questions'],
  ['form', ['Shift+f'], 'Form', 'Show or hide the form: all fields of the paper at once'],
  ['formNext', ['Tab'], 'Form', 'Next field; the page follows', 'form'],
  ['formPrevious', ['Shift+Tab'], 'Form', 'Previous field; the page follows', 'form'],
  ['formAcceptAll', ['Mod+Enter'], 'Form', 'Accept all fields that are sure enough', 'form'],
  ['word', ['w'], 'Tools', 'Words: click one, or drag from the first to the last; Shift marks lines', 'marking'],
  ['box', ['r'], 'Tools', 'Box: draw a box around the words; with Alt, the model answers in it', 'marking'],
  ['brush', ['b'], 'Tools', 'Brush', 'marking'],
  ['eraser', ['e'], 'Tools', 'Eraser', 'marking'],
  ['plus', ['p'], 'Tools', 'Point inside the answer', 'marking'],
  ['minus', ['m'], 'Tools', 'Point outside the answer', 'marking'],
  ['thinner', ['['], 'Tools', 'Thinner brush', 'marking'],
  ['thicker', [']'], 'Tools', 'Thicker brush', 'marking'],
  ['undo', ['Mod+z'], 'Tools', 'Undo'],
  ['redo', ['Mod+Shift+z', 'Mod+y'], 'Tools', 'Redo'],
  ['clear', ['Delete', 'Backspace'], 'Tools', 'Clear this page; delete the selected words'],
  ['mend', ['t'], 'Fix words', 'Fix words: click a word to edit it, drag on an empty area to add one'],
  ['nextDoubtful', ['F8'], 'Fix words', 'Next word that was read with low confidence'],
  ['splitWord', ['Mod+Enter'], 'Fix words', 'Split the word at the cursor', 'mending'],
  ['mergeWords', ['g'], 'Fix words', 'Merge the selected words'],
  [
    'cursor',
    ['ArrowLeft', 'ArrowRight', 'ArrowUp', 'ArrowDown'],
    'Without a mouse',
    'Move between words; move the crosshair of a tool',
  ],
  ['apply', ['Space'], 'Without a mouse', 'Apply the tool; a box needs two corners'],
  ['zoomIn', ['+', '='], 'Page', 'Zoom in'],
  ['zoomOut', ['-'], 'Page', 'Zoom out'],
  ['fit', ['0'], 'Page', 'Fit the whole page'],
  ['zoomMark', ['z'], 'Page', 'Zoom to the mark or selection'],
  ['pageUp', ['PageUp'], 'Page', 'Previous page'],
  ['pageDown', ['PageDown'], 'Page', 'Next page'],
  ['turnPage', ['Shift+r'], 'Page', 'Turn the page clockwise'],
  ['documents', ['d'], 'Page', 'Search documents'],
  ['upload', ['u'], 'Page', 'Upload documents'],
  ['help', ['?'], 'Page', 'Show keys and colours'],
  ['escape', ['Escape'], 'Page', 'Close; leave a field; cancel a stroke'],
  ...REVIEW_BINDINGS,
];

/** Space held moves the page, the arrows say where to, and Escape must always lead out. */
export const keymap = new Keymap(BINDINGS, {
  fixed: ['cursor', 'apply', 'escape', 'formNext', 'formPrevious'],
  typed: ['splitWord', 'nextDoubtful'],
});

/**
 * The first chord of a command as people read it: "Ctrl Z".
 *
 * @param {string} name
 */
export function hint(name) {
  const [chord] = keymap.chords(name);
  return chord ? signs(chord).join(' ') : '';
}

/**
 * Tooltips name the keys of their commands.
 *
 * @param {ParentNode} root
 */
export function nameKeys(root) {
  for (const element of root.querySelectorAll('[data-tip]')) {
    if (!(element instanceof HTMLElement)) continue;
    element.title = `${element.dataset.tip}   ${hint(element.dataset.command ?? '')}`.trim();
  }
}

const TEXT = 'input:not([type=range], [type=checkbox], [type=radio]), textarea, select, [contenteditable=true]';

/**
 * Whether somebody writes there; a slider or a tick box is no place for text.
 *
 * @param {EventTarget | null} element
 */
export const typing = (element) => element instanceof Element && element.matches(TEXT);

/**
 * What has the focus answers to these itself; a row or a tab that is chosen already has no answer to give.
 *
 * @type {[keys: string[], selector: string][]}
 */
const OWN = [
  [['Enter', 'Space'], ':is(button, a, [role=option], [role=button], summary):not([aria-selected=true])'],
  [['Space'], '[type=checkbox], [type=radio]'],
  [['ArrowLeft', 'ArrowRight', 'ArrowUp', 'ArrowDown', 'Home', 'End', 'PageUp', 'PageDown'], '[type=range]'],
];

/** @type {(element: EventTarget | null, key: string) => boolean} */
const own = (element, key) =>
  element instanceof Element && OWN.some(([keys, kind]) => keys.includes(key) && element.matches(kind));

/**
 * A field of one line has no page to turn: these keys do nothing in it by themselves.
 *
 * @param {EventTarget | null} element
 * @param {string} key
 */
const idle = (element, key) =>
  ['PageUp', 'PageDown'].includes(key) &&
  element instanceof Element &&
  element.matches('input, textarea[rows="1"]') &&
  element.scrollHeight <= element.clientHeight;

/** Calls commands by their keys. Keys that nobody wants are left to the browser. */
export class Keyboard {
  /**
   * @param {HTMLElement} root
   * @param {Record<string, ((event: KeyboardEvent) => unknown) | undefined>} commands each by its name; one that
   *   returns false leaves the key to the browser
   * @param {(held: boolean, event: KeyboardEvent | null) => void} space hears when Space is held, and let go
   * @param {() => string | null | undefined} [when] 'review' while these keys hold
   */
  constructor(root, commands, space, when = () => null) {
    this.root = root;
    this.when = when;
    this.commands = commands;
    this.space = space;
    this.listening = new AbortController();
    const { signal } = this.listening;
    document.addEventListener('keydown', (event) => this.down(event), { signal });
    document.addEventListener('keyup', (event) => event.key === ' ' && this.space(false, event), { signal });
    window.addEventListener('blur', () => this.space(false, null), { signal });
  }

  /**
   * Whether keys are heard: only while the workspace is on the screen. Wherever the focus is: it may have stayed on the
   * button of the tab.
   */
  get awake() {
    return this.root.getClientRects().length > 0;
  }

  /** @param {KeyboardEvent} event */
  down(event) {
    if (event.defaultPrevented || !this.awake) return;
    const key = chordsOf(event).at(-1) ?? '';
    const name = keymap.commandOf(event, this.when());
    if (document.querySelector('.g-dialog') && name !== 'escape') return;
    if (typing(event.target) && name !== 'escape' && !idle(event.target, key)) return;
    if (own(event.target, key)) return;
    if (key === 'Space') {
      event.preventDefault();
      if (!event.repeat) this.space(true, event);
      return;
    }
    const command = name && this.commands[name];
    if (!command) return;
    if (command(event) !== false) event.preventDefault();
  }

  destroy() {
    this.listening.abort();
  }
}
