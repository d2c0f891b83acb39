import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';

import { BINDINGS, hint, keymap, signs } from '../../../annotator/static/core/keyboard.js';
import { Keymap, chordsOf } from '../../../annotator/static/core/keymap.js';
import { keepComposing, useLayout } from '../../../annotator/static/core/keyboard_layout.js';
import { seeded } from '../seeded.js';

const press = (key, ...held) => ({
  key,
  ctrlKey: held.includes('ctrl'),
  metaKey: held.includes('meta'),
  altKey: held.includes('alt'),
  shiftKey: held.includes('shift'),
});

beforeEach(() => keymap.resetAll());

test('a chord is read from an event, the most exact one first', () => {
  for (const [event, chords] of [
    [press('b'), ['b']],
    [press('B', 'shift'), ['Shift+b', 'b']],
    [press('?', 'shift'), ['?']],
    [press('5', 'shift'), ['Shift+5', '5']],
    [press('Enter', 'shift'), ['Shift+Enter', 'Enter']],
    [press(' '), ['Space']],
    [press('z', 'ctrl'), ['Mod+z']],
    [press('z', 'meta'), ['Mod+z']],
    [press('Z', 'ctrl', 'shift'), ['Mod+Shift+z']],
    [press('y', 'ctrl', 'alt'), ['Mod+Alt+y']],
    [press('+'), ['+']],
    [press('Shift', 'shift'), []],
    [press('Dead'), []],
  ])
    assert.deepEqual(chordsOf(event), chords, JSON.stringify(event));
});

test('a chord is shown as keys', () => {
  assert.deepEqual(['Mod+Shift+z', '+', 'Mod++', 'ArrowLeft', 'F2'].map(signs), [
    ['Ctrl', 'Shift', 'Z'],
    ['+'],
    ['Ctrl', '+'],
    ['←'],
    ['F2'],
  ]);
  assert.equal(hint('undo'), 'Ctrl Z');
  assert.equal(hint('no such command'), '');
});

test('of the usual keys no two commands that can be meant at the same time have one in common', () => {
  for (const [name, chords] of BINDINGS)
    for (const chord of chords) assert.equal(keymap.rival(name, chord), undefined, `${name} ${chord}`);
});

test('while an answer is under review its own keys come first, and those of the tools rest there', () => {
  const called = (key, when) => keymap.commandOf(press(key), when);
  assert.equal(called('r', null), 'box');
  assert.equal(called('r', 'review'), 'reviewReject');
  assert.equal(called('a', null), undefined);
  assert.equal(called('a', 'review'), 'reviewAccept');
  assert.equal(called('Enter', 'review'), 'accept');
  keymap.set('reviewReject', ['F2']);
  assert.deepEqual(
    [called('F2', 'review'), called('r', 'review'), called('F2', null)],
    ['reviewReject', 'box', undefined],
  );
  assert.equal(hint('reviewReject'), 'F2');
});

test('a chord that is given to a command is taken from every one that could be meant, and from no other', () => {
  assert.equal(keymap.rival('brush', 'e'), 'eraser');
  assert.equal(keymap.rival('eraser', 'a'), undefined, 'tools and reviews never meet');
  assert.equal(keymap.rival('undo', 'a'), 'reviewAccept', 'undo holds always');
  keymap.set('brush', ['e']);
  assert.deepEqual([keymap.chords('brush'), keymap.chords('eraser')], [['e'], []]);
  assert.ok(keymap.is('brush', press('e')) && !keymap.is('brush', press('b')));
  keymap.reset('eraser');
  assert.deepEqual([keymap.chords('brush'), keymap.chords('eraser')], [[], ['e']]);
  keymap.set('eraser', ['a']);
  assert.deepEqual([keymap.chords('eraser'), keymap.chords('reviewAccept')], [['a'], ['a']]);
  keymap.set('undo', ['m']); // a tool has it, and a review
  assert.deepEqual([keymap.chords('minus'), keymap.chords('reviewQuality')], [[], []]);
});

