// The project that was chosen last on this page, in the workspace or on a tab: the others follow when they come into sight. Each window of
// the browser has its own; a new one begins with the last of any.

import { remember, remembered } from './storage.js';

const LAST = 'glossator.project';
let chosen = null;

export const chosenProject = () => chosen ?? remembered('local', LAST);

export function chooseProject(id) {
  if (!id) return;
  chosen = id;
  remember('local', LAST, id);
}
