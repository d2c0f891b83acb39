// The words of a page and how mending changes them, by the rules of the server (engine/annotation/word_list.py), new
// numbers included: so several changes can wait here for the network. Plain values, never changed in place.
//
// words: { version, numbers, boxes, texts, lines, doubtful, next, retired: { numbers, boxes, texts, lines, doubtful,
// places } }. A retired word was split, merged or removed; `places` says how many words stand before each of these.
// `doubtful`: numbers of the words that were read with low confidence and that nobody has written since.

/** @import { Box, WordEdit, Words } from '../types' */

/**
 * A word that the page has or had; a retired one was split, merged or removed.
 *
 * @typedef {{ number: number, box: Box, text: string, line: number, retired: boolean, doubtful: boolean }} ListedWord
 */

/**
 * A page without words.
 *
 * @type {Words}
 */
export const NO_WORDS = {
  version: 0,
  numbers: [],
  boxes: [],
  texts: [],
  lines: [],
  doubtful: [],
  next: 0,
  retired: { numbers: [], boxes: [], texts: [], lines: [], doubtful: [], places: [] },
};

const SAME_PLACE = 0.5; // of the smaller box: from this overlap on, a word stands where a retired one stood
const RIGHT_TO_LEFT = /[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]/gu;
const LETTER = /\p{L}/gu;

/**
 * Which way the letters run: true is right to left; null where there is no letter.
 *
 * @param {string} text
 */
export function goesLeft(text) {
  const all = text.match(LETTER)?.length ?? 0,
    left = text.match(RIGHT_TO_LEFT)?.length ?? 0;
  return all ? left > all - left : null;
}

/**
 * A word's text as the server stores it: without spaces around it, with single ones inside.
 *
 * @param {string} text
 */
export const tidy = (text) => text.replace(/\0/g, '').trim().split(/\s+/u).join(' ');

/**
 * The smallest box around several.
 *
 * @param {readonly Box[]} boxes at least one
 * @returns {Box}
 */
export const hull = (boxes) => [
  Math.min(...boxes.map((box) => box[0])),
  Math.min(...boxes.map((box) => box[1])),
  Math.max(...boxes.map((box) => box[2])),
  Math.max(...boxes.map((box) => box[3])),
];

/**
 * Area of the common part over the area of the smaller box, 0..1.
 *
 * @param {Box} one
 * @param {Box} other
 */
function overlap(one, other) {
  const width = Math.min(one[2], other[2]) - Math.max(one[0], other[0]);
  const height = Math.min(one[3], other[3]) - Math.max(one[1], other[1]);
  const smaller = Math.min((one[2] - one[0]) * (one[3] - one[1]), (other[2] - other[0]) * (other[3] - other[1]));
  return width > 0 && height > 0 && smaller > 0 ? (width * height) / smaller : 0;
}

/**
 * All words that the page has ever had, in reading order.
 *
 * @param {Words} words
 */
function listed({ numbers, boxes, texts, lines, doubtful, retired }) {
  /** @type {ListedWord[]} */
  const list = [];
  const doubted = new Set([...doubtful, ...retired.doubtful]);
  let gone = 0;
  for (let at = 0; at <= numbers.length; at++) {
    for (; gone < retired.numbers.length && retired.places[gone] <= at; gone++) {
      list.push({
        number: retired.numbers[gone],
        box: retired.boxes[gone],
        text: retired.texts[gone],
        line: retired.lines[gone],
        retired: true,
        doubtful: doubted.has(retired.numbers[gone]),
      });
    }
    if (at < numbers.length)
      list.push({
        number: numbers[at],
        box: boxes[at],
        text: texts[at],
        line: lines[at],
        retired: false,
        doubtful: doubted.has(numbers[at]),
      });
  }
  return list;
}

/**
 * @param {readonly ListedWord[]} list in reading order
 * @param {number} version
 * @param {number} next the number that the next new word gets
 * @returns {Words}
 */
function unlisted(list, version, next) {
  /** @param {ListedWord[]} chosen */
  const take = (chosen) => ({
    numbers: chosen.map((each) => each.number),
    boxes: chosen.map((each) => each.box),
    texts: chosen.map((each) => each.text),
    lines: chosen.map((each) => each.line),
    doubtful: chosen.filter((each) => each.doubtful).map((each) => each.number),
  });
  const places = [];
  let before = 0;
  for (const each of list) {
    if (each.retired) places.push(before);
    else before++;
  }
  return {
    version,
    ...take(list.filter((each) => !each.retired)),
    next,
    retired: { ...take(list.filter((each) => each.retired)), places },
  };
}

/**
 * The one for which `measure` is least, the first of equal ones; null where there is none.
 *
 * @param {readonly ListedWord[]} candidates
 * @param {(word: ListedWord) => number} measure
 */
const least = (candidates, measure) =>
  candidates.reduce(
    (best, each) => (best === null || measure(each) < measure(best) ? each : best),
    /** @type {ListedWord | null} */ (null),
  );

/**
 * Where in the list, and in which line, a new word belongs.
 *
 * @param {readonly ListedWord[]} list
 * @param {Box} box
 * @param {string} text
 * @returns {[place: number, line: number]}
 */
