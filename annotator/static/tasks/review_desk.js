// Reviewing: answers come one by one, leased; a verdict on each, or a fix with all tools. Draws nothing.
// After submitted answers come label reviews (`second_look` in REST): accepted labels that the model contradicts.

import { post } from '../core/api.js';
import { Fixes } from './review_drafts.js';
import { HandedOut } from './leased_work.js';
import { Judging } from './verdict.js';
import { hint } from '../core/keyboard.js';
import { EMPTY_MARK } from '../state/marks.js';
import { Reasons } from './verdicts.js';

const blank = () => ({ quality: null, completeness: null, reason: '' });

export class ReviewDesk extends HandedOut {
  // show(found): opens the answer. idle(): milliseconds since somebody moved.
  // hear: { changed(), lost(sentence), tell(sentence), wantReason() }
  constructor({ library, answers, show, idle, hear }) {
    super({ library, idle, hear });
    Object.assign(this, { answers, showing: show });
    this.fixes = new Fixes(library.user.id, () =>
      hear.tell('This browser cannot store your changes. Save the fix before you leave the page.'),
    );
    this.judging = new Judging(answers, this.fixes);
    this.reasons = new Reasons(library);
    this.annotation = null; // id of the answer under review
    this.look = null; // why an accepted label is looked at again: { kind, sentence, model, page_id, words, mask }
    this.said = blank();
    this.waiting = null; // how many answers wait
  }

  // The answer under review is the one on the screen.
  get here() {
    return this.annotation !== null && this.answers.local?.id === this.annotation;
  }

  // A verdict can be given: the answer was submitted or is under label review, and no verdict is on its way.
  get open() {
    return (
      this.here && this.judged.includes(this.answers.local.status) && !this.answers.queue.of(this.annotation).length
    );
  }

  get judged() {
    return this.look ? ['accepted', 'fixed'] : ['submitted'];
  }

  get fixing() {
    return this.here && this.judging.fixing;
  }

  get held() {
    return this.annotation;
  }

  ask(project, after) {
    return post('/projects/{project_id}/review/next', { project_id: project.id }, { after });
  }

  keep(id) {
    return post('/annotations/{annotation_id}/review/heartbeat', { annotation_id: id }, undefined);
  }

  giveBack(id, options) {
    return post('/annotations/{annotation_id}/review/release', { annotation_id: id }, undefined, options);
  }

  idOf(found) {
    return found.annotation_id;
  }

  take(found) {
    this.annotation = found.annotation_id;
    this.document = found.document_id;
    this.look = found.second_look ?? null;
    this.waiting = found.to_review;
    this.said = blank();
    this.reason = found.annotation_id ? null : (found.reason ?? 'Nothing to review.');
    this.lease = found.annotation_id && this.lent(found.annotation_id, found.lease_until);
  }

  present(found) {
    return this.annotation ? this.show(found) : null;
  }

  async show(found = { annotation_id: this.annotation, document_id: this.document, page_id: null }) {
    await this.showing(found);
    await this.fixes.ready;
    this.restore(); // does nothing where somebody has left meanwhile
  }

  // Corrections that were under way when the page went away.
  restore() {
    const kept = this.open && !this.judging.fixing && this.fixes.get(this.annotation);
    if (!kept) return;
    this.judging.begin(kept);
    if (kept.base !== this.answers.local.head)
      this.hear.tell('The author has changed this answer since you started the fix. Your changes are applied on top.');
    else this.hear.tell('Your earlier changes were restored. Save the fix, or discard it.');
  }

  drop() {
    if (this.fixing) this.judging.putAside();
    this.annotation = this.look = null;
    this.said = blank();
    this.judging.end();
  }

  // --- saying

  say(part, value) {
    this.said = { ...this.said, [part]: value };
    this.hear.changed();
  }

  turn(part) {
    this.say(part, this.said[part] === false ? true : this.said[part] === true ? null : false);
  }

  fix() {
    if (!this.open || this.judging.fixing) return;
    this.judging.begin(this.fixes.get(this.annotation));
    this.hear.changed();
  }

  // What the model says instead, as a fix that is still to be sent.
  takeModel() {
    const { look, answers } = this;
    if (!look || !this.open) return;
    if (!this.judging.fixing) this.judging.begin(null);
    if (look.kind === 'not_here') {
      if (!answers.local.no_answer)
        answers.become(
          answers.place.page.id,
          { mark: answers.markOn(answers.place.page.id), no_answer: true },
          'no_answer',
        );
    } else {
      for (const page of Object.keys(answers.local.pages))
        if (page !== look.page_id) answers.become(page, { mark: EMPTY_MARK, no_answer: false }, 'clear');
      answers.become(
        look.page_id,
        { mark: { ...EMPTY_MARK, words: look.words, mask: look.mask }, no_answer: false },
        'candidate',
      );
      if (answers.place.page?.id !== look.page_id) answers.hear.open(look.page_id);
    }
    this.hear.changed();
  }

  giveUpFix() {
    if (this.fixing) this.judging.giveUp();
    this.hear.changed();
  }

  // Whether a verdict was put on its way. Accepted says that all is right; a rejection says why.
  judge(verdict) {
    if (!this.open || this.busy) return false;
    const { quality, completeness } = this.said,
      reason = this.said.reason.trim();
    if (verdict === 'accepted' && (quality === false || completeness === false)) {
      this.hear.tell(
        `You marked something as wrong. Reject the answer with ${hint('reviewReject')}, or fix it with ${hint('reviewFix')}.`,
      );
      return false;
    }
    if (verdict === 'rejected' && !reason) {
      this.hear.wantReason();
      return false;
    }
    if (verdict === 'fixed' && !this.answers.marked()) return false;
    const right =
      verdict === 'accepted'
        ? { quality: quality ?? true, completeness: completeness ?? true }
        : { quality, completeness };
    if (!this.judging.send({ verdict, ...right, reason })) {
      this.hear.tell('Nothing has been changed yet. Change the mark, or discard the fix and accept the answer.');
      return false;
    }
    if (reason) this.reasons.learn(reason);
    return true;
  }
}
