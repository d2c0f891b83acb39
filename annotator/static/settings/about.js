// Name, version and licence of the program, and where its source is; the server writes them into the page's head.

/** @import { Attributes } from '../types' */

import { h } from '../core/dom.js';
import { ROOT } from '../core/root.js';

/** @returns {Record<string, string | undefined>} */
function said() {
  const meta = document.querySelector('meta[name=glossator-about]');
  return meta instanceof HTMLElement ? meta.dataset : {};
}

/**
 * The link to the program's source.
 *
 * @param {Attributes} [attributes]
 */
export const sourceLink = (attributes = {}) =>
  h('a', { href: said().source ?? `${ROOT}/source`, target: '_blank', rel: 'noreferrer', ...attributes }, 'Source');

/** The line with version, licence and source. */
export const aboutLine = () =>
  h('p', { class: 'g-quiet g-about' }, `Glossator ${said().version ?? ''}, ${said().licence ?? ''}. `, sourceLink());
