// Name, version and licence of the program, and where its source is; the server writes them into the page's head.

import { h } from '../core/dom.js';

const said = () => document.querySelector('meta[name=glossator-about]')?.dataset ?? {};

export const sourceLink = (attributes = {}) =>
  h('a', { href: said().source ?? '/source', target: '_blank', rel: 'noreferrer', ...attributes }, 'Source');

export const aboutLine = () =>
  h('p', { class: 'g-quiet g-about' }, `Glossator ${said().version ?? ''}, ${said().licence ?? ''}. `, sourceLink());
