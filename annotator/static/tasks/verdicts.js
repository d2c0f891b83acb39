// What reviewers have said: fetched for the answers that need it, shown to their authors; reasons, kept for the next time.

import { get } from '../core/api.js';
import { h } from '../core/dom.js';
import { moment } from '../core/text.js';
import { icon } from '../core/icons.js';
import { remember, remembered } from '../core/storage.js';

const FIRST = ['Too much is marked', 'Part of the answer is missing', 'The wrong place is marked']; // until a project has its own
const OFFERED = 5;
const AGAIN = 10_000; // milliseconds until what could not be had is asked for again

export class Verdicts {
  constructor(changed) {
    this.changed = changed;
    this.known = new Map(); // annotation id -> { head, reviews: oldest first, null while they come }
  }

  // Asked for once, and again when a verdict has come: not at every edit.

  of({ id, status, head }) {
    const known = this.known.get(id);
    if (known && (status !== 'rejected' || known.head >= head)) return known.reviews;
    const fresh = { head, reviews: known?.reviews ?? null };
    this.known.set(id, fresh);
    get('/annotations/{annotation_id}/reviews', { annotation_id: id })
      .then((reviews) => ((fresh.reviews = reviews), this.changed()))
      .catch(() => setTimeout(() => this.known.get(id) === fresh && this.known.delete(id), AGAIN));
    return fresh.reviews;
  }

  // The verdict that the author has to answer: of a rejected answer, and of one that is being corrected since.
  open(annotation) {
    if (!annotation || !annotation.head || !['rejected', 'draft'].includes(annotation.status)) return null;
    const last = this.of(annotation)?.at(-1);
    return last?.verdict === 'rejected' ? last : null;
  }
}

// A person may come as an object or by name alone.
export const named = (person) => person?.name ?? person ?? 'Somebody';

export const objections = ({ quality, completeness }) =>
  [quality === false && 'the mask is not right', completeness === false && 'something is missing'].filter(Boolean);

// The block in the answer card.
export function rejection(review, status) {
  if (!review) return null;
  return h(
    'div',
    { class: 'g-rejection', role: 'note' },
    icon('cross', 16),
    h(
      'div',
      {},
      h(
        'b',
        {},
        status === 'rejected'
          ? `${named(review.reviewer)} rejected this`
          : `${named(review.reviewer)} had rejected this`,
      ),
      h('p', {}, review.reason),
      h('span', { class: 'g-quiet' }, [moment(review.created_at), ...objections(review)].join(' · ')),
    ),
  );
}

// Reasons that this reviewer gave before in the project, the most used first.
export class Reasons {
  constructor(library) {
    this.library = library;
  }

  get place() {
    return `glossator.reasons.${this.library.user?.id}.${this.library.project?.id}`;
  }

  get counted() {
    return remembered('local', this.place) ?? {};
  }

  get offered() {
    const learned = Object.entries(this.counted)
      .sort(([, left], [, right]) => right - left)
      .map(([reason]) => reason);
    return [...learned, ...FIRST.filter((each) => !learned.includes(each))].slice(0, OFFERED);
  }

  learn(reason) {
    const { counted } = this;
    counted[reason] = (counted[reason] ?? 0) + 1;
    remember('local', this.place, Object.fromEntries(Object.entries(counted).slice(-100)));
  }
}
