// The place in the address: #document=...&annotation=...&page=... A reload, or a link sent to a colleague, opens it again.

const NAMES = ['project', 'document', 'annotation', 'page'];

export function readRoute() {
  const given = new URLSearchParams(location.hash.slice(1));
  return Object.fromEntries(NAMES.map((name) => [name, given.get(name)]));
}

// Replaces the address without a step in the browser's history and without telling anybody.
export function writeRoute(place) {
  const parts = NAMES.filter((name) => place[name]).map((name) => `${name}=${encodeURIComponent(place[name])}`);
  history.replaceState(history.state, '', `${location.pathname}${location.search}#${parts.join('&')}`);
}
