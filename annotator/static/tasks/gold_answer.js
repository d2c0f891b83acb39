// Gold questions: whether the open answer is the known one, choosing it, and taking that back. For reviewers alone:
// annotators get gold questions unannounced, and nothing on their page tells which they are.

/** @import { AnnotationView, GoldState } from '../types' */
/** @import { Session } from '../state/session.js' */
/** @import { ToastAction, WorkMode } from './work_mode.js' */

import { get, put } from '../core/api.js';
import { h } from '../core/dom.js';
import { icon } from '../core/icons.js';

const AGAIN = 10_000; // milliseconds until what could not be had is asked for again
const ACCEPTED = ['accepted', 'fixed'];
const EXPLAINED =
  'A gold question has a known answer: annotators get it unannounced among their tasks, and their accuracy is measured on it.';

/** @typedef {Pick<AnnotationView, 'id' | 'status' | 'head'>} GoldSubject */
/** @typedef {{ subject: GoldSubject, state: GoldState }} GoldView */

/**
 * @typedef {object} GoldPorts
 * @property {() => unknown} changed
 * @property {(step: () => unknown) => void} act runs what may fail, and says so
 * @property {(sentence: string, action?: ToastAction) => void} tell
 */

export class GoldAnswers {
  /**
   * @param {{ session: Session, work: WorkMode }} parts
   * @param {GoldPorts} ports
   */
  constructor({ session, work }, ports) {
    this.session = session;
    this.work = work;
    this.ports = ports;
    /**
     * By annotation; state: null while it comes. `stale`: asked for again when it is next looked at.
     *
     * @type {Map<string, { head: number, stale: boolean, state: GoldState | null }>}
     */
    this.known = new Map();
  }

  /** The person reviews here, and is not at work in the queue, whose steps ask the server for nothing more. */
  get allowed() {
    return this.session.reviews && this.work.mode !== 'queue';
  }

  /**
   * What the card shows of an answer: null of one that is not accepted, or answers no standard question.
   *
   * @param {GoldSubject | null | undefined} answer as the server has it
   * @returns {GoldView | null}
   */
  of(answer) {
    if (!answer || !ACCEPTED.includes(answer.status) || !this.allowed) return null;
    const known = this.known.get(answer.id);
    const state = known && !known.stale && known.head === answer.head ? known.state : this.load(answer);
    return state?.task_id ? { subject: answer, state } : null;
  }

  /**
   * Asks the server; meanwhile the earlier state holds.
   *
   * @param {GoldSubject} answer
   */
  load({ id, head }) {
    const fresh = { head, stale: false, state: this.known.get(id)?.state ?? null };
    this.known.set(id, fresh);
    get('/annotations/{annotation_id}/gold', { annotation_id: id })
      .then((state) => ((fresh.state = state), this.ports.changed()))
      .catch(() => setTimeout(() => this.known.get(id) === fresh && this.known.delete(id), AGAIN));
    return fresh.state;
  }

  /** Somebody may have chosen another known answer. */
  forget() {
    for (const known of this.known.values()) known.stale = true;
  }

  /**
   * Makes an answer the known one of its task; null: its task is no gold question any more.
   *
   * @param {GoldState} before
   * @param {string | null} answer
   */
  async choose(before, answer) {
    const { task_id: task, annotation_id: earlier } = before;
    if (!task) return;
    await this.store(task, answer);
    const undo = { label: 'Undo', run: () => this.ports.act(() => this.store(task, earlier)) };
    this.ports.tell(answer ? 'This is now a gold question.' : 'This is no longer a gold question.', undo);
  }

  /**
   * @param {string} task
   * @param {string | null} answer
   */
  async store(task, answer) {
    await put('/tasks/{task_id}/gold', { task_id: task }, { annotation_id: answer });
    this.forget();
    this.ports.changed();
  }
}

/** Says that an answer is the known one of its task. */
export const goldBadge = () =>
  h('span', { class: 'g-status', dataset: { status: 'gold' }, title: EXPLAINED }, icon('star', 12), 'Gold');

/**
 * The line in the answer card.
 *
 * @param {GoldView | null} view
 * @param {(before: GoldState, answer: string | null) => unknown} choose
 */
export function goldLine(view, choose) {
  if (!view) return null;
  const { subject, state } = view,
    { annotation_id: known, revision, author } = state,
    isKnown = known === subject.id;
  const button = (/** @type {string} */ label, /** @type {string | null} */ answer, /** @type {string} */ title) =>
    h('button', { class: 'g-link', title, on: { click: () => choose(state, answer) } }, label);
  if (!known)
    return h(
      'p',
      { class: 'g-gold' },
      button('Make gold question', subject.id, `${EXPLAINED} This answer becomes the known one.`),
    );
  const changed = isKnown && revision !== subject.head;
  return h(
    'p',
    { class: 'g-gold' },
    goldBadge(),
    h(
      'span',
      {},
      isKnown ? 'Gold question' : h('span', {}, 'Known answer by ', h('b', { translate: 'no', dir: 'auto' }, author)),
      changed ? `, known answer: revision ${revision}` : null,
    ),
    isKnown && !changed ? null : button('Use this answer', subject.id, 'This answer becomes the known one.'),
    button('Remove', null, 'The task becomes an ordinary one again. The answers stay.'),
  );
}
