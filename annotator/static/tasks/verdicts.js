// What reviewers have said: fetched for the answers that need it, shown to their authors; reasons, kept for the next
// time.

/** @import { AnnotationLine, AnnotationView, ReviewLine } from '../types' */

import { get } from '../core/api.js';
import { h } from '../core/dom.js';
import { moment } from '../core/text.js';
import { icon } from '../core/icons.js';
import { remember, remembered } from '../core/storage.js';

const FIRST = ['Too much is marked', 'Part of the answer is missing', 'The wrong place is marked']; // until a project has its own
const OFFERED = 5;
const AGAIN = 10_000; // milliseconds until what could not be had is asked for again

/** @typedef {Pick<AnnotationLine | AnnotationView, 'id' | 'status' | 'head'>} Judged */

export class Verdicts {
  /** @param {() => unknown} changed */
  constructor(changed) {
    this.changed = changed;
    /**
     * By annotation; reviews: oldest first, null while they come.
     *
     * @type {Map<string, { head: number, reviews: ReviewLine[] | null }>}
     */
    this.known = new Map();
  }

  /**
   * Asked for once, and again when a verdict has come: not at every edit.
   *
   * @param {Judged} annotation
   */
  of({ id, status, head }) {
    const known = this.known.get(id);
    if (known && (status !== 'rejected' || known.head >= head)) return known.reviews;
    /** @type {{ head: number, reviews: ReviewLine[] | null }} */
    const fresh = { head, reviews: known?.reviews ?? null };
    this.known.set(id, fresh);
    get('/annotations/{annotation_id}/reviews', { annotation_id: id })
      .then((reviews) => ((fresh.reviews = reviews), this.changed()))
      .catch(() => setTimeout(() => this.known.get(id) === fresh && this.known.delete(id), AGAIN));
    return fresh.reviews;
  }

  /**
   * The verdict that the author has to answer: of a rejected answer, and of one that is being corrected since.
   *
   * @param {Judged | null | undefined} annotation
   */
  open(annotation) {
    if (!annotation || !annotation.head || !['rejected', 'draft'].includes(annotation.status)) return null;
    const last = this.of(annotation)?.at(-1);
    return last?.verdict === 'rejected' ? last : null;
  }
}

/**
 * What a reviewer found wrong, in words.
 *
 * @param {Pick<ReviewLine, 'quality' | 'completeness'>} review
 */
export const objections = ({ quality, completeness }) => [
  ...(quality === false ? ['the mask is wrong'] : []),
  ...(completeness === false ? ['something is missing'] : []),
];

/**
 * The block in the answer card.
 *
 * @param {ReviewLine | null} review
 * @param {string} status of the answer
 */
export function rejection(review, status) {
  if (!review) return null;
  return h(
    'div',
    { class: 'g-rejection', role: 'note' },
    icon('cross', 16),
    h(
      'div',
      {},
      h('b', {}, status === 'rejected' ? `${review.reviewer} rejected this` : `${review.reviewer} had rejected this`),
      h('p', {}, review.reason),
      h('span', { class: 'g-quiet' }, [moment(review.created_at), ...objections(review)].join(' · ')),
    ),
  );
}

// Reasons that this reviewer gave before in the project, the most used first.
export class Reasons {
  /** @param {{ user: { id: string } | null, project: { id: string } | null }} library */
  constructor(library) {
    this.library = library;
  }

  get place() {
    return `glossator.reasons.${this.library.user?.id}.${this.library.project?.id}`;
  }

  get counted() {
    return /** @type {Record<string, number>} */ (remembered('local', this.place) ?? {});
  }

  get offered() {
    const learned = Object.entries(this.counted)
      .sort(([, left], [, right]) => right - left)
      .map(([reason]) => reason);
    return [...learned, ...FIRST.filter((each) => !learned.includes(each))].slice(0, OFFERED);
  }

  /** @param {string} reason */
  learn(reason) {
    const { counted } = this;
    counted[reason] = (counted[reason] ?? 0) + 1;
    remember('local', this.place, Object.fromEntries(Object.entries(counted).slice(-100)));
  }
}
