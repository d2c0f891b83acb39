// What the browser remembers, of this server ('local') or of this tab ('session'): nothing where site data is blocked.

import { ROOT } from './root.js';

/** @param {'local' | 'session'} storage */
const room = (storage) => (storage === 'local' ? window.localStorage : window.sessionStorage);

/**
 * What was remembered under a key, null for nothing. What its shape is, the module knows that has remembered it.
 *
 * @template [T=unknown]
 * @param {'local' | 'session'} storage
 * @param {string} key
 * @returns {T | null}
 */
export function remembered(storage, key) {
  try {
    return JSON.parse(room(storage).getItem(`${key}${ROOT}`) ?? 'null');
  } catch {
    return null; // blocked, or written by somebody else
  }
}

/**
 * Remembers a plain value under a key.
 *
 * @param {'local' | 'session'} storage
 * @param {string} key
 * @param {unknown} value
 */
export function remember(storage, key, value) {
  try {
    room(storage).setItem(`${key}${ROOT}`, JSON.stringify(value));
  } catch {
    // The storage is blocked or full: the page works without a memory.
  }
}
