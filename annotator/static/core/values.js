// Plain values: equality, and names that nobody else has.

/**
 * Whether two plain values are written the same as JSON.
 *
 * @param {unknown} left
 * @param {unknown} right
 */
export const same = (left, right) => JSON.stringify(left) === JSON.stringify(right);

/** A random version 4 UUID. crypto.randomUUID exists in secure contexts alone; a house network over http is none. */
export function uuid() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6] & 0x0f) | 0x40;
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}
