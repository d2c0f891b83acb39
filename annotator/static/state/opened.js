// The answer as this tab holds it, and the way from one version of it to another.

import { statusAfter } from './marks.js';
import { partEdits, partsOf } from './parts.js';

/** @import { AnnotationView, AnswerPart, Mark, OpenedAnswer } from '../types' */

/**
 * The annotation as this tab holds it: what the server said, with what still waits in the queue on top.
 *
 * @param {AnnotationView} annotation
 * @param {readonly { pages?: Record<string, Mark>, parts?: AnswerPart[], place?: number, no_answer: boolean,
 *   action: string }[]} pending
 * @returns {OpenedAnswer}
 */
export function opened(annotation, pending) {
  let parts = partsOf(annotation.state),
    place = 0;
  const local = {
    ...annotation,
    no_answer: annotation.state.no_answer,
    predictions: [],
    proposals: {},
    prediction_id: annotation.proposal?.prediction_id ?? null,
  };
  for (const item of pending) {
    if (item.parts) ({ parts, place = 0 } = item);
    else parts = [{ ...parts[0], pages: { ...parts[0].pages, ...item.pages } }, ...parts.slice(1)];
    local.no_answer = item.no_answer;
    local.status = statusAfter(item.action);
  }
  place = Math.min(place, parts.length - 1);
  return { ...local, parts, place, pages: parts[place].pages };
}

/**
 * Edits that turn one version of a whole answer into another.
 *
 * @param {Pick<OpenedAnswer, 'parts' | 'no_answer'>} mine the version to reach, with an empty cell in hand or without
 * @param {Pick<OpenedAnswer, 'parts' | 'no_answer'>} theirs the version to begin with
 */
export function editsTo(mine, theirs) {
  const parts = mine.parts.filter((part) => !part.fresh);
  const edits = partEdits(theirs.parts, parts);
  if (theirs.no_answer !== mine.no_answer) edits.push({ op: 'no_answer', value: mine.no_answer });
  return edits;
}
