// Reviewing: answers come one by one, leased; a verdict on each, or a fix with all tools. Draws nothing.
// After submitted answers come label reviews: accepted labels that the model contradicts.

import { post } from '../core/api.js';
import { hint } from '../core/keyboard.js';
import { EMPTY_MARK } from '../state/marks.js';
import { LeasedWork } from './leased_work.js';
import { anyAccepted, contradicted } from './other_answers.js';
import { ReviewDrafts } from './review_drafts.js';
import { Verdict } from './verdict.js';
import { Reasons } from './verdicts.js';

/** @import { Contradiction, NextReview, OtherAnswer, RequestOptions, ReviewRequest } from '../types' */
/** @import { OpenAnswer } from '../state/answer.js' */
/** @import { Library } from '../state/library.js' */
/** @import { Session } from '../state/session.js' */
/** @import { LeaseEvents } from '../sync/lease.js' */

/** @typedef {LeaseEvents & { tell: (sentence: string) => void, wantReason: () => void }} ReviewEvents */
/** @typedef {{ annotation: string, document: string | null, page: string | null }} AnswerPlace */
/** @typedef {{ quality: boolean | null, completeness: boolean | null, reason: string }} Said */

/** @returns {Said} */
const blank = () => ({ quality: null, completeness: null, reason: '' });

/** @extends {LeasedWork<NextReview, ReviewEvents>} */
export class ReviewDesk extends LeasedWork {
  /** @type {string | null} id of the answer under review */
  annotation = null;
  /** @type {string | null} */
  document = null;
  /** @type {Contradiction | null} why an accepted label is reviewed again */
  look = null;
  /** @type {OtherAnswer[]} other people's answers to the same question */
  others = [];
  /** Whether the reviewer was told that an accepted answer contradicts this one. */
  warned = false;
  said = blank();
  /** @type {number | null} how many answers wait */
  waiting = null;

  /**
   * @param {object} parts
   * @param {Library} parts.library
   * @param {Session} parts.session
   * @param {OpenAnswer} parts.answer
   * @param {(place: AnswerPlace) => Promise<void>} parts.show opens the answer
   * @param {() => number} parts.idle milliseconds since somebody moved
   * @param {ReviewEvents} parts.on
   */
  constructor({ library, session, answer, show, idle, on }) {
    super(library, idle, on);
    this.answer = answer;
    this.showing = show;
    const refused = 'This browser cannot store your changes. Save the fix before you leave the page.';
    this.drafts = new ReviewDrafts(session.user.id, () => on.tell(refused));
    this.verdict = new Verdict(answer, this.drafts);
    this.reasons = new Reasons({
      user: session.user,
      get project() {
        return library.project;
      },
    });
  }

  /** The answer under review is the one on the screen. */
  get here() {
    return this.annotation !== null && this.answer.local?.id === this.annotation;
  }

  /** A verdict can be given: the answer was submitted or is under label review, and no verdict is on its way. */
  get open() {
    const { local, queue } = this.answer;
    return Boolean(this.here && local && this.judged.includes(local.status) && !queue.of(local.id).length);
  }

  get judged() {
    return this.look ? ['accepted', 'fixed'] : ['submitted'];
  }

  get fixing() {
    return this.here && this.verdict.fixing;
  }

  get held() {
    return this.annotation;
  }

  /**
   * @param {string} project
   * @param {string | null} after
   */
  ask(project, after) {
    return post('/projects/{project_id}/review/next', { project_id: project }, { after });
  }

  /** @param {string} id */
  keep(id) {
    return post('/annotations/{annotation_id}/review/heartbeat', { annotation_id: id }, undefined);
  }

  /**
   * @param {string} id
   * @param {RequestOptions} [options]
   */
  giveBack(id, options) {
    return post('/annotations/{annotation_id}/review/release', { annotation_id: id }, undefined, options);
  }

  /** @param {NextReview} found */
  idOf(found) {
    return found.annotation_id;
  }

  /** @param {NextReview} found */
  take(found) {
    const { annotation_id: id, lease_until: until } = found;
    this.annotation = id;
    this.document = found.document_id;
    this.look = found.label_review;
    this.others = found.others;
    this.warned = false;
    this.waiting = found.to_review;
    this.said = blank();
    this.reason = id ? null : (found.reason ?? 'Nothing to review.');
    this.lease = id && until ? this.lent(id, until) : null;
  }

