// What a form on one of Gradio's tabs shows once newer values have come, or its own were saved: what somebody has begun to write or to
// set meanwhile stays, and saving says what others did. Decided in the browser, when the answer is there: on the server, what is
// typed while it is on its way would be lost.

import { chosenProject } from '../core/chosen_project.js';

const lines = (text) =>
  (text ?? '')
    .split(/\r?\n/)
    .map((line) => line.split(/\s+/).filter(Boolean).join(' '))
    .filter(Boolean);
const same = (one, other) => JSON.stringify(one) === JSON.stringify(other);

// Whether something was begun to be written, or set, that is not saved.
const begun = (given, text, settings) => [!same(lines(text), given.questions), !same(settings, given.settings)];

// The project that the form shows when its tab comes into sight: the one chosen last, but for what was begun and not saved.
export function followed(project, given, text, ...settings) {
  const stays = given?.project === project && begun(given, text, settings).some(Boolean);
  return stays ? project : (chosenProject() ?? project);
}

// `given`, `newer`: { project, questions, settings }; `newer.seen`: what the form was given when it asked. Returns what it is given now, the
// list's text, and the settings.
export function freshened(project, newer, given, text, ...settings) {
  if (newer?.project !== project || !same(newer.seen ?? {}, given ?? {})) return [given, text, ...settings]; // left, not to be seen, or saved meanwhile
  const { seen, ...there } = newer;
  if (given?.project !== project) return [there, newer.questions.join('\n'), ...newer.settings];
  const [writing, setting] = begun(given, text, settings);
  const kept = {
    project,
    questions: (writing ? given : newer).questions,
    settings: (setting ? given : newer).settings,
  };
  return [kept, writing ? text : newer.questions.join('\n'), ...(setting ? settings : newer.settings)];
}

// `saved`: { project, sent } and what was saved of it: questions or settings; `sent`: what the form had sent, { text } or { settings }.
export function kept(project, { sent, ...saved }, given, text, ...settings) {
  if (saved.project !== project || given?.project !== project) return [given, text, ...settings]; // another project's by now
  const shown = sent.settings
    ? settings.map((value, at) => (same(value, sent.settings[at]) ? saved.settings[at] : value))
    : settings;
  return [{ ...given, ...saved }, sent.text === text ? saved.questions.join('\n') : text, ...shown];
}
