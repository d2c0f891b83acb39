// Pages of words, and random changes of them.

const RIGHT_TO_LEFT = 'שלום';

/**
 * Words of a page in lines of eight: numbers count from 0, the third line is read from right to left, and every seventh
 * word is doubtful.
 */
export function page(number = 40) {
  const numbers = Array.from({ length: number }, (_, at) => at);
  return {
    version: 0,
    numbers,
    boxes: numbers.map((at) => {
      const x = 90 * (at % 8),
        y = 60 * Math.floor(at / 8);
      return [x, y, x + 70, y + 24];
    }),
    texts: numbers.map((at) => (Math.floor(at / 8) === 2 ? RIGHT_TO_LEFT : `w${at}`)),
    lines: numbers.map((at) => Math.floor(at / 8)),
    doubtful: numbers.filter((at) => at % 7 === 3),
    next: number,
    retired: { numbers: [], boxes: [], texts: [], lines: [], doubtful: [], places: [] },
  };
}

/** A change that the page of words takes. */
export function anyEdit(rng, words) {
  const at = rng.whole(0, words.numbers.length),
    number = words.numbers[at],
    [x0, y0, x1, y1] = words.boxes[at];
  const middle = Math.floor((x0 + x1) / 2),
    left = rng.whole(0, 700),
    top = rng.whole(0, 400);
  const kinds = [
    { op: 'text', number, text: rng.one(['Summe', 'مجموع', '12.50']) },
    { op: 'add', text: rng.one(['neu', 'חדש', '7']), box: [left, top, left + 60, top + 22] },
  ];
  if (x1 - x0 >= 4)
    kinds.push({
      op: 'split',
      number,
      parts: [
        { text: 'a', box: [x0, y0, middle, y1] },
        { text: RIGHT_TO_LEFT, box: [middle, y0, x1, y1] },
      ],
    });
  if (words.numbers.length > 12)
    kinds.push({ op: 'merge', numbers: rng.some(words.numbers, 3) }, { op: 'remove', number });
  if (words.retired.numbers.length)
    kinds.push({
      op: 'restore',
      numbers: [rng.one(words.retired.numbers)],
      instead: words.numbers.length > 12 ? rng.some(words.numbers, rng.whole(0, 2)) : [],
    });
  return rng.one(kinds);
}
