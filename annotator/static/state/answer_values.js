// The values of the open answer: which one is in hand, and what a person says of its text.

import { get, post } from '../core/api.js';
import { EMPTY_PART, isBlankPart, viewOf } from './parts.js';

/** @import { OpenAnswer } from './answer.js' */
/** @import { ReadingView } from '../types' */

/**
 * @typedef {object} ValuePorts
 * @property {() => string | undefined} project id of the open one
 * @property {() => string | undefined} document id of the open one
 * @property {(sentence: string, ...actions: import('../types').Action[]) => void} tell
 * @property {(error: unknown) => void} error
 * @property {(page: string | undefined) => unknown} open a page is to be shown
 */

export class AnswerValues {
  /**
   * @param {OpenAnswer} answer
   * @param {ValuePorts} on
   */
  constructor(answer, on) {
    this.answer = answer;
    this.on = on;
  }

  /** The value in hand as the server reads it; null where it has not said it yet. */
  get view() {
    const { local } = this.answer;
    return local && viewOf(local.parts, local.values ?? [], local.place);
  }

  /** A further value, behind the one in hand. */
  add() {
    const { local } = this.answer;
    if (!local || this.answer.on.locked()) return;
    if (local.parts.some(isBlankPart)) {
      this.choose(local.parts.findIndex(isBlankPart));
      return this.on.tell('Mark this value first: click its words, or press the digit of a proposal.');
    }
    const place = local.place + 1;
    this.answer.becomeParts([...local.parts.slice(0, place), EMPTY_PART, ...local.parts.slice(place)], place, 'value');
  }

  /** Removes the value in hand. */
  remove() {
    const { local } = this.answer;
    if (!local || local.parts.length < 2) return this.on.tell('The answer has a single value. Del clears its mark.');
    const { place } = local;
    const parts = local.parts.filter((_, at) => at !== place);
    this.answer.becomeParts(parts, Math.max(0, place - 1), 'value');
    this.on.tell(`Removed value ${place + 1}. Undo brings it back.`);
  }

  /**
   * Takes another value in hand, and shows its page.
   *
   * @param {number} place
   */
  choose(place) {
    const { local } = this.answer;
    if (!local || !local.parts[place]) return;
    this.answer.refinement.drop();
    this.answer.setParts(local.parts, place);
    this.answer.on.mark();
    const [page] = Object.keys(local.pages);
    if (page && page !== this.answer.place.page?.id) this.on.open(page);
  }

  /** @param {number} by places */
  step(by) {
    const { local } = this.answer;
    if (!local || local.parts.length < 2) return;
    this.choose((local.place + by + local.parts.length) % local.parts.length);
  }

  /**
   * Says what is printed, where it was read wrong; an empty text, or the one that was read, takes that back.
   *
   * @param {string} text
   */
  correct(text) {
    const { view } = this,
      wanted = text.trim();
    const said = !wanted || wanted === view?.printed ? null : wanted;
    this.say(said === null ? null : { text: said, reading: null }, 'text');
  }

  /** @param {number} at a reading of the ambiguous text */
  pick(at) {
    const reading = this.view?.readings[at];
    if (!reading) return false;
    const { value, convention } = reading;
    this.say({ text: this.answer.correction?.text ?? null, reading: { value, convention } }, 'reading');
    if (Object.keys(convention).length) this.remember(reading);
    return true;
  }

  /**
   * @param {import('../types').Correction | null} correction
   * @param {string} tool
   */
  say(correction, tool) {
    const { local } = this.answer,
      page = this.answer.place.page?.id;
    if (!local || !page) return;
    const standing = { mark: this.answer.markOn(page), no_answer: local.no_answer, correction };
    this.answer.change(page, standing, [], { tool });
  }

  /**
   * The project reads the next text of the kind in the same way; where the issuer is known, that alone may be said.
   *
   * @param {ReadingView} reading
   */
  async remember({ convention, words }) {
    const project_id = this.on.project(),
      document_id = this.on.document();
    if (!project_id || !document_id) return;
    const forget = Object.fromEntries(Object.keys(convention).map((name) => [name, null]));
    /** @type {(change: Record<string, string | null>, where?: { document_id: string }) => Promise<unknown>} */
    const put = (change, where) =>
      post('/projects/{project_id}/conventions', { project_id }, { convention: change, ...where });
    const forIssuer = async () => {
      await put(convention, { document_id });
      await put(forget);
    };
    const failed = (/** @type {unknown} */ error) => this.on.error(error);
    try {
      const [{ issuer }] = await Promise.all([
        get('/documents/{document_id}/issuer', { document_id }),
        put(convention),
      ]);
      const only = { label: 'Only this one', run: () => put(forget).catch(failed) },
        own = issuer ? [{ label: `Only of ${issuer}`, run: () => forIssuer().catch(failed) }] : [];
      this.on.tell(`This project reads such values so from now on: ${words}.`, ...own, only);
    } catch (error) {
      this.on.error(error);
    }
  }
}
