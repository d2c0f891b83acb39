import assert from 'node:assert/strict';
import { test } from 'node:test';

import { conventionWords, localeName } from '../../../annotator/static/tabs/field_reading.js';

test('conventions are said in words, and unknown ones as they are', () => {
  assert.equal(conventionWords('date_order', 'DMY'), 'Dates of numbers are in the order day, month, year.');
  assert.match(conventionWords('decimal', ','), /^A comma separates decimals/);
  assert.equal(conventionWords('currency:$', 'AUD'), '“$” stands for AUD.');
  assert.equal(conventionWords('country:korea', 'KR'), '“korea” is South Korea.');
  assert.equal(conventionWords('two_digit_years', '1940'), 'Years of two digits lie from 1940 to 2039.');
  assert.equal(conventionWords('rounding', 'up'), 'rounding: up');
});

test('a locale is named, and nonsense has no name', () => {
  assert.equal(localeName('de-CH'), 'Swiss High German');
  assert.deepEqual([localeName(''), localeName('nonsense-')], ['', '']);
});
