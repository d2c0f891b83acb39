// The place in the address: #document=...&annotation=...&page=... A reload, or a link sent to a colleague, opens it
// again.

/**
 * The ids that the address names.
 *
 * @typedef {Record<'project' | 'document' | 'annotation' | 'page', string | null>} Route
 */

const NAMES = /** @type {const} */ (['project', 'document', 'annotation', 'page']);

/**
 * The address as it was read or written last.
 *
 * @type {string | null}
 */
let known = null;

/**
 * The place that the address names.
 *
 * @returns {Route}
 */
export function readRoute() {
  known = location.hash;
  const given = new URLSearchParams(location.hash.slice(1));
  return {
    project: given.get('project'),
    document: given.get('document'),
    annotation: given.get('annotation'),
    page: given.get('page'),
  };
}

/**
 * Writes the address without telling anybody. Another document, or another answer of one, is a step in the browser's
 * history, so that Back returns to the last one; what only completes the address replaces it. An address that somebody
 * has just changed stays: it is read in a moment (hashchange), and what was on its way until then must not take its
 * place.
 *
 * @param {Partial<Record<keyof Route, string | null>>} place
 */
export function writeRoute(place) {
  if (known !== null && location.hash !== known) return;
  const before = new URLSearchParams(location.hash.slice(1));
  /** @param {'document' | 'annotation'} name */
  const another = (name) => Boolean(before.get(name) && place[name] && before.get(name) !== place[name]);
  const step = another('document') || another('annotation') ? 'pushState' : 'replaceState';
  const parts = NAMES.flatMap((name) => (place[name] ? `${name}=${encodeURIComponent(place[name])}` : []));
  history[step](history.state, '', `${location.pathname}${location.search}#${parts.join('&')}`);
  known = location.hash;
}
