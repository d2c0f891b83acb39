// A reviewer's verdict on somebody else's answer, and the corrections that may go with it. Both pass through the save
// queue.

import { statusAfter } from '../state/marks.js';
import { editsTo, opened } from '../state/opened.js';

/** @import { AnnotationView, Edit, Mark, OpenedAnswer, VerdictWords } from '../types' */
/** @import { OpenAnswer } from '../state/answer.js' */
/** @import { Draft, ReviewDrafts } from './review_drafts.js' */

export class Verdict {
  /**
   * As the author left them, while the reviewer fixes.
   *
   * @type {Pick<OpenedAnswer, 'pages' | 'parts' | 'place' | 'no_answer'> | null}
   */
  before = null;

  /**
   * @param {OpenAnswer} answer
   * @param {ReviewDrafts} drafts
   */
  constructor(answer, drafts) {
    this.answer = answer;
    this.drafts = drafts;
  }

  get fixing() {
    return this.before !== null && this.answer.divert !== null;
  }

  /**
   * From here on edits gather for the verdict.
   *
   * @param {Draft | null} [kept] what an earlier life of this window had gathered
   */
  begin(kept = null) {
    const { answer } = this,
      { local } = answer;
    if (!local) return;
    this.before = { pages: local.pages, parts: answer.storedParts, place: local.place, no_answer: local.no_answer };
    answer.divert = () => this.keep();
    answer.histories.forget(local.id);
    if (kept) {
      const { parts = [{ pages: { ...local.pages, ...kept.pages }, correction: answer.correction }], place = 0 } = kept;
      answer.setParts(parts, place);
      local.no_answer = kept.no_answer;
    }
    answer.on.mark();
  }

  keep() {
    const { local } = this.answer;
    if (!local) return;
    const { id, document_id: document, head: base, pages, place, no_answer } = local;
    const parts = this.answer.storedParts;
    this.drafts.keep({ annotation: id, document, base, pages, parts, place, no_answer });
  }

  giveUp() {
    if (this.answer.local) this.drafts.drop(this.answer.local.id);
    this.putAside();
  }

  /** The author's version shows again; the corrections stay in the browser. */
  putAside() {
    const { local, histories, on } = this.answer;
    if (local) {
      Object.assign(local, this.before);
      histories.forget(local.id);
    }
    this.end();
    on.mark();
  }

  end() {
    this.before = this.answer.divert = null;
    this.answer.refinement.drop();
  }

  /**
   * False where a fix changes nothing.
   *
   * @param {VerdictWords} verdict
   */
  send(verdict) {
    const { local } = this.answer,
      fixed = verdict.verdict === 'fixed';
    if (!local) return false;
    const edits = fixed && this.before ? editsTo(local, this.before) : [];
    if (fixed && !edits.length) return false;
    this.add(verdict, edits, fixed ? local.pages : {}, {});
    return true;
  }

  /**
   * A fix wins over what the author saved meanwhile.
   *
   * @param {AnnotationView} current
   * @param {VerdictWords} verdict
   */
  sendOnTop(current, verdict) {
    const { local } = this.answer;
    if (!local) return;
    local.head = current.head;
    this.add(verdict, editsTo(local, opened(current, [])), local.pages, { instead: true });
  }

  /**
   * @param {VerdictWords} verdict
   * @param {Edit[]} edits
   * @param {Record<string, Mark>} pages what stands on the pages that were changed
   * @param {{ instead?: boolean }} options
   */
  add(verdict, edits, pages, options) {
    const { local, queue, effort, histories, on } = this.answer;
    if (!local) return;
    this.end();
    histories.forget(local.id);
    local.status = statusAfter(verdict.verdict);
    const { seconds } = effort.take();
    queue.add(
      {
        kind: 'verdict',
        annotation: local.id,
        document: local.document_id,
        question: local.question.text,
        action: verdict.verdict,
        verdict,
        edits,
        seconds,
        pages,
        images: this.answer.imagesOf(edits),
        no_answer: local.no_answer,
        ...(local.parts.length > 1 || local.parts[0].cell
          ? { parts: this.answer.storedParts, place: local.place }
          : {}),
      },
      local.head,
      options,
    );
    on.mark();
  }
}
