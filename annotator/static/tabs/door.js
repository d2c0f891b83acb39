// What the tabs offer to the page's scripts as window.Glossator: Gradio's components and events call these by name.

import { chooseProject, chosenProject } from '../core/chosen_project.js';
import { watchExports } from './exports.js';
import { kept } from './form_sync.js';
import { watchUploads } from './document_upload.js';
import {
  actedOn,
  asked,
  askedByForm,
  followTab,
  notFetched,
  placed,
  placedInForm,
  projectChosen,
  refreshTab,
  turnPage,
} from './gradio_tabs.js';
import { watchImports } from './imports.js';
import { JobsPanel } from './jobs.js';
import { followLinks } from './links.js';
import { PeoplePanel } from './people.js';

/** @type {PeoplePanel | null} */
let people = null;
/** @type {JobsPanel | null} */
let jobs = null;

export const tabs = {
  chooseProject,
  chosenProject,
  actedOn,
  asked,
  askedByForm,
  followTab,
  kept,
  notFetched,
  placed,
  placedInForm,
  projectChosen,
  refreshTab,
  turnPage,
  /** @param {HTMLElement} root */
  mountPeople(root) {
    people?.destroy(); // Gradio has built the element anew
    people = new PeoplePanel(root);
  },
  /** @param {HTMLElement} root */
  mountJobs(root) {
    jobs?.destroy();
    jobs = new JobsPanel(root);
  },
};

export function startTabs() {
  watchImports();
  watchExports();
  watchUploads();
  followLinks();
}
