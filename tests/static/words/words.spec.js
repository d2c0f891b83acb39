import assert from 'node:assert/strict';
import { test } from 'node:test';

import { goesLeft, living, editWords, renumbered, tidy } from '../../../annotator/static/words/words.js';
import { seeded } from '../seeded.js';
import { anyEdit, page } from './page.js';

const standing = ({ numbers, boxes, texts, lines, doubtful }) => ({ numbers, boxes, texts, lines, doubtful });

function frozen(value) {
  if (typeof value === 'object' && value) Object.values(value).forEach(frozen);
  return Object.freeze(value);
}

test('the inverse of changes leads back to the words before, and the inverse of that forth again', () => {
  const rng = seeded(1);
  for (let turn = 0; turn < 8; turn++) {
    let words = frozen(page(14)); // few, so that changes meet
    for (let step = 0; step < 40; step++) {
      const edits = [];
      let after = words;
      for (let more = rng.whole(1, 6); more; more--) {
        edits.push(anyEdit(rng, after));
        after = editWords(after, [edits.at(-1)]).words;
      }
      const there = editWords(words, frozen(edits)),
        back = editWords(there.words, there.inverse),
        again = editWords(back.words, back.inverse);
      assert.deepEqual(standing(back.words), standing(words));
      assert.deepEqual(standing(again.words), standing(there.words));
      assert.deepEqual({ ...there.words, version: 0 }, { ...after, version: 0 }, 'all at once, or one by one');
      words = frozen(rng.one([there, there, back]).words);
    }
  }
});

test('numbers are given once, and every word of the page is there or retired', () => {
  const rng = seeded(2);
  for (let turn = 0; turn < 20; turn++) {
    let words = page(16);
    for (let step = 0; step < 60; step++) {
      const { words: after, created } = editWords(words, [anyEdit(rng, words)]);
      assert.equal(after.version, words.version + 1);
      assert.deepEqual(
        created,
        created.map((_, at) => words.next + at),
      );
      assert.equal(after.next, words.next + created.length);
      const all = [...after.numbers, ...after.retired.numbers].sort((left, right) => left - right);
      assert.deepEqual(
        all,
        all.map((_, at) => at),
      );
      assert.equal(all.length, after.next);
      const { places } = after.retired;
      assert.ok(places.every((place, at) => place >= (places[at - 1] ?? 0) && place <= after.numbers.length));
      words = after;
    }
  }
});

test('a change of a word that does not stand there is refused', () => {
  const { words } = editWords(page(), [{ op: 'remove', number: 3 }]);
  for (const edit of [
    { op: 'text', number: 3, text: 'x' },
    { op: 'remove', number: 99 },
    { op: 'merge', numbers: [2, 3] },
    { op: 'restore', numbers: [3], instead: [99] },
  ])
    assert.throws(() => editWords(words, [edit]), /changed by somebody else/);
});

test('a new word takes its place in the line that it lies in, in the order in which that is read', () => {
  const add = (text, box) => editWords(page(), [{ op: 'add', text, box }]).words;
  const place = (words) => words.numbers.indexOf(40);
  const right = add('x', [72, 2, 88, 22]); // between the first two words of the first line
  assert.deepEqual([place(right), right.lines[place(right)]], [1, 0]);
  const leftwards = add('x', [72, 122, 88, 142]); // the same place in the line that is read leftwards
  assert.deepEqual([place(leftwards), leftwards.lines[place(leftwards)]], [16, 2]);
  const between = add('x', [0, 30, 60, 52]); // a line of its own, below the first
  assert.deepEqual([place(between), between.lines[place(between)]], [8, 5]);
  const { words } = editWords({ ...page(0), next: 40 }, [{ op: 'add', text: 'x', box: [0, 0, 9, 9] }]);
  assert.deepEqual([words.numbers, words.lines], [[40], [0]]);
});

test('merged words are written in the order in which they are read, around all their ink', () => {
  const { words, created } = editWords(page(), [{ op: 'merge', numbers: [9, 1, 2] }]);
  assert.deepEqual(created, [40]);
  assert.equal(words.texts[words.numbers.indexOf(40)], 'w1w2w9');
  assert.deepEqual(words.boxes[words.numbers.indexOf(40)], [90, 0, 250, 84]);
  assert.deepEqual([words.numbers.indexOf(40), words.lines[1]], [1, 0]);
});

