// What has been asked of the open document, with the answers.

/** @import { AnnotationLine } from '../types' */

import { h, keyed, redraw } from '../core/dom.js';
import { walk } from '../core/list_keys.js';
import { goldBadge } from '../tasks/gold_answer.js';
import { shownStatus, statusBadge } from './answer_status.js';

/**
 * A line of the document's list; that of the open answer follows it before it is saved.
 *
 * @typedef {Pick<
 *   AnnotationLine,
 *   'id' | 'question' | 'status' | 'head' | 'text' | 'no_answer' | 'author' | 'gold'
 * >} QuestionLine
 */

/**
 * @typedef {object} QuestionListView
 * @property {object | null} document
 * @property {readonly QuestionLine[]} annotations as the document lists them
 * @property {string | undefined} annotation id of the open one
 * @property {ReadonlySet<string>} pending ids with edits that are not saved yet
 * @property {(line: QuestionLine) => boolean} mine
 * @property {(line: QuestionLine) => string | null | undefined} reason why it was rejected
 */

export class QuestionList {
  /**
   * @param {HTMLElement} root
   * @param {(annotation: string) => unknown} open
   */
  constructor(root, open) {
    this.open = open;
    this.title = h('h3', {});
    this.root = root;
    this.list = h('div', {
      class: 'g-questions',
      role: 'listbox',
      'aria-label': 'Questions asked about this document',
      on: { keydown: (event) => walk(event, '.g-question') },
    });
    root.append(this.title, this.list);
  }

  /** @param {QuestionListView} view */
  render({ document, annotations, annotation, pending, mine, reason }) {
    this.title.textContent = `Questions · ${annotations.length}`;
    this.root.hidden = !document || !annotations.length; // the answer card says how to begin
    const first = annotations.find((each) => each.id === annotation) ?? annotations[0]; // where Tab comes in
    keyed(this.list, annotations, {
      key: (each) => each.id,
      make: (each) =>
        h('button', {
          class: 'g-question',
          role: 'option',
          dataset: { annotation: each.id },
          on: { click: () => this.open(each.id) },
        }),
      updateRow: (row, each) => {
        row.ariaSelected = String(each.id === annotation);
        row.tabIndex = each === first ? 0 : -1;
        this.fill(row, each, pending.has(each.id), mine(each) ? null : each.author.name, reason(each));
      },
    });
  }

  /**
   * @param {HTMLElement} row
   * @param {QuestionLine} each
   * @param {boolean} pending
   * @param {string | null} author named where it is somebody else
   * @param {string | null | undefined} reason
   */
  fill(row, each, pending, author, reason) {
    const answer = each.no_answer ? 'Not answered in this document' : each.text || 'No words marked',
      status = shownStatus({ ...each, pending });
    redraw(row, [each.question.text, answer, author, reason, status, each.gold], () => [
      h('span', { class: 'g-question-text', dir: 'auto' }, each.question.text),
      h('span', { class: 'g-question-answer', dir: 'auto' }, author ? h('b', {}, `${author}: `) : null, answer),
      reason ? h('span', { class: 'g-question-reason', dir: 'auto' }, reason) : null,
      h('span', { class: 'g-question-foot' }, each.gold ? goldBadge() : null, statusBadge(status)),
    ]);
    row.title = [each.question.text, answer, reason].filter(Boolean).join('\n');
  }
}