function placeOf(list, box, text) {
  const live = list.filter((each) => !each.retired);
  const beside = live.filter(
    (each) =>
      Math.min(each.box[3], box[3]) - Math.max(each.box[1], box[1]) >=
      0.5 * Math.min(each.box[3] - each.box[1], box[3] - box[1]),
  );
  const line = 1 + Math.max(-1, ...new Set(list.map((each) => each.line)));
  const near = least(beside, (each) => Math.max(0, each.box[0] - box[2], box[0] - each.box[2]));
  if (near) {
    const ways = live.filter((each) => each.line === near.line).map((each) => goesLeft(each.text));
    const left = ways.filter((way) => way === true).length,
      right = ways.filter((way) => way === false).length;
    const leftwards = left > right || (left === right && goesLeft(text) === true);
    const isLeft = box[0] + box[2] < near.box[0] + near.box[2];
    return [list.indexOf(near) + (isLeft === leftwards ? 1 : 0), near.line];
  }
  const above = live.filter((each) => each.box[1] + each.box[3] < box[1] + box[3]);
  const column = above.filter((each) => each.box[0] < box[2] && each.box[2] > box[0]);
  const last = least(column.length ? column : above, (each) => -each.box[3]);
  if (!last) return [0, line];
  return [1 + list.findLastIndex((each) => !each.retired && each.line === last.line), line];
}

/**
 * The words after edits, the numbers of the new words, and the edits that lead back. Throws where an edit names a word
 * that does not stand on the page.
 *
 * @param {Words} words
 * @param {readonly WordEdit[]} edits
 */
export function editWords(words, edits) {
  let list = listed(words),
    next = words.next;
  /** @type {number[]} */
  const created = [];
  /** @type {WordEdit[]} */
  const inverse = [];
  /** @param {number} number */
  const at = (number) => {
    const found = list.findIndex((each) => each.number === number);
    if (found < 0 || list[found].retired)
      throw new Error('This word has been changed by somebody else. Reload the page.');
    return found;
  };
  /** @type {(number: number, change: Partial<ListedWord>) => void} */
  const set = (number, change) => {
    list = list.map((each) => (each.number === number ? { ...each, ...change } : each));
  };
  /** @type {(place: number, word: Pick<ListedWord, 'box' | 'text' | 'line'>) => number} */
  const insert = (place, word) => {
    list = list.toSpliced(place, 0, { ...word, number: next, retired: false, doubtful: false });
    created.push(next);
    return next++;
  };
  for (const edit of edits) {
    if (edit.op === 'text') {
      const { number } = edit,
        { text, doubtful } = list[at(number)];
      inverse.unshift({ op: 'text', number, text, ...(doubtful && { doubtful }) });
      set(number, { text: edit.text, doubtful: edit.doubtful ?? false });
    } else if (edit.op === 'split') {
      const place = at(edit.number),
        { line } = list[place];
      set(edit.number, { retired: true });
      const parts = edit.parts.map(({ text, box }, index) => insert(place + 1 + index, { text, box, line }));
      inverse.unshift({ op: 'restore', numbers: [edit.number], instead: parts });
    } else if (edit.op === 'merge') {
      const places = edit.numbers.map(at).sort((left, right) => left - right),
        parts = places.map((place) => list[place]);
      for (const part of parts) set(part.number, { retired: true });
      const whole = insert(places[0] + 1, {
        text: parts.map((part) => part.text).join(''),
        box: hull(parts.map((part) => part.box)),
        line: parts[0].line,
      });
      inverse.unshift({ op: 'restore', numbers: parts.map((part) => part.number), instead: [whole] });
    } else if (edit.op === 'add') {
      const [place, line] = placeOf(list, edit.box, edit.text);
      inverse.unshift({ op: 'remove', number: insert(place, { text: edit.text, box: edit.box, line }) });
    } else if (edit.op === 'remove') {
      at(edit.number);
      set(edit.number, { retired: true });
      inverse.unshift({ op: 'restore', numbers: [edit.number], instead: [] });
    } else {
      const { numbers, instead = [] } = edit;
      for (const number of instead) {
        at(number);
        set(number, { retired: true });
      }
      for (const number of numbers) set(number, { retired: false });
      inverse.unshift({ op: 'restore', numbers: instead, instead: numbers });
    }
  }
  return { words: unlisted(list, words.version + 1, next), created, inverse };
}

/**
 * The words that a mark means, in reading order: those it names, and for a retired one those that stand in its place;
 * one that nothing replaces stands for itself.
 *
 * @param {Words} words
 * @param {readonly number[]} numbers
 * @returns {Omit<ListedWord, 'line' | 'doubtful'>[]}
 */
export function living(words, numbers) {
  const named = new Set(numbers),
    live = new Set(words.numbers);
  const gone = words.retired.numbers.flatMap((number, at) => (named.has(number) && !live.has(number) ? [at] : []));
  if (!gone.length) {
    return words.numbers.flatMap((number, at) =>
      named.has(number) ? [{ number, box: words.boxes[at], text: words.texts[at], retired: false }] : [],
    );
  }
  const chosen = new Set(words.numbers.filter((number) => named.has(number)));
  for (const at of gone) {
    const heirs = words.numbers.filter(
      (_, other) => overlap(words.retired.boxes[at], words.boxes[other]) >= SAME_PLACE,
    );
    for (const number of heirs.length ? heirs : [words.retired.numbers[at]]) chosen.add(number);
  }
  return listed(words).filter((each) => chosen.has(each.number));
}

/**
 * An edit with other numbers of words, for a change that is put on top of somebody else's; null where one is gone.
 *
 * @param {WordEdit} edit
 * @param {(number: number) => number | null} map the number that a word has now, null for none
 * @returns {WordEdit | null}
 */
export function renumbered(edit, map) {
  if (edit.op === 'add') return edit;
  if ('number' in edit) {
    const number = map(edit.number);
    return number === null ? null : { ...edit, number };
  }
  /** @param {readonly number[]} all */
  const through = (all) => {
    const mapped = all.flatMap((number) => map(number) ?? []);
    return mapped.length === all.length ? mapped : null;
  };
  const numbers = through(edit.numbers);
  if (!numbers) return null;
  if (edit.op === 'merge') return { ...edit, numbers };
  const instead = through(edit.instead ?? []);
  return instead && { ...edit, numbers, instead };
}
