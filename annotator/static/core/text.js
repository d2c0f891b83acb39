// Numbers, moments and shares as people write them.

const PLURAL = new Intl.PluralRules('en');

/**
 * A number of things: count(1, 'page') -> "1 page".
 *
 * @param {number} number
 * @param {string} one the noun for one
 * @param {string} [several] the noun for several, where that is not the first with an "s"
 */
export function count(number, one, several = `${one}s`) {
  return `${number} ${PLURAL.select(number) === 'one' ? one : several}`;
}

/**
 * A moment, the shorter the nearer: "14:03", "12 Mar, 14:03", "12 Mar 2025, 14:03".
 *
 * @param {string | number | Date} when
 */
export function moment(when) {
  const at = new Date(when),
    now = new Date();
  /** @type {Intl.DateTimeFormatOptions} */
  const year = at.getFullYear() === now.getFullYear() ? {} : { year: 'numeric' };
  /** @type {Intl.DateTimeFormatOptions} */
  const day = at.toDateString() === now.toDateString() ? {} : { day: 'numeric', month: 'short', ...year };
  return at.toLocaleString('en-GB', { ...day, hour: '2-digit', minute: '2-digit' });
}

/**
 * Sentences of the server tell the time of day in UTC ("14:03:22 UTC"), since it knows nobody's clock: here it is the
 * reader's.
 *
 * @param {string} sentence
 */
export const onThisClock = (sentence) =>
  sentence.replace(/\b([012]\d):([0-5]\d):([0-5]\d) UTC\b/g, (_, hours, minutes, seconds) => {
    const at = new Date();
    at.setUTCHours(Number(hours), Number(minutes), Number(seconds));
    return at.toLocaleTimeString('en-GB', { hour: '2-digit', minute: '2-digit' });
  });

/** @param {number} share 0..1 */
export const percent = (share) => `${Math.round(100 * share)} %`;