  /** @param {NextReview} found */
  present(found) {
    return this.show(found.page_id);
  }

  /** @param {string | null} [page] */
  async show(page = null) {
    const { annotation, document } = this;
    if (!annotation) return;
    await this.showing({ annotation, document, page });
    await this.drafts.ready;
    this.restore(); // does nothing where somebody has left meanwhile
  }

  /** Corrections that were under way when the page went away. */
  restore() {
    const kept = this.open && !this.verdict.fixing && this.annotation ? this.drafts.get(this.annotation) : null;
    if (!kept) return;
    this.verdict.begin(kept);
    this.on.tell(
      kept.base === this.answer.local?.head
        ? 'Your earlier changes were restored. Save the fix, or discard it.'
        : 'The author has changed this answer since you started the fix. Your changes are applied on top.',
    );
  }

  drop() {
    if (this.fixing) this.verdict.putAside();
    this.annotation = this.look = null;
    this.others = [];
    this.said = blank();
    this.verdict.end();
  }

  // --- saying

  /**
   * @template {keyof Said} Part
   * @param {Part} part
   * @param {Said[Part]} value
   */
  say(part, value) {
    this.said = { ...this.said, [part]: value };
    this.on.changed();
  }

  /** @param {'quality' | 'completeness'} part */
  turn(part) {
    this.say(part, this.said[part] === false ? true : this.said[part] === true ? null : false);
  }

  fix() {
    if (!this.open || this.verdict.fixing || !this.annotation) return;
    this.verdict.begin(this.drafts.get(this.annotation));
    this.on.changed();
  }

  /** What the model says instead, as a fix that is still to be sent. */
  takeModel() {
    const { look, answer } = this,
      { local, place } = answer;
    if (!look || !this.open || !local || !place.page) return;
    if (!this.verdict.fixing) this.verdict.begin(null);
    if (look.kind === 'not_here') {
      const { id } = place.page;
      if (!local.no_answer) answer.become(id, { mark: answer.markOn(id), no_answer: true }, 'no_answer');
    } else {
      for (const page of Object.keys(local.pages)) {
        if (page !== look.page_id) answer.become(page, { mark: EMPTY_MARK, no_answer: false }, 'clear');
      }
      const mark = { ...EMPTY_MARK, words: look.words, mask: look.mask };
      answer.become(look.page_id, { mark, no_answer: false }, 'candidate');
      if (place.page.id !== look.page_id) answer.on.open(look.page_id);
    }
    this.on.changed();
  }

  giveUpFix() {
    if (this.fixing) this.verdict.giveUp();
    this.on.changed();
  }

  /**
   * Whether a verdict was put on its way. Accepted says that all is right; a rejection says why.
   *
   * @param {ReviewRequest['verdict']} verdict
   */
  judge(verdict) {
    if (!this.open || this.busy) return false;
    const { quality, completeness } = this.said,
      reason = this.said.reason.trim();
    if (verdict === 'accepted' && (quality === false || completeness === false)) {
      const keys = `Reject the answer with ${hint('reviewReject')}, or fix it with ${hint('reviewFix')}.`;
      this.on.tell(`You marked something as wrong. ${keys}`);
      return false;
    }
    if (verdict === 'rejected' && !reason) {
      this.on.wantReason();
      return false;
    }
    if (verdict === 'fixed' && !this.answer.marked()) return false;
    const becomes_label =
      verdict === 'fixed' ? anyAccepted(this.others) : verdict === 'accepted' && contradicted(this.others) !== null;
    if (becomes_label && !this.warned) {
      this.warned = true;
      this.on.tell(
        verdict === 'accepted'
          ? `An accepted answer contradicts this one. Press ${hint('reviewAccept')} again: then this answer becomes the label.`
          : 'Another answer to this question is accepted. Save the fix again: then the fix becomes the label.',
      );
      this.on.changed();
      return false;
    }
    const right = verdict === 'accepted';
    const said = right ? { quality: quality ?? true, completeness: completeness ?? true } : { quality, completeness };
    if (!this.verdict.send({ verdict, ...said, reason, becomes_label })) {
      this.on.tell('Nothing has been changed yet. Change the mark, or discard the fix and accept the answer.');
      return false;
    }
    if (reason) this.reasons.learn(reason);
    return true;
  }
}
