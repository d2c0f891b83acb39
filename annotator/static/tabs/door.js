// What the tabs offer to the page's scripts as window.Glossator: Gradio's components and events call these by name.

import { chooseProject, chosenProject } from '../core/chosen_project.js';
import { keepInput } from '../gradio/form_sync.js';
import { watchTabMenu } from '../core/role_tabs.js';
import {
  changeProject,
  endFetch,
  fillForm,
  followTab,
  prepareFormInputs,
  prepareInputs,
  refreshAfterAct,
  refreshTab,
  showProjects,
  turnPage,
} from '../gradio/tabs.js';
import { AnswerTablePanel } from './answer_table.js';
import { watchUploads } from './document_upload.js';
import { watchExports } from './exports.js';
import { FieldsPanel } from './fields.js';
import { watchImports } from './imports.js';
import { JobsPanel } from './jobs.js';
import { followLinks } from './links.js';
import { PeoplePanel } from './people.js';
import { watchModelRemoval } from './model_removal.js';
import { watchRemovedDocuments } from './removed_documents.js';
import { watchRemovedQuestions } from './removed_questions.js';
import { watchSnapshots } from './snapshots.js';
import { keepTabHistory } from './tab_history.js';

/** @type {PeoplePanel | null} */
let people = null;
/** @type {JobsPanel | null} */
let jobs = null;
/** @type {FieldsPanel | null} */
let fields = null;
/** @type {AnswerTablePanel | null} */
let table = null;

export const tabs = {
  chooseProject,
  chosenProject,
  changeProject,
  endFetch,
  fillForm,
  followTab,
  keepInput,
  prepareFormInputs,
  prepareInputs,
  refreshAfterAct,
  refreshTab,
  showProjects,
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
  /** @param {HTMLElement} root */
  mountFields(root) {
    fields?.destroy();
    fields = new FieldsPanel(root);
  },
  /** @param {HTMLElement} root */
  mountTable(root) {
    table?.destroy();
    table = new AnswerTablePanel(root);
  },
};

export function startTabs() {
  watchImports();
  watchExports();
  watchSnapshots();
  watchModelRemoval();
  watchUploads();
  watchRemovedDocuments();
  watchRemovedQuestions();
  followLinks();
  keepTabHistory();
  watchTabMenu();
}