test('after any choices a chord calls one command at most, and what is stored brings them back', () => {
  const rng = seeded(1),
    names = BINDINGS.map(([name]) => name);
  const chords = ['a', 'b', 'e', 'm', 'Mod+z', 'Shift+b', 'F2', '+'];
  for (let turn = 0; turn < 200; turn++) {
    keymap.resetAll();
    for (let step = 0; step < 6; step++) {
      const name = rng.one(names);
      if (keymap.fixed.has(name) || keymap.typed.has(name)) continue;
      if (rng.share() < 0.2) keymap.reset(name);
      else keymap.set(name, rng.some(chords, rng.whole(1, 3)));
    }
    for (const name of names)
      for (const chord of keymap.chords(name)) assert.equal(keymap.rival(name, chord), undefined, `${name} ${chord}`);
    const again = new Keymap(BINDINGS, { fixed: [...keymap.fixed], typed: [...keymap.typed] });
    again.load(JSON.parse(JSON.stringify(keymap.changed)));
    for (const name of names) assert.deepEqual(again.chords(name), keymap.chords(name));
  }
});

test('what is stored and cannot be is left out', () => {
  keymap.load({ brush: ['F2'], eraser: 'x', plus: [1], gone: ['g'], cursor: ['c'], splitWord: ['y'] });
  assert.deepEqual(keymap.changed, { brush: ['F2'] });
  for (const junk of [null, undefined, 'text', 7, []]) {
    keymap.load(junk);
    assert.deepEqual(keymap.changed, {});
  }
});

test('a command that is called while somebody writes gets no letter of its own', () => {
  for (const [chord, may] of [
    ['y', false],
    ['Shift+y', false],
    ['Alt+y', true],
    ['Mod+Enter', true],
    ['F2', true],
  ])
    // prettier-ignore
    assert.equal(keymap.may('splitWord', chord), may, chord);
  assert.ok(keymap.may('brush', 'y'));
});

test('a chosen key keeps its meaning when a later command has it as its usual one', () => {
  keymap.load({ brush: ['4'] });
  assert.equal(keymap.commandOf(press('4')), 'brush');
  assert.deepEqual(keymap.chords('candidate4'), []);
  assert.equal(keymap.commandOf(press('5')), 'candidate5');
});

test('a key counts by its place where the layout types nothing of the keymap there', () => {
  const at = (code, key, ...held) => ({
    ...press(key, ...held),
    code,
    getModifierState: (name) => name === 'AltGraph' && held.includes('altgraph'),
  });
  for (const [event, name] of [
    [at('KeyW', 'ц'), 'word'],
    [at('KeyZ', 'я', 'ctrl'), 'undo'],
    [at('Digit1', '&'), keymap.commandOf(press('1'))],
    [at('Digit8', '[', 'ctrl', 'alt', 'altgraph'), 'thinner'],
    [at('Digit5', '[', 'alt', 'shift'), 'thinner'], // Option on a Mac
    [at('BracketRight', 'ъ'), 'thicker'],
    [at('KeyQ', 'a'), keymap.commandOf(press('a'))], // a Latin letter means itself wherever it lies
    [at('Digit1', '!', 'shift'), undefined],
    [at('KeyW', ',', 'ctrl'), undefined], // Dvorak types commas there
    [at('KeyA', 'ą', 'ctrl', 'alt', 'altgraph'), undefined], // a Polish letter
  ])
    assert.equal(keymap.commandOf(event), name, JSON.stringify(event));
});

test('keys are shown as the keyboard has them', () => {
  useLayout(
    new Map([
      ['KeyW', 'ц'],
      ['Digit1', '&'],
    ]),
  );
  assert.deepEqual([...['w', '1', 'Mod+b'].map(signs), hint('word')], [['Ц'], ['&'], ['Ctrl', 'B'], 'Ц']);
  useLayout(new Map());
});

test('keys of an input method reach nobody', () => {
  const target = new EventTarget(),
    keys = [];
  keepComposing(target);
  target.addEventListener('keydown', (event) => keys.push(event.name));
  for (const [name, said] of [
    ['confirms in Chromium', { isComposing: true, keyCode: 229 }],
    ['confirms in Safari', { isComposing: false, keyCode: 229 }],
    ['sends', { isComposing: false, keyCode: 13 }],
  ])
    target.dispatchEvent(Object.assign(new Event('keydown'), said, { name }));
  assert.deepEqual(keys, ['sends']);
});
