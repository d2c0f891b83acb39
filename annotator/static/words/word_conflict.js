// Somebody else has mended the words of a page that were mended here too: a person decides what stays.

import { h } from '../core/dom.js';
import { openDialog } from '../core/dialog.js';

const quoted = (text) => h('bdi', { class: 'g-quoted' }, text);

// One change in words. before: the words as they were when the changes began.
function described(edit, before) {
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

// edits: mine, not saved. words: as they stand on the screen.
export function openWordConflict(root, { sentence, kind, edits, words, keepMine, takeTheirs }) {
  const texts = [
    ...words.numbers.map((number, at) => [number, words.texts[at]]),
    ...words.retired.numbers.map((number, at) => [number, words.retired.texts[at]]),
  ];
  const before = new Map(texts);
  return openDialog(root, {
    title:
      kind === 'conflict' ? 'The words of this page were changed by somebody else' : 'The server refused a word change',
    body: [
      h('p', {}, sentence, ' Your changes are not saved yet:'),
      h(
        'ul',
        { class: 'g-changes' },
        edits.map((edit) => h('li', { dir: 'auto' }, described(edit, before).flat(2))),
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
