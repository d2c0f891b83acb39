// The project that was chosen last on this page, in the workspace or on a tab: the others follow when they come into
// sight. Each window of the browser has its own; a new one begins with the last of any.

import { remember, remembered } from './storage.js';

const LAST = 'glossator.project';

/** @type {string | null} */
let chosen = null;

/** The id of the project that was chosen last; null where none was. */
export function chosenProject() {
  const last = chosen ?? remembered('local', LAST);
  return typeof last === 'string' ? last : null;
}

/**
 * Chooses a project for all parts of the page.
 *
 * @param {string | null | undefined} id
 */
export function chooseProject(id) {
  if (!id) return;
  chosen = id;
  remember('local', LAST, id);
}
