// Tabs that Gradio draws: each has one event that fetches its content (annotator/ui/live_tab.py), fired from here.

import { chooseProject, chosenProject } from '../core/chosen_project.js';
import { carryOver } from './carry_over.js';
import { followed, freshened } from './form_sync.js';
import { LiveTab } from './live_tab.js';

/** @type {Record<string, string[]>} */
const TOPICS = {
  documents: ['documents', 'questions', 'answers'],
  questions: ['documents', 'questions', 'tasks', 'answers'],
  training: ['answers', 'documents', 'jobs', 'runs', 'models'],
  quality: ['documents', 'questions', 'tasks', 'answers', 'runs', 'models'],
  export: ['documents', 'questions', 'answers'],
};
const LOST_MILLISECONDS = 15_000; // an event without an answer, as when the server went away

/**
 * Projects as [name, id], and the one to show; Gradio's update of a dropdown; what a form was given.
 * @typedef {{ choices: [string, string][], value: string | null }} Offered
 * @typedef {{ __type__: 'update', choices?: [string, string][], value?: string | null }} Update
 *
 * @typedef {{ tab: LiveTab, shown: string | null, choices: string, ended: (went: boolean) => void }} Followed
 */

/** @type {Map<string, Followed>} */
const tabs = new Map();

// What somebody has begun to write in a form stays, with its project.
const FORM = 'questions';

/**
 * Gradio has drawn a tab, which it does when the tab is opened for the first time.
 * @param {Element} element inside the tab
 * @param {string} name
 * @param {() => void} fire sends the event that fetches the tab's content
 */
export function followTab(element, name, fire) {
  tabs.get(name)?.tab.destroy();
  const panel = element.closest('[role=tabpanel]') ?? element;
  carryOver(panel);
  /** @returns {Promise<boolean>} */
  const fetch = () =>
    new Promise((resolve) => {
      const lost = setTimeout(() => resolve(false), LOST_MILLISECONDS);
      one.ended = (went) => {
        clearTimeout(lost);
        resolve(went);
      };
      fire();
    });
  const content = { topics: TOPICS[name] ?? [], shown: () => one.shown, wanted: chosenProject, fetch };
  /** @type {Followed} */
  const one = { tab: new LiveTab(panel, content), shown: null, choices: '', ended: () => {} };
  tabs.set(name, one);
}

/**
 * Something was done on a tab: its content is fetched again, also where no change is heard of.
 * @param {string} name
 */
export function refreshTab(name) {
  tabs.get(name)?.tab.refresh();
}

/**
 * Somebody has chosen a project on a tab; the others follow when they come into sight.
 * @param {string} name
 * @param {string} project
 */
export function projectChosen(name, project) {
  chooseProject(project);
  refreshTab(name);
}

/**
 * The inputs of the event, with the project that the tab is to show.
 * @param {string} name
 * @param {string | null} project the one that it shows
 * @param {unknown[]} given the other inputs
 */
export function askedOf(name, project, ...given) {
  return [wanted(name, project, given), ...given];
}

/**
 * The content is there: what the choice of a project shows now, and what a form does.
 * @param {string} name
 * @param {Offered} offered
 * @param {string | null} project
 * @param {unknown[]} held of the form: what is newer, what it was given, and its fields
 */
export function placed(name, offered, project, ...held) {
  const one = tabs.get(name);
  if (!one) return [{ __type__: 'update' }, ...held.slice(1)];
  const [newer, ...form] = held;
  const next = wanted(name, project, form); // another one may have been chosen meanwhile
  const value = offered.choices.some(([, id]) => id === next) ? next : offered.value;
  one.shown = offered.value;
  one.ended(true);
  const choice = place(one, offered, value, project);
  return name === FORM ? [choice, ...freshened(value, newer, ...form)] : choice;
}

/**
 * The content could not be fetched, which Gradio has told.
 * @param {string} name
 */
export function notFetched(name) {
  tabs.get(name)?.ended(false);
}

/**
 * @param {string} name
 * @param {string | null} project
 * @param {unknown[]} form
 */
function wanted(name, project, form) {
  return name === FORM ? followed(project, ...form) : (chosenProject() ?? project);
}

/**
 * Only what differs: a list in which somebody is choosing stays open.
 * @param {Followed} one
 * @param {Offered} offered
 * @param {string | null} value
 * @param {string | null} project
 * @returns {Update}
 */
function place(one, { choices }, value, project) {
  const seen = JSON.stringify(choices);
  /** @type {Update} */
  const update = { __type__: 'update' };
  if (seen !== one.choices) update.choices = choices;
  if (seen !== one.choices || value !== project) update.value = value;
  one.choices = seen;
  return update;
}
