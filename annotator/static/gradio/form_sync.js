// What a form on one of Gradio's tabs shows once newer values have come, or its own were saved: what somebody has begun
// to write or to set meanwhile stays, and saving says what others did. Decided in the browser, when the answer is
// there: on the server, what is typed while it is on its way would be lost.

import { chosenProject } from '../core/chosen_project.js';
import { same } from '../core/values.js';

/**
 * The stored values of a project that a form was given; settings in the order of its fields.
 *
 * @typedef {{ project: string, questions: string[], settings: unknown[] }} Given
 *
 * The fields of the form: what it was given, the list's text, and the settings.
 * @typedef {[given: Given | null, text: string, ...settings: unknown[]]} Form
 */

/** @param {string} text */
const lines = (text) =>
  (text ?? '')
    .split(/\r?\n/)
    .map((line) => line.split(/\s+/).filter(Boolean).join(' '))
    .filter(Boolean);

/**
 * Whether something was begun to be written, or set, that is not saved.
 *
 * @param {Given} given
 * @param {string} text
 * @param {unknown[]} settings
 */
const begun = (given, text, settings) => [!same(lines(text), given.questions), !same(settings, given.settings)];

/**
 * The project that the form shows when its tab comes into sight: the one chosen last, but for what was begun and not
 * saved.
 *
 * @param {string | null} project
 * @param {Form} form and behind it what else is sent, which is not saved
 */
export function projectToFollow(project, [given, text, ...settings]) {
  const stays =
    given?.project === project && begun(given, text, settings.slice(0, given.settings.length)).some(Boolean);
  return stays ? project : (chosenProject() ?? project);
}

/**
 * What the form is given now.
 *
 * @param {string | null} project
 * @param {Given & { seen?: Given } | null} newer `seen`: what the form had been given when it asked
 * @param {Form} form
 * @returns {Form}
 */
export function freshenForm(project, newer, form) {
  const [given, text, ...settings] = form;
  // Left, not to be seen, or saved meanwhile.
  if (newer?.project !== project || !same(newer.seen ?? {}, given ?? {})) return form;
  const { seen: _, ...there } = newer;
  if (given?.project !== project) return [there, newer.questions.join('\n'), ...newer.settings];
  const [writing, setting] = begun(given, text, settings);
  const kept = {
    project: newer.project,
    questions: (writing ? given : newer).questions,
    settings: (setting ? given : newer).settings,
  };
  return [kept, writing ? text : newer.questions.join('\n'), ...(setting ? settings : newer.settings)];
}

/**
 * What the form is given now that a part of it was saved.
 *
 * @param {string | null} project
 * @param {Partial<Given> & { sent: { text?: string, settings?: unknown[] } }} saved what was saved, and what the form
 *   had sent
 * @param {Form} form
 * @returns {Form}
 */
export function keepInput(project, { sent, ...saved }, ...form) {
  const [given, text, ...settings] = form;
  if (saved.project !== project || given?.project !== project) return form; // another project's by now
  const stored = saved.settings,
    shown = sent.settings;
  const shows = settings.map((value, at) => (stored && shown && same(value, shown[at]) ? stored[at] : value));
  return [{ ...given, ...saved }, saved.questions && sent.text === text ? saved.questions.join('\n') : text, ...shows];
}
