// Tabs that Gradio draws: each has one event that fetches its content (annotator/ui/live_tab.py), fired from here.

import { chooseProject, chosenProject } from '../core/chosen_project.js';
import { carryOver } from './carry_over.js';
import { followed, freshened } from './form_sync.js';
import { LiveTab } from './live_tab.js';
import { TableTurns } from './table_turns.js';

/** @import { Topic } from '../sync/changes.js' */
/** @import { Form, Given } from './form_sync.js' */
/** @import { Step } from './table_turns.js' */

/** @type {Record<string, Topic[]>} */
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
 * @typedef {object} Followed
 * @property {LiveTab} tab
 * @property {string | null} shown
 * @property {string} choices
 * @property {TableTurns} turns
 * @property {(went: boolean) => void} ended
 */

/** @type {Map<string, Followed>} */
const tabs = new Map();

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
      const lost = setTimeout(() => one.ended(false), LOST_MILLISECONDS);
      one.ended = (went) => {
        clearTimeout(lost);
        one.turns.ended();
        resolve(went);
      };
      fire();
    });
  const content = { topics: TOPICS[name] ?? [], shown: () => one.shown, wanted: chosenProject, fetch };
  /** @type {Followed} */
  const one = {
    tab: new LiveTab(panel, content),
    shown: null,
    choices: '',
    turns: new TableTurns(),
    ended: () => {},
  };
  tabs.set(name, one);
}

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
  const one = tabs.get(name);
  if (one?.turns.turn(step, place)) one.tab.refresh();
}

/**
 * Something was done on a tab.
 * @param {string} name
 */
export function actedOn(name) {
  tabs.get(name)?.tab.acted();
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
 * The inputs of the event, with the project that the tab is to show: the one chosen last.
 *
 * @param {string} name
 * @param {string | null} project the one that it shows
 * @param {unknown[]} given the other inputs
 */
export const asked = (name, project, ...given) => [chosenProject() ?? project, ...taken(name, given)];

/**
 * The inputs of the event of a tab with a form: what somebody has begun to write stays, with its project.
 *
 * @param {string} name
 * @param {string | null} project
 * @param {Form} given the form, and the other inputs behind it
 */
export const askedByForm = (name, project, ...given) => [followed(project, given), ...taken(name, given)];

/**
 * @param {string} name
 * @param {unknown[]} given
 */
const taken = (name, given) => tabs.get(name)?.turns.taken(given) ?? given;

/**
 * The content is there: what the choice of a project shows now.
 *
 * @param {string} name
 * @param {Offered} offered
 * @param {string | null} project
 */
export function placed(name, offered, project) {
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
export function placedInForm(name, offered, project, newer, ...form) {
  const choice = place(name, offered, project, followed(project, form));
  return [choice, ...freshened(choice.value === undefined ? project : choice.value, newer, form)];
}

/**
 * The content could not be fetched, which Gradio has told.
 *
 * @param {string} name
 */
export function notFetched(name) {
  tabs.get(name)?.ended(false);
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
  const one = tabs.get(name);
  /** @type {Update} */
  const update = { __type__: 'update' };
  if (!one) return update;
  const choices = JSON.stringify(offered.choices),
    value = offered.choices.some(([, id]) => id === wanted) ? wanted : offered.value;
  if (choices !== one.choices) update.choices = offered.choices;
  if (choices !== one.choices || value !== project) update.value = value;
  one.choices = choices;
  one.shown = offered.value;
  one.ended(true);
  return update;
}
