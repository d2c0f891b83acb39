// The form and the work on it are put together here.

import { openDialog } from './core/dialog.js';
import { h } from './core/dom.js';
import { typing } from './core/keyboard.js';
import { confirmation } from './panels/form_panel.js';
import { DocumentForm } from './state/form.js';
import { FormWork } from './tasks/form_work.js';

/** @import { Stage } from './canvas/stage.js' */
/** @import { Toasts } from './core/toast.js' */
/** @import { Panels } from './panels/render_panels.js' */
/** @import { Preferences } from './settings/preferences.js' */
/** @import { OpenAnswer } from './state/answer.js' */
/** @import { Library } from './state/library.js' */
/** @import { Navigation } from './state/navigation.js' */
/** @import { Session } from './state/session.js' */
/** @import { WorkMode } from './tasks/work_mode.js' */

/**
 * @typedef {object} FormSurroundings
 * @property {HTMLElement} root
 * @property {Library} library
 * @property {OpenAnswer} answer
 * @property {Navigation} navigation
 * @property {Session} session
 * @property {WorkMode} work
 * @property {Toasts} toasts
 * @property {Preferences} preferences
 * @property {Stage} stage
 * @property {Panels} panels there by the time that a field is focused
 */

/**
 * @param {FormSurroundings} at
 * @param {(step: () => unknown) => void} act runs what may fail, and says so
 * @param {() => void} changed
 */
export function makeForm(at, act, changed) {
  const { library, answer, navigation, session, work } = at;
  const form = new DocumentForm(library, {
    changed,
    filled: () => formWork.enter(),
    upcoming: (document) => void library.expect(document, null),
  });
  const parts = { form, answer, navigation, session, work };
  /** @type {FormWork} */
  const formWork = new FormWork(parts, {
    act,
    tell: (sentence, action) => at.toasts.show(sentence, 'info', action),
    confirm: (number, run) => {
      const { title, sentence, label } = confirmation(number, session.submits);
      openDialog(at.root, { title, body: h('p', {}, sentence), actions: [{ label, primary: true, run }] });
    },
    remember: (shown) => at.preferences.set('form', shown),
    focus: (annotation) => {
      const before = document.activeElement;
      if (at.panels.form.focus(annotation)) return;
      const late = () => [before, document.body].includes(document.activeElement) && at.panels.form.focus(annotation);
      // A row that has just come is drawn with the next frame. Meanwhile somebody may have gone elsewhere.
      requestAnimationFrame(() => requestAnimationFrame(late));
    },
    unheld: () => [document.body, at.stage.canvas].some((each) => each === document.activeElement),
    held: () => typing(document.activeElement) || document.querySelector('.g-dialog') !== null,
    focusPage: () => at.stage.canvas.focus({ preventScroll: true }),
  });
  return formWork;
}