test('a written or confirmed word is doubtful no more, and undo brings the doubt back with the text', () => {
  const before = page(16); // 3 and 10 are doubtful
  const written = editWords(before, [{ op: 'text', number: 3, text: 'Summe' }]);
  assert.deepEqual(written.words.doubtful, [10]);
  const confirmed = editWords(written.words, [{ op: 'text', number: 10, text: 'w10' }]);
  assert.deepEqual(confirmed.words.doubtful, []);
  const back = editWords(confirmed.words, [...confirmed.inverse, ...written.inverse]);
  assert.deepEqual(standing(back.words), standing(before));
  const sure = editWords(before, [{ op: 'text', number: 4, text: 'x' }]);
  assert.deepEqual(sure.inverse, [{ op: 'text', number: 4, text: 'w4' }]); // a sure word needs no more than its text
});

test('new words are not doubtful, and a retired one is doubtful again when it comes back', () => {
  const { words, inverse } = editWords(page(16), [
    { op: 'merge', numbers: [2, 3] },
    { op: 'remove', number: 10 },
  ]);
  assert.deepEqual([words.doubtful, words.retired.doubtful], [[], [3, 10]]);
  assert.deepEqual(editWords(words, inverse).words.doubtful, [3, 10]);
});

test('a mark on words that were split, merged or deleted means what stands in their place', () => {
  const parts = [
    { text: 'a', box: [0, 0, 30, 24] },
    { text: 'b', box: [30, 0, 70, 24] },
  ];
  const { words } = editWords(page(), [
    { op: 'split', number: 0, parts },
    { op: 'merge', numbers: [1, 2] },
    { op: 'remove', number: 9 },
    { op: 'add', text: 'x', box: [145, 60, 195, 84] }, // over less than half of the one that is deleted
  ]);
  const means = (numbers) =>
    living(words, numbers).map(({ number, retired }) => (retired ? `-${number}` : `${number}`));
  assert.deepEqual(means([0]), ['40', '41']);
  assert.deepEqual(means([2]), ['42']);
  assert.deepEqual(means([9]), ['-9']);
  assert.deepEqual(means([12, 1, 9, 0, 3, 2]), ['40', '41', '42', '3', '-9', '12']);
  assert.deepEqual(means([]), []);
  assert.deepEqual(
    living(words, [41]).map(({ text }) => text),
    ['b'],
  );
});

test('words that stand are what a mark means by them, in reading order, after any changes', () => {
  const rng = seeded(3);
  let words = page();
  for (let step = 0; step < 100; step++) {
    words = editWords(words, [anyEdit(rng, words)]).words;
    const named = rng.some(words.numbers, 5);
    const expected = words.numbers.filter((number) => named.includes(number));
    assert.deepEqual(
      living(words, named).map((each) => each.number),
      expected,
    );
    const gone = words.retired.numbers.slice(0, 2);
    const order = [...words.numbers, ...words.retired.numbers],
      both = living(words, [...named, ...gone]);
    assert.ok(expected.every((number) => both.some((each) => each.number === number && !each.retired)));
    assert.ok(both.every((each) => order.includes(each.number)));
    assert.equal(new Set(both.map((each) => each.number)).size, both.length);
  }
});

test('a change with other numbers does to words with these numbers what it did to the old ones', () => {
  const rng = seeded(4),
    more = (number) => number + 1000;
  const moved = (words) => ({
    ...words,
    numbers: words.numbers.map(more),
    doubtful: words.doubtful.map(more),
    next: more(words.next),
    retired: {
      ...words.retired,
      numbers: words.retired.numbers.map(more),
      doubtful: words.retired.doubtful.map(more),
    },
  });
  let words = page();
  for (let step = 0; step < 200; step++) {
    const edit = frozen(anyEdit(rng, words)),
      there = editWords(words, [edit]).words;
    assert.deepEqual(editWords(moved(words), [renumbered(edit, more)]).words, moved(there));
    assert.deepEqual(
      renumbered(edit, (number) => number),
      edit,
    );
    for (const number of [edit.number ?? [], edit.numbers ?? [], edit.instead ?? []].flat())
      assert.equal(
        renumbered(edit, (each) => (each === number ? null : each)),
        null,
      );
    words = there;
  }
});

test('letters say which way a word runs, and its text is stored with single spaces', () => {
  assert.deepEqual(['Summe', 'مجموع', '12.50', 'abc שלום', 'abcde שלום', ''].map(goesLeft), [
    false,
    true,
    null,
    true,
    false,
    null,
  ]);
  assert.equal(tidy('  a \t b\n\0 '), 'a b');
});
