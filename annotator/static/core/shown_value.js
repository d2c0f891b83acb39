// Normalised values as people read them, in the language of the browser.

/** @import { ValueView } from '../types' */

/** @typedef {NonNullable<ValueView['value']>} Value */

/**
 * @param {Value} value
 * @param {string} type of the field
 * @param {string} [locale] of the reader; undefined: the browser's
 */
export function shownValue(value, type, locale) {
  if (type === 'date' && typeof value === 'string') return day(value, locale);
  if (typeof value === 'boolean') return value ? 'Yes' : 'No';
  if (typeof value === 'object') return amount(value, locale);
  if (type === 'number' || type === 'integer') return number(String(value), locale);
  return String(value);
}

/**
 * Formats by language and options: making one takes longer than all else of a cell.
 *
 * @type {Map<string, unknown>}
 */
const formats = new Map();

/**
 * @template Format, Options
 * @param {new (locale: string | undefined, options: Options) => Format} kind
 * @param {string | undefined} locale
 * @param {Options} options
 */
function formatOf(kind, locale, options) {
  const key = JSON.stringify([kind.name, locale, options]);
  const format = /** @type {Format | undefined} */ (formats.get(key)) ?? new kind(locale, options);
  formats.set(key, format);
  return format;
}

/**
 * @param {string} iso
 * @param {string | undefined} locale
 */
function day(iso, locale) {
  const date = new Date(`${iso}T00:00:00Z`);
  if (Number.isNaN(date.getTime())) return iso;
  return formatOf(Intl.DateTimeFormat, locale, { dateStyle: 'long', timeZone: 'UTC' }).format(date);
}

/**
 * An exact decimal with all its digits; Intl takes it as a text, so none is rounded away.
 *
 * @param {string} text
 * @param {string | undefined} locale
 * @param {Intl.NumberFormatOptions} [options]
 */
function number(text, locale, options = {}) {
  const digits = text.split('.')[1]?.length ?? 0;
  const format = formatOf(Intl.NumberFormat, locale, {
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
    ...options,
  });
  return format.format(/** @type {Intl.StringNumericLiteral} */ (text));
}

/**
 * @param {Record<string, string | null>} value
 * @param {string | undefined} locale
 */
function amount({ amount: text, currency }, locale) {
  if (!text) return currency ?? '';
  if (!currency) return number(text, locale);
  try {
    const least = Math.max(2, text.split('.')[1]?.length ?? 0);
    return number(text, locale, {
      style: 'currency',
      currency,
      minimumFractionDigits: least,
      maximumFractionDigits: least,
    });
  } catch {
    return `${number(text, locale)} ${currency}`;
  }
}
