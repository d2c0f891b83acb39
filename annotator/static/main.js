// The door: Gradio's component calls window.Glossator.mount(root, { project }) once its element stands.

import { chooseProject, chosenProject } from './core/chosen_project.js';
import { watchExports } from './tabs/exports.js';
import { followed, freshened, kept } from './tabs/form_sync.js';
import { watchImports } from './tabs/imports.js';
import { JobsPanel } from './tabs/jobs.js';
import { PeoplePanel } from './tabs/people.js';
import { placePersonMenu } from './settings/person_menu.js';
import { mountWorkspace } from './mount.js';

let mounted = null;
let people = null;
let jobs = null;

window.Glossator = {
  chooseProject,
  chosenProject,
  followed,
  freshened,
  kept,
  mount(root, { project }) {
    if (mounted?.root === root) return;
    mounted?.destroy(); // Gradio has built the element anew
    mounted = { root, destroy: mountWorkspace(root, project) };
  },
  mountPeople(root) {
    people?.destroy();
    people = new PeoplePanel(root);
  },
  mountJobs(root) {
    jobs?.destroy();
    jobs = new JobsPanel(root);
  },
};
window.dispatchEvent(new Event('glossator:ready'));
placePersonMenu();
watchImports();
watchExports();
