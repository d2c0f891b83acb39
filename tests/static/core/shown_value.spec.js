import assert from 'node:assert/strict';
import { test } from 'node:test';

import { shownValue } from '../../../annotator/static/core/shown_value.js';

test('values are shown as the reader writes them, with all their digits', () => {
  const plain = (value, type, locale) => shownValue(value, type, locale).replaceAll('\u00a0', ' ');
  assert.equal(plain('2026-04-03', 'date', 'en-GB'), '3 April 2026');
  assert.equal(plain({ amount: '1250.00', currency: 'EUR' }, 'currency', 'de-DE'), '1.250,00 €');
  assert.equal(plain({ amount: '0.0345', currency: 'EUR' }, 'currency', 'en-US'), '€0.0345');
  assert.equal(plain({ amount: '12.5', currency: null }, 'currency', 'en-US'), '12.5');
  assert.equal(plain('12345678901234567890.123', 'number', 'en-US'), '12,345,678,901,234,567,890.123');
  assert.equal(plain(1250, 'integer', 'en-US'), '1,250');
  assert.deepEqual([plain(true, 'boolean'), plain(false, 'boolean')], ['Yes', 'No']);
  assert.equal(plain('+493012345678', 'phone'), '+493012345678');
  assert.equal(plain('no day', 'date', 'en-GB'), 'no day');
});
