// One item of the queue goes to the server: a revision, a verdict, or a change of a page's words.

import { byAuthor, post, put } from '../core/api.js';

/** @import { QueuedItem, Stored, WordsItem } from '../types' */

/**
 * @param {QueuedItem} item
 * @param {{ send: (item: WordsItem) => Promise<Stored> }} words who sends changes of words
 * @returns {Promise<Stored>}
 */
export async function sendEdit(item, words) {
  if (item.kind === 'words') return words.send(item);
  const { annotation, user, key, edits, seconds, images = {} } = item,
    base = item.base ?? 0;
  if (item.kind === 'verdict') {
    const body = { idempotency_key: key, base, ...item.verdict, edits, images, seconds };
    return post('/annotations/{annotation_id}/reviews', { annotation_id: annotation }, body, byAuthor(user));
  }
  const { action, prediction_id, interactions } = item;
  const body = { idempotency_key: key, base, action, edits, images, prediction_id, seconds, interactions };
  return put('/annotations/{annotation_id}/revisions', { annotation_id: annotation }, body, byAuthor(user));
}
