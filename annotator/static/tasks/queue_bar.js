// Above the question: what one works on (asking freely, the queue, review), whose task it is, and why there is none.

/** @import { HeldTask, QueueView } from '../types' */

import { h, redraw } from '../core/dom.js';
import { count, onThisClock } from '../core/text.js';
import { icon } from '../core/icons.js';
import { hint } from '../core/keyboard.js';

/** @typedef {'free' | 'queue' | 'review'} Mode */

/** @type {readonly { mode: Mode, label: string, title: string, key: string }[]} key: name of the command */
const MODES = [
  { mode: 'free', label: 'Ask', title: 'Ask any question about any document', key: 'queue' },
  { mode: 'queue', label: 'Queue', title: 'Answer the standard questions task by task', key: 'queue' },
  { mode: 'review', label: 'Review', title: "Review other people's answers", key: 'review' },
];

/** @param {string | number | Date} at */
const clock = (at) => new Date(at).toLocaleTimeString('en-GB', { hour: '2-digit', minute: '2-digit' });

/**
 * @typedef {object} QueueBarActs
 * @property {(mode: Mode) => unknown} mode
 * @property {() => unknown} next
 * @property {() => unknown} back to what is reserved for this person
 * @property {() => unknown} again tries again what has failed
 * @property {() => unknown} edit the standard questions
 * @property {() => unknown} skip the task, with a reason
 * @property {() => unknown} skipped shows what people skipped
 */

/**
 * What hands out the work of a mode: the queue of tasks, or reviews.
 *
 * @typedef {object} HandingOut
 * @property {boolean} empty there is nothing to do
 * @property {boolean} busy
 * @property {string | null} failed why it could not be had
 * @property {string | null} reason why there is nothing to do
 * @property {{ until: string | number | Date, over: boolean, lost: string | null } | null} lease
 */

/**
 * @typedef {object} QueueBarView
 * @property {Mode} mode
 * @property {boolean} reviewer writes standard questions too
 * @property {boolean} reviews answers of others
 * @property {QueueView | null} counts
 * @property {number | null | undefined} waiting answers to review
 * @property {HandingOut | null} desk
 * @property {boolean} elsewhere something else is open than what is reserved
 */

export class QueueBar {
  /**
   * @param {HTMLElement} root
   * @param {QueueBarActs} act
   */
  constructor(root, act) {
    this.act = act;
    this.modes = MODES.map(({ mode, label, title, key }) => {
      const left = h('i', {});
      const button = h(
        'button',
        {
          class: 'g-mode',
          role: 'radio',
          title: `${title}   ${hint(key)}`,
          dataset: { mode },
          on: { click: () => act.mode(mode) },
        },
        h('span', {}, label),
        left,
      );
      return { mode, button, left };
    });
    this.choice = h(
      'div',
      { class: 'g-modes', role: 'radiogroup', 'aria-label': 'Work mode' },
      this.modes.map(({ button }) => button),
    );
    this.strip = h('div', { class: 'g-task', role: 'status' });
    this.nothing = h('div', { class: 'g-nothing' });
    this.skipped = h('button', { class: 'g-link', hidden: true, on: { click: () => act.skipped() } });
    this.root = root;
    root.append(this.choice, this.strip, this.skipped, this.nothing);
  }

  /** @param {QueueBarView} view */
  render(view) {
    const { mode, reviews, counts, waiting, desk } = view;
    const numbers = { free: null, queue: counts?.mine, review: waiting };
    for (const { mode: each, button, left } of this.modes) {
      button.setAttribute('aria-checked', String(each === mode));
      left.textContent = numbers[each] ? String(numbers[each]) : '';
      button.hidden = each === 'review' && !reviews;
    }
    this.root.dataset.mode = mode;
    this.skipped.hidden = !(reviews && counts?.skipped);
    this.skipped.textContent = `Review ${count(counts?.skipped ?? 0, 'skipped task')}`;
    this.strip.hidden = !desk || desk.empty;
    this.nothing.hidden = !desk?.empty;
    const seen = desk && [
      mode,
      counts,
      waiting,
      desk.busy,
      desk.failed,
      desk.reason,
      desk.lease?.until,
      desk.lease?.over,
      desk.lease?.lost,
      view.elsewhere,
      view.reviewer,
    ];
    if (desk && !this.strip.hidden) redraw(this.strip, seen, () => this.working(view, desk));
    if (desk && !this.nothing.hidden) redraw(this.nothing, seen, () => this.empty(view, desk));
  }

