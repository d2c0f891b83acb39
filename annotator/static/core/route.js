// The place in the address: #document=...&annotation=...&page=... A reload, or a link sent to a colleague, opens it again.

const NAMES = ['project', 'document', 'annotation', 'page'];

let known = null; // the address as it was read or written last

export function readRoute() {
  known = location.hash;
  const given = new URLSearchParams(location.hash.slice(1));
  return Object.fromEntries(NAMES.map((name) => [name, given.get(name)]));
}

// Replaces the address without a step in the browser's history and without telling anybody. One that somebody has just changed
// stays: it is read in a moment (hashchange), and what was on its way until then must not take its place.
export function writeRoute(place) {
  if (known !== null && location.hash !== known) return;
  const parts = NAMES.filter((name) => place[name]).map((name) => `${name}=${encodeURIComponent(place[name])}`);
  history.replaceState(history.state, '', `${location.pathname}${location.search}#${parts.join('&')}`);
  known = location.hash;
}
