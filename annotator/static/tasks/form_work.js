// Work on the form: from field to field, accepting one or all that are sure enough, and on to the next paper.

/** @import { FormField } from '../types' */
/** @import { OpenAnswer } from '../state/answer.js' */
/** @import { DocumentForm } from '../state/form.js' */
/** @import { Navigation } from '../state/navigation.js' */
/** @import { Session } from '../state/session.js' */
/** @import { WorkMode } from './work_mode.js' */

import { count } from '../core/text.js';
import { acceptable, isDecided } from '../state/form_fields.js';

/**
 * @typedef {object} FormPorts
 * @property {(step: () => unknown) => void} act runs what may fail, and says so
 * @property {(sentence: string, action?: { label: string, run: () => void } | null) => void} tell
 * @property {(number: number, run: () => void) => void} confirm asks whether so many are to be accepted
 * @property {(shown: boolean) => void} remember
 * @property {(annotation: string) => void} focus puts the focus on the row of a field, once it is drawn
 * @property {() => boolean} unheld whether neither a list nor an input has the focus
 * @property {() => boolean} held whether somebody writes, or answers a dialog
 * @property {() => void} focusPage
 */

export class FormWork {
  busy = false;
  entering = false; // the next form that is filled takes the focus: somebody asked for it, or for another paper

  /**
   * @param {object} parts
   * @param {DocumentForm} parts.form
   * @param {OpenAnswer} parts.answer
   * @param {Navigation} parts.navigation
   * @param {Session} parts.session
   * @param {WorkMode} parts.work
   * @param {FormPorts} ports
   */
  constructor({ form, answer, navigation, session, work }, ports) {
    this.form = form;
    this.answer = answer;
    this.navigation = navigation;
    this.session = session;
    this.work = work;
    this.ports = ports;
  }

  /** Whether the form stands beside the page: a review is of one answer, so it has none. */
  get active() {
    return this.form.shown && this.work.mode !== 'review';
  }

  toggle() {
    const shown = !this.form.shown;
    this.entering = shown;
    this.ports.remember(shown);
    this.form.show(shown);
    if (this.entering && this.active) this.ports.focusPage(); // Tab leads from there to the fields
    if (shown && this.form.view?.left === 0) this.enter();
  }

  /**
   * Somebody has chosen a document: its form takes the focus.
   *
   * @param {string} id
   */
  async document(id) {
    this.entering = this.active;
    await this.navigation.document(id);
    if (this.form.document === id && this.form.view?.left === 0) this.enter(); // it was open already
  }

  /**
   * The form is filled. Where somebody asked for it, the field of the open answer takes the focus, else the first that
   * needs a decision; unasked, only the latter does, where nobody holds the focus elsewhere.
   */
  enter() {
    const { current, entering, ports } = this;
    this.entering = false;
    if (!this.active || !(entering ? !ports.held() : !current && ports.unheld())) return;
    const field = current ?? this.form.fields.find((each) => each.annotation_id && !isDecided(each));
    if (field?.annotation_id) ports.focus(field.annotation_id);
    else if (entering) ports.focusPage();
  }

  /** The field of the open answer. */
  get current() {
    return this.form.fields.find((each) => each.annotation_id === this.answer.local?.id) ?? null;
  }

  /** @param {string | null} annotation */
  open(annotation) {
    if (annotation && annotation !== this.answer.local?.id)
      this.ports.act(() => this.navigation.annotation(annotation));
  }

  /**
   * Focuses the next field, or the one before; false at the ends, where the key is the browser's.
   *
   * @param {number} step
   */
  walk(step) {
    const asked = this.form.fields.filter((each) => each.annotation_id !== null);
    const at = asked.findIndex((each) => each.annotation_id === this.answer.local?.id);
    const next = asked[at < 0 ? 0 : at + step]?.annotation_id;
    if (!next) return false;
    this.ports.focus(next);
    return true;
  }

  /**
   * Accepts a field and goes on to the next one that is open; one that is decided only leads on.
   *
   * @param {FormField} field
   */
  async accept(field) {
    const { annotation_id: annotation } = field;
    if (!annotation) return;
    if (this.answer.local?.id !== annotation) await this.navigation.annotation(annotation);
    if (this.answer.local?.id !== annotation) return; // somebody has gone on meanwhile
    if (!this.answer.decided) this.work.accept();
    if (this.answer.decided) this.onward(annotation);
  }

  /**
   * The open answer was accepted: on to the next field that needs a decision, or to the next paper.
   *
   * @param {string} annotation
   */
  onward(annotation) {
    const field = this.form.fields.find((each) => each.annotation_id === annotation);
    if (!field) return;
    if (this.answer.local?.id === annotation) field.status = this.answer.local.status;
    const at = this.form.fields.indexOf(field);
    const others = [...this.form.fields.slice(at + 1), ...this.form.fields.slice(0, at)];
    const next = others.find((each) => each.annotation_id && !isDecided(each))?.annotation_id;
    if (next) this.ports.focus(next);
    else this.finish(annotation);
  }

  /**
   * All fields are decided: in the queue, the next paper opens once the server has them.
   *
   * @param {string} [annotation] the last one
   */
  finish(annotation) {
    const { form, work } = this;
    if (work.mode !== 'queue' || form.view?.left || !form.fields.every(isDecided)) return;
    this.ports.act(async () => {
      this.entering = true;
      if (!annotation || (await work.stored(annotation))) await work.next();
    });
  }

  /** Accepts all fields that are sure enough; without any bound, asks whether to accept all that are shown. */
  acceptAll() {
    if (!this.active || this.busy) return;
    const { candidates, sure, bounded } = acceptable(this.form.fields);
    if (!candidates.length) return this.ports.tell('No field is left that can be accepted with the others.');
    if (bounded || sure.length === candidates.length) {
      if (sure.length) return this.run(sure);
      return this.ports.tell('No field reaches the confidence from which it is accepted. Check the fields one by one.');
    }
    this.ports.confirm(candidates.length, () => this.run(candidates));
  }

  /** @param {readonly FormField[]} fields */
  run(fields) {
    this.busy = true;
    this.ports.act(async () => {
      try {
        await this.store(fields);
      } finally {
        this.busy = false;
      }
    });
  }

  /** @param {readonly FormField[]} fields */
  async store(fields) {
    for (const { annotation_id: id } of fields) {
      if (id && this.work.queue.of(id).length && !(await this.work.stored(id))) {
        return this.ports.tell('Some changes are not saved yet. Accept all again once they are.');
      }
    }
    const { seconds } = this.answer.effort.take();
    const decided = await this.form.decide('accept', fields, seconds);
    const stored = decided.filter((each) => each.revision !== null),
      refused = decided.filter((each) => each.revision === null);
    const done = this.session.submits ? 'submitted for review' : 'accepted';
    const left = this.form.fields.filter((each) => !isDecided(each)).length;
    const rest = left ? ` ${count(left, 'field')} left to check.` : '';
    const why = refused.length ? ` ${refused[0].refusal}` : '';
    const undo = { label: 'Undo', run: () => this.takeBack(stored.map((each) => each.annotation_id)) };
    this.ports.tell(`${count(stored.length, 'field')} ${done}.${rest}${why}`, stored.length ? undo : null);
    await this.navigation.refresh();
    await this.form.refresh();
    this.finish();
  }

  /** @param {readonly string[]} annotations */
  takeBack(annotations) {
    const fields = this.form.fields.filter(({ annotation_id: id }) => id !== null && annotations.includes(id));
    this.ports.act(async () => {
      await this.form.decide('reopen', fields);
      await this.navigation.refresh();
      await this.form.refresh();
    });
  }
}
