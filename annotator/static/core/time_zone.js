// Times and days on the page are those of the reader's clock. The server learns the zone from a cookie, and writes its
// times in UTC.

const YEAR = 365 * 24 * 3600;

/** Tell the server the time zone of this browser (annotator/gradio/event_zone.py). */
export function tellZone() {
  const zone = encodeURIComponent(Intl.DateTimeFormat().resolvedOptions().timeZone || 'UTC');
  document.cookie = `glossator_zone=${zone}; path=/; max-age=${YEAR}; samesite=lax`;
}

/**
 * A moment as ISO 8601 to the minute, on this clock: "2026-11-29 04:10".
 *
 * @param {Date} at
 */
export function onClock(at) {
  const two = (/** @type {number} */ number) => String(number).padStart(2, '0');
  const day = `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
  return `${day} ${two(at.getHours())}:${two(at.getMinutes())}`;
}

/** A time that the server wrote in UTC (annotator/ui/table.py), shown on this clock. */
class LocalTime extends HTMLElement {
  connectedCallback() {
    const time = this.querySelector('time');
    if (!time || Number.isNaN(Date.parse(time.dateTime))) return;
    const at = new Date(time.dateTime);
    time.textContent = onClock(at);
    time.title = at.toLocaleString('en-GB', { dateStyle: 'full', timeStyle: 'long' });
  }
}

export const showLocalTimes = () => customElements.define('glossator-time', LocalTime);
