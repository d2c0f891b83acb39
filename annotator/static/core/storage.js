// What the browser remembers, of this origin ('local') or of this tab ('session'): nothing where site data is blocked.

export function remembered(storage, key) {
  try {
    return JSON.parse(window[`${storage}Storage`].getItem(key));
  } catch {
    return null; // blocked, or written by somebody else
  }
}

export function remember(storage, key, value) {
  try {
    window[`${storage}Storage`].setItem(key, JSON.stringify(value));
  } catch {
    // The storage is blocked or full: the page works without a memory.
  }
}
