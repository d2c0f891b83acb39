// Where the answer may stand: pages by the probability that they answer, what carries a mark, and what was not asked
// yet.

/** @import { OpenedAnswer, Origin } from '../types' */

import { h, keyed, redraw } from '../core/dom.js';
import { percent } from '../core/text.js';
import { icon } from '../core/icons.js';
import { isTable } from '../state/table.js';

const SHOWN = 4; // pages before "more"

/**
 * @typedef {object} RankedPagesActs
 * @property {(page: string) => unknown} page
 * @property {() => unknown} askHere the model is to mark the answer on the open page
 * @property {(all: boolean) => unknown} askMore further pages are to be asked: all of them, or some
 * @property {() => unknown} stop
 */

/**
 * @typedef {object} AnsweringPage
 * @property {string} id
 * @property {number} number
 * @property {Origin} [origin] who drew the mark that it carries
 */

/**
 * Further pages are being asked.
 *
 * @typedef {object} AskingFurther
 * @property {string} annotation
 * @property {number} until how many pages are asked then
 * @property {boolean} stop
 */

/**
 * @typedef {object} RankedPagesView
 * @property {Pick<OpenedAnswer, 'id' | 'ranked' | 'proposal' | 'no_answer' | 'field'>} annotation
 * @property {readonly AnsweringPage[]} pages of the document
 * @property {{ id: string, number: number } | null} page the open one
 * @property {boolean} marked it carries a mark
 * @property {boolean} refining
 * @property {boolean} [locked]
 * @property {boolean} [reviewing]
 * @property {AskingFurther | null} [further]
 */

export class RankedPages {
  /**
   * @param {RankedPagesActs} act
   * @param {() => unknown} changed
   */
  constructor(act, changed) {
    this.act = act;
    this.changed = changed;
    /** @type {string | null} */
    this.wide = null; // id of the annotation whose list is shown whole
    const part = () => h('div', { class: 'g-part' });
    this.asking = part();
    this.more = part();
    this.below = part();
    this.list = h('div', { class: 'g-ranked-list', role: 'list', 'aria-label': 'Pages by probability of an answer' });
    this.root = h('div', { class: 'g-ranked' }, this.asking, this.list, this.more, this.below);
  }

  /**
   * Draws into `root`.
   *
   * @param {RankedPagesView} view
   */
  render(view) {
    const { annotation, pages } = view;
    this.root.hidden = pages.length < 2 || isTable(annotation); // the rows of a table are sought on all pages
    if (this.root.hidden) return;
    const chances = new Map((annotation.ranked ?? []).map((each) => [each.page_id, each.answered]));
    if (!chances.size && annotation.proposal) chances.set(annotation.proposal.page_id, annotation.proposal.answered);
    const rows = pages
      .filter((each) => each.origin || chances.has(each.id))
      .sort(
        (left, right) =>
          Number(Boolean(right.origin)) - Number(Boolean(left.origin)) ||
          (chances.get(right.id) ?? 0) - (chances.get(left.id) ?? 0),
      );
    const whole = this.wide === annotation.id || rows.length <= SHOWN + 1;
    const { further, locked, reviewing, page, marked, refining } = view;
    redraw(this.asking, [annotation.id, chances.size, pages.length, locked, reviewing, further], () =>
      this.asked(view, chances.size),
    );
    keyed(this.list, whole ? rows : rows.slice(0, SHOWN), {
      key: (each) => each.id,
      make: (each) =>
        h(
          'div',
          { role: 'listitem' },
          h('button', { class: 'g-ranked-page', on: { click: () => this.act.page(each.id) } }),
        ),
      updateRow: (row, each) => {
        const button = row.firstElementChild;
        if (button instanceof HTMLElement) this.updateRow(button, each, chances.get(each.id), page);
      },
    });
    redraw(this.more, [annotation.id, whole, rows.length], () =>
      whole
        ? null
        : h(
            'button',
            { class: 'g-link', on: { click: () => ((this.wide = annotation.id), this.changed()) } },
            `Show ${rows.length - SHOWN} more pages`,
          ),
    );
    redraw(this.below, [page?.number, marked, annotation.no_answer, refining, locked], () => this.here(view));
  }

  /**
   * @param {HTMLElement} button
   * @param {AnsweringPage} each
   * @param {number | undefined} chance
   * @param {RankedPagesView['page']} page
   */
  updateRow(button, each, chance, page) {
    const known = chance !== undefined;
    const mark = each.origin ? { model: ', marked by the model', person: ', marked by a person' }[each.origin] : '';
    button.setAttribute('aria-current', String(each.id === page?.id));
    button.dataset.origin = each.origin ?? '';
    button.title = `Page ${each.number}${mark}${known ? `; probability of an answer: ${percent(chance)}` : '; not asked'}`;
    redraw(button, [each.number, chance], () => [
      h('span', {}, `Page ${each.number}`),
      h('i', { class: 'g-track' }, h('i', { style: `width: ${100 * (chance ?? 0)}%` })),
      h('b', {}, known ? percent(chance) : '–'),
      h('i', { class: 'g-dot' }),
    ]);
  }

  /**
   * Of a long document only some pages are asked at first: that is said, and the others are asked at a wish.
   *
   * @param {RankedPagesView} view
   * @param {number} number of pages that were asked
   */
  asked({ annotation, pages, further, locked, reviewing }, number) {
    if (number >= pages.length || (locked && !reviewing)) return null;
    if (further?.annotation === annotation.id) {
      return h(
        'div',
        { class: 'g-further', role: 'status' },
        h('span', { class: 'g-bar' }, h('i', { style: `width: ${(100 * number) / further.until}%` })),
        h(
          'span',
          { class: 'g-quiet' },
          `Asked ${number} of ${further.until === pages.length ? pages.length : `${further.until} pages; ${pages.length} in total`}`,
        ),
        h(
          'button',
          { class: 'g-link', disabled: further.stop, on: { click: () => this.act.stop() } },
          further.stop ? 'Stopping…' : 'Stop',
        ),
      );
    }
    const left = pages.length - number;
    const why =
      number > 1
        ? `${number} of ${pages.length} pages asked: those that share most words with the question.`
        : `1 of ${pages.length} pages asked.`;
    return h(
      'div',
      { class: 'g-further' },
      h('span', { class: 'g-quiet' }, why),
      h(
        'span',
        {},
        left > 8 ? h('button', { class: 'g-link', on: { click: () => this.act.askMore(false) } }, 'Ask 8 more') : null,
        h(
          'button',
          { class: 'g-link', on: { click: () => this.act.askMore(true) } },
          left > 8 ? `Ask all ${pages.length}` : left === 1 ? 'Ask the last page' : `Ask the other ${left}`,
        ),
      ),
    );
  }

  /** @param {RankedPagesView} view */
  here({ annotation, page, marked, refining, locked }) {
    if (!page || marked || annotation.no_answer || locked) return null;
    return h(
      'button',
      { class: 'g-link g-here', disabled: refining, on: { click: () => this.act.askHere() } },
      icon('spark', 14),
      `Mark the answer on page ${page.number} too`,
    );
  }
}
