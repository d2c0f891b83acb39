// Links into the workspace, as the name of a document or a page in a list: the tab Annotate comes into sight, with the
// focus on the page. The workspace itself follows the address.

import { withoutStep } from './tab_history.js';

const FRAMES = 60; // until Gradio has shown the tab: about a second

/** @param {MouseEvent} event whether it opens the link here, and not in another window, as the person may wish */
const opensHere = ({ button, altKey, ctrlKey, metaKey, shiftKey, defaultPrevented }) =>
  button === 0 && !altKey && !ctrlKey && !metaKey && !shiftKey && !defaultPrevented;

/** @param {HTMLAnchorElement} link */
function intoTheWorkspace(link) {
  const { origin, pathname, hash } = new URL(link.href, location.href);
  const names = new URLSearchParams(hash.slice(1));
  return origin === location.origin && pathname === location.pathname && names.has('document');
}

/** @param {number} frames */
function focusThePage(frames = FRAMES) {
  const canvas = document.querySelector('.glossator .g-canvas');
  if (canvas instanceof HTMLElement && canvas.checkVisibility()) canvas.focus({ preventScroll: true });
  else if (frames) requestAnimationFrame(() => focusThePage(frames - 1));
}

export function followLinks() {
  document.addEventListener('click', (event) => {
    const link = event.target instanceof Element && event.target.closest('a');
    if (!link || link.target || !opensHere(event) || !intoTheWorkspace(link)) return;
    const tab = document.querySelector('[role=tab][data-tab-id=annotate]');
    if (!(tab instanceof HTMLElement) || tab.ariaSelected === 'true') return;
    withoutStep(() => tab.click()); // the address of the link is the step
    focusThePage();
  });
}
