// Somebody else has mended the words of a page that were mended here too: a person decides what stays.

/** @import { Child, WordEdit, Words } from '../types' */

import { h } from '../core/dom.js';
import { openDialog } from '../core/dialog.js';

/** @param {string} text */
const quoted = (text) => h('bdi', { class: 'g-quoted' }, text);

/**
 * One change in words.
 *
 * @param {WordEdit} edit
 * @param {Map<number, string>} before the texts of the words as they were when the changes began
 * @returns {Child[]}
 */
function described(edit, before) {
  /** @param {number} number */
  const text = (number) => quoted(before.get(number) ?? '…');
  if (edit.op === 'text') return [text(edit.number), ' becomes ', quoted(edit.text)];
  if (edit.op === 'split')
    return [
      text(edit.number),
      ' is split into ',
      edit.parts.flatMap((part, at) => [at ? ' and ' : '', quoted(part.text)]),
    ];
  if (edit.op === 'merge') return ['Merged: ', edit.numbers.flatMap((number) => [text(number), ' '])];
  if (edit.op === 'add') return ['Added: ', quoted(edit.text)];
  if (edit.op === 'remove') return ['Deleted: ', text(edit.number)];
  return ['A change is undone.'];
}

/**
 * Asks whose words of a page stay.
 *
 * @param {HTMLElement} root
 * @param {object} conflict
 * @param {string} conflict.sentence what the server said
 * @param {string} conflict.kind 'conflict', or 'refused' where nobody else was faster
 * @param {readonly WordEdit[]} conflict.edits mine, not saved
 * @param {Words} conflict.words as they stand on the screen
 * @param {() => void} conflict.keepMine
 * @param {() => void} conflict.takeTheirs
 */
export function openWordConflict(root, { sentence, kind, edits, words, keepMine, takeTheirs }) {
  /** @type {Map<number, string>} */
  const before = new Map();
  for (const { numbers, texts } of [words, words.retired])
    numbers.forEach((number, at) => before.set(number, texts[at]));
  return openDialog(root, {
    title:
      kind === 'conflict' ? 'The words of this page were changed by somebody else' : 'The server refused a word change',
    body: [
      h('p', {}, sentence, ' Your changes are not saved yet:'),
      h(
        'ul',
        { class: 'g-changes' },
        edits.map((edit) => h('li', { dir: 'auto' }, described(edit, before))),
      ),
      h(
        'p',
        { class: 'g-quiet' },
        '“Apply my changes” keeps the saved words and applies your changes where their words still exist.',
      ),
    ],
    actions: [
      { label: 'Use saved words', run: takeTheirs },
      { label: 'Apply my changes', primary: true, run: keepMine },
    ],
  });
}
