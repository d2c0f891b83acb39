// Tabs that Gradio draws: each has one event that fetches its content (annotator/gradio/live_tab.py), fired from here.

import { chooseProject, chosenProject } from '../core/chosen_project.js';
import { changes } from '../sync/changes.js';
import { LiveTab } from '../sync/live_tab.js';
import { carryOver } from './carry_over.js';
import { freshenForm, projectToFollow } from './form_sync.js';
import { TableTurns } from './table_turns.js';

/** @import { Topic } from '../sync/changes.js' */
/** @import { Form, Given } from './form_sync.js' */
/** @import { Step } from './table_turns.js' */

/** @type {Record<string, Topic[]>} */
const TOPICS = {
  documents: ['documents', 'questions', 'figures'],
  questions: ['documents', 'questions', 'tasks', 'figures'],
  training: ['answers', 'documents', 'jobs', 'runs', 'models'],
  quality: ['documents', 'questions', 'tasks', 'answers', 'figures', 'runs', 'models'],
  export: ['documents', 'questions', 'answers'],
};
const LOST_MILLISECONDS = 15_000; // an event without an answer, as when the server went away

/**
 * Projects as [name, id], and the one to show; Gradio's update of a dropdown; what a form was given.
 * @typedef {{ choices: [string, string][], value: string | null }} Offered
 * @typedef {{ __type__: 'update', choices?: [string, string][], value?: string | null }} Update
 *
 * @typedef {object} Followed
 * @property {LiveTab} tab
 * @property {string | null} shown
 * @property {string | null} here id of the project in its choice, as soon as that is known
 * @property {string} choices
 * @property {TableTurns} turns
 * @property {(went: boolean) => void} end
 */

/** @type {Map<string, Followed>} */
const tabs = new Map();
/** @type {Set<{ name: string, callback: () => void }>} what else stands on a tab, and follows its project */
const followers = new Set();

/**
 * The id of the project that a tab shows; null before it is known.
 * @param {string} name
 */
export const shownProject = (name) => tabs.get(name)?.here ?? null;

/**
 * Calls back when a tab may show another project; returns a function that ends that.
 * @param {string} name
 * @param {() => void} callback
 */
export function followShown(name, callback) {
  const follower = { name, callback };
  followers.add(follower);
  return () => void followers.delete(follower);
}

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
      if (changes.loggedOut.state) return resolve(false); // the page says so; fetched when somebody is logged in again
      const lost = setTimeout(() => followed.end(false), LOST_MILLISECONDS);
      followed.end = (went) => {
        clearTimeout(lost);
        followed.turns.end();
        if (!went) changes.checkLogin();
        resolve(went);
      };
      fire();
    });
  const content = { topics: TOPICS[name] ?? [], shown: () => followed.shown, wanted: chosenProject, fetch };
  /** @type {Followed} */
  const followed = {
    tab: new LiveTab(panel, content),
    shown: null,
    here: null,
    choices: '',
    turns: new TableTurns(),
    end: () => {},
  };
  tabs.set(name, followed);
}

changes.loggedOut.follow((ended) => {
  if (!ended) for (const { tab } of tabs.values()) tab.retry();
});

/**
 * A tab is to show something else of its project, as with another filter.
 * @param {string} name
 */
export function refreshTab(name) {
  tabs.get(name)?.tab.refresh();
}

/**
 * Somebody turns a page of a table on a tab.
 * @param {string} name
 * @param {Step} step
 * @param {unknown} place of the table, as it is shown
 */
export function turnPage(name, step, place) {
  const followed = tabs.get(name);
  if (followed?.turns.turn(step, place)) followed.tab.refresh();
}

/**
 * Something was done on a tab.
 * @param {string} name
 */
export function refreshAfterAct(name) {
  tabs.get(name)?.tab.acted();
}

/**
 * Somebody has chosen a project on a tab; the others follow when they come into sight.
 * @param {string} name
 * @param {string} project
 */
export function changeProject(name, project) {
  chooseProject(project);
  const followed = tabs.get(name);
  if (followed) followed.here = project;
  for (const each of followers) if (each.name === name) each.callback();
  refreshTab(name);
}

/**
 * The inputs of the event, with the project that the tab is to show: the one chosen last.
 *
 * @param {string} name
 * @param {string | null} project the one that it shows
 * @param {unknown[]} inputs the other inputs
 */
export const prepareInputs = (name, project, ...inputs) => [chosenProject() ?? project, ...turnPages(name, inputs)];

/**
 * The inputs of the event of a tab with a form: what somebody has begun to write stays, with its project.
 *
 * @param {string} name
 * @param {string | null} project
 * @param {Form} inputs the form, and the other inputs behind it
 */
export const prepareFormInputs = (name, project, ...inputs) => [
  projectToFollow(project, inputs),
  ...turnPages(name, inputs),
];

/**
 * @param {string} name
 * @param {unknown[]} inputs
 */
const turnPages = (name, inputs) => tabs.get(name)?.turns.take(inputs) ?? inputs;

/**
 * The content is there: what the choice of a project shows now.
 *
 * @param {string} name
 * @param {Offered} offered
 * @param {string | null} project
 */
export function showProjects(name, offered, project) {
  return place(name, offered, project, chosenProject() ?? project);
}

/**
 * The content of a tab with a form is there: what the choice of a project and the form show now.
 *
 * @param {string} name
 * @param {Offered} offered
 * @param {string | null} project
 * @param {Given & { seen?: Given } | null} newer
 * @param {Form} form
 */
export function fillForm(name, offered, project, newer, ...form) {
  const choice = place(name, offered, project, projectToFollow(project, form));
  return [choice, ...freshenForm(choice.value === undefined ? project : choice.value, newer, form)];
}

/**
 * The content could not be fetched, which Gradio has told.
 *
 * @param {string} name
 */
export function endFetch(name) {
  tabs.get(name)?.end(false);
}

/**
 * Only what differs: a list in which somebody is choosing stays open.
 *
 * @param {string} name
 * @param {Offered} offered
 * @param {string | null} project
 * @param {string | null} wanted the one to show: another one than was asked for, where it was chosen meanwhile
 * @returns {Update}
 */
function place(name, offered, project, wanted) {
  const followed = tabs.get(name);
  /** @type {Update} */
  const update = { __type__: 'update' };
  if (!followed) return update;
  const choices = JSON.stringify(offered.choices),
    value = offered.choices.some(([, id]) => id === wanted) ? wanted : offered.value;
  if (choices !== followed.choices) update.choices = offered.choices;
  if (choices !== followed.choices || value !== project) update.value = value;
  followed.choices = choices;
  followed.shown = offered.value;
  followed.here = value;
  followed.end(true);
  for (const each of followers) if (each.name === name) each.callback();
  return update;
}