  /**
   * Which task this is, and until when it is one's own; or who has it now.
   *
   * @param {QueueBarView} view
   * @param {HandingOut} desk
   */
  working({ mode, counts, waiting, elsewhere }, { lease, busy, failed }) {
    if (busy)
      return [
        h(
          'div',
          { class: 'g-task-line' },
          h('b', {}, mode === 'queue' ? 'Loading the next task…' : 'Loading the next answer…'),
        ),
      ];
    if (failed)
      return [
        h('p', { class: 'g-task-lost' }, failed),
        h('button', { class: 'g-link', on: { click: () => this.act.again() } }, 'Try again'),
      ];
    const place = mode === 'queue' ? position(counts) : waiting ? `${count(waiting, 'answer')} to review` : 'Review';
    const lost = lease?.lost
      ? [
          h('p', { class: 'g-task-lost' }, onThisClock(lease.lost)),
          /kept|lost/.test(lease.lost) ? null : h('p', { class: 'g-quiet' }, 'Nothing is lost: your edits are kept.'),
          h(
            'button',
            { class: 'g-link', on: { click: () => this.act.next() } },
            mode === 'queue' ? 'Open next task' : 'Open next answer',
          ),
        ]
      : null;
    const until =
      lease && !lost
        ? lease.over
          ? `reserved for you until ${clock(lease.until)}; expired`
          : `reserved for you until ${clock(lease.until)}`
        : null;
    return [
      h(
        'div',
        { class: 'g-task-line' },
        h(
          'span',
          {},
          h('b', {}, place),
          until &&
            h(
              'span',
              { class: 'g-until', title: 'Nobody else gets it until then. The time is extended while you work.' },
              ` · ${until}`,
            ),
        ),
        mode === 'queue' &&
          !lost &&
          h(
            'button',
            {
              class: 'g-link',
              title: `Say why this task cannot be answered; a reviewer decides   ${hint('skip')}`,
              on: { click: () => this.act.skip() },
            },
            'Skip…',
          ),
        mode === 'review' &&
          !lost &&
          h(
            'button',
            {
              class: 'g-link',
              title: `Leave this answer to another reviewer   ${hint('next')}`,
              on: { click: () => this.act.next() },
            },
            'Skip',
          ),
      ),
      mode === 'queue' && counts?.total
        ? h(
            'span',
            { class: 'g-bar' },
            h('i', { style: `width: ${(100 * (counts.total - counts.open)) / counts.total}%` }),
          )
        : null,
      lost,
      elsewhere && !lost
        ? h(
            'button',
            { class: 'g-link', on: { click: () => this.act.back() } },
            mode === 'queue' ? 'Back to your task' : 'Back to the answer under review',
          )
        : null,
    ];
  }

  /**
   * Nothing to do: why, how far everybody is, and where to go from here.
   *
   * @param {QueueBarView} view
   * @param {HandingOut} desk
   */
  empty({ mode, reviewer, reviews, counts, waiting }, { reason }) {
    /**
     * @param {number} number
     * @param {string} text
     */
    const figure = (number, text) => (number ? h('li', {}, h('b', {}, String(number)), ` ${text}`) : null);
    /** @type {readonly HeldTask[]} */
    const held = counts?.held ?? []; // the reason names the first one
    const queue = mode === 'queue';
    const none = queue && counts && !counts.total;
    return h(
      'div',
      { class: 'g-empty g-left' },
      icon(none ? 'question' : 'check', 28),
      h('b', {}, none ? 'No tasks yet' : queue ? 'No task available' : 'Nothing to review'),
      h('p', {}, onThisClock(reason ?? '')),
      queue && counts?.total
        ? h(
            'ul',
            { class: 'g-counts' },
            figure(counts.done, 'done'),
            figure(counts.automatic, 'accepted automatically'),
            figure(counts.submitted, 'to review'),
            figure(counts.skipped, 'skipped, for a reviewer'),
            figure(counts.dismissed, 'without a possible answer'),
            figure(counts.open, 'open'),
            h('li', {}, h('b', {}, String(counts.total)), ' in total'),
          )
        : null,
      queue
        ? held
            .slice(1, 5)
            .map((each) =>
              h(
                'p',
                { class: 'g-quiet' },
                `${each.person} works on “${each.question}” of ${each.document} until ${clock(each.until)}.`,
              ),
            )
        : null,
      h(
        'div',
        { class: 'g-empty-actions' },
        none && reviewer
          ? h(
              'button',
              { class: 'g-button g-primary', on: { click: () => this.act.edit() } },
              'Write standard questions',
            )
          : h('button', { class: 'g-button', on: { click: () => this.act.next() } }, 'Refresh'),
        queue && reviews && waiting
          ? h(
              'button',
              { class: 'g-button', on: { click: () => this.act.mode('review') } },
              `Review ${count(waiting, 'answer')}`,
            )
          : null,
        h('button', { class: 'g-button', on: { click: () => this.act.mode('free') } }, 'Ask questions'),
      ),
    );
  }
}

/** @param {QueueView | null} counts */
function position(counts) {
  if (!counts?.total) return 'Task';
  return `Task ${Math.min(counts.total, counts.total - counts.open + 1)} of ${counts.total}`;
}
