// The answer of a cell of the table: the open answer of the page, with its edits, steps back and save queue. A decided
// answer that is corrected here stays decided, for the table is where decided values are put right: one's own is
// accepted anew, somebody else's is fixed by a verdict, as in a review.

import { OpenAnswer } from '../state/answer.js';
import { statusAfter } from '../state/marks.js';
import { isBlankPart } from '../state/parts.js';

/** @import { Edit, RevisionRequest } from '../types' */

export class CellAnswer extends OpenAnswer {
  /** @type {Set<string>} decided answers that were cleared here: once they say something again, they are decided */
  cleared = new Set();

  /**
   * @param {ConstructorParameters<typeof OpenAnswer>[0]} parts
   * @param {object} ports
   * @param {(annotation: { author: { id: string } }) => boolean} ports.mine whether this person's own edits change it
   * @param {(action: string, instead: boolean) => void} ports.queued edits of the open answer are on their way; instead
   *   of those that waited
   */
  constructor(parts, { mine, queued }) {
    super(parts);
    this.mine = mine;
    this.queued = queued;
  }

  get blank() {
    const { local } = this;
    return !local || (!local.no_answer && local.parts.every(isBlankPart));
  }

  /** Why the open answer cannot be changed here, or null. */
  get lock() {
    const { local } = this;
    if (!local || this.mine(local) || local.status !== 'draft') return null;
    return `This is a draft of ${local.author.name}, who has not submitted it yet. Answer the cell yourself to correct it.`;
  }

  /** Removes the value in hand with its marks on all pages. */
  clearValue() {
    const { local } = this;
    if (!local || this.on.locked()) return;
    const parts = local.parts.filter((_, at) => at !== local.place);
    if (!parts.length && !this.mine(local)) {
      return this.on.tell(
        `${local.author.name} has answered this. Correct the text, or press “Not in the document”: a verdict needs an answer.`,
      );
    }
    this.becomeParts(parts.length ? parts : [{ pages: {}, correction: null }], Math.max(0, local.place - 1), 'clear');
  }

  /**
   * @param {NonNullable<RevisionRequest['action']>} action
   * @param {Edit[]} edits
   * @param {string[]} touched pages
   * @param {string | null} [prediction]
   * @param {{ instead?: boolean }} [options]
   */
  enqueue(action, edits, touched, prediction, options = {}) {
    const { local, blank, cleared } = this;
    if (!local) return;
    const stands = action === 'edit' && (this.decided || cleared.has(local.id));
    if (stands && blank) cleared.add(local.id);
    else cleared.delete(local.id);
    if (this.mine(local)) super.enqueue(stands && !blank ? 'accept' : action, edits, touched, prediction, options);
    else this.fix(edits, touched, options);
    this.queued(action, options.instead === true);
  }

  /**
   * @param {Edit[]} edits
   * @param {string[]} touched pages
   * @param {{ instead?: boolean }} options
   */
  fix(edits, touched, options) {
    const { local } = this;
    if (!local) return;
    local.status = statusAfter('fixed');
    this.queue.add(
      {
        kind: 'verdict',
        annotation: local.id,
        document: local.document_id,
        question: local.question.text,
        action: 'fixed',
        verdict: { verdict: 'fixed' },
        edits,
        seconds: this.effort.take().seconds,
        pages: Object.fromEntries(touched.map((page) => [page, this.markOn(page)])),
        images: this.imagesOf(edits),
        no_answer: local.no_answer,
        parts: local.parts,
        place: local.place,
      },
      local.head,
      options,
    );
  }
}
