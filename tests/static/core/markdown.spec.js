import assert from 'node:assert/strict';
import { test } from 'node:test';

import { blocksOf, spansOf } from '../../../annotator/static/core/markdown.js';

const text = (words) => ({ kind: 'text', spans: [words] });

test('marks in a line become parts, and words with underlines stay', () => {
  assert.deepEqual(spansOf('a **bold** and *slanted* `x*y` in snake_case_name'), [
    'a ',
    { strong: ['bold'] },
    ' and ',
    { em: ['slanted'] },
    ' ',
    { code: 'x*y' },
    ' in snake_case_name',
  ]);
  assert.deepEqual(spansOf('\\*no\\* 2 * 3 * 4'), ['*', 'no', '*', ' 2 * 3 * 4']);
});

test('only links to the web and to mail are links', () => {
  assert.deepEqual(spansOf('[a](https://a.org/b) [c](mailto:x@y.org)'), [
    { link: 'a', to: 'https://a.org/b' },
    ' ',
    { link: 'c', to: 'mailto:x@y.org' },
  ]);
  for (const unsafe of ['[x](javascript:alert)', '[x](data:text/html,y)', '[x](//a.org)', '<b onclick=x>y</b>']) {
    assert.ok(spansOf(unsafe).every((span) => typeof span === 'string'));
    assert.equal(spansOf(unsafe).join(''), unsafe);
  }
  assert.deepEqual(spansOf('See https://a.org/b.'), ['See ', { link: 'https://a.org/b', to: 'https://a.org/b' }, '.']);
});

test('headings, paragraphs, quotations, code and rules are blocks', () => {
  assert.deepEqual(blocksOf('# Due date\nThe day\nto pay.\n\n> Quoted\n\n```\n**x**\n```\n---'), [
    { kind: 'heading', level: 1, spans: ['Due date'] },
    text('The day\nto pay.'),
    { kind: 'quote', blocks: [text('Quoted')] },
    { kind: 'code', text: '**x**' },
    { kind: 'rule' },
  ]);
});

test('lists hold their items and lists in them', () => {
  const [list, numbered] = blocksOf('- one\n- two\n  - inner\n\n3. three\n4. four');
  assert.deepEqual(list, {
    kind: 'list',
    ordered: false,
    first: 1,
    items: [[text('one')], [text('two'), { kind: 'list', ordered: false, first: 1, items: [[text('inner')]] }]],
  });
  assert.deepEqual([numbered.ordered, numbered.first, numbered.items.length], [true, 3, 2]);
});

test('deep nesting ends, and what is deeper stays text', () => {
  const depth = (blocks) => 1 + Math.max(0, ...blocks.map((each) => (each.blocks ? depth(each.blocks) : 0)));
  assert.ok(depth(blocksOf('> '.repeat(1000))) < 10);
});
