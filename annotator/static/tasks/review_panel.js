// The reviewer's part of the answer card: two separate verdicts, a reason, and what to do with the answer.

/** @import { Attributes, Contradiction, OtherAnswer } from '../types' */

import { h, redraw } from '../core/dom.js';
import { icon } from '../core/icons.js';
import { hint } from '../core/keyboard.js';
import { contradicted, renderOthers } from './other_answers.js';

/** @typedef {{ quality: boolean | null, completeness: boolean | null, reason: string }} Said */

/**
 * @typedef {object} ReviewPanelActs
 * @property {(part: keyof Said, value: boolean | string | null) => unknown} say
 * @property {() => unknown} accept
 * @property {() => unknown} reject
 * @property {() => unknown} fix
 * @property {() => unknown} sendFix
 * @property {() => unknown} giveUpFix
 * @property {() => unknown} takeModel what the model says instead, as a fix
 * @property {() => unknown} next
 */

/**
 * @typedef {object} ReviewPanelView
 * @property {boolean} active
 * @property {boolean} open a verdict can be given
 * @property {Said} said
 * @property {boolean} fixing
 * @property {readonly string[]} reasons given before
 * @property {boolean} busy
 * @property {Pick<Contradiction, 'kind' | 'sentence' | 'model'> | null} look why an accepted label is looked at again
 * @property {readonly OtherAnswer[]} others other people's answers to the same question
 * @property {boolean} warned the reviewer knows that an accepted answer contradicts this one
 */

export class ReviewPanel {
  /**
   * @param {HTMLElement} root
   * @param {ReviewPanelActs} act
   */
  constructor(root, act) {
    this.root = root;
    this.act = act;
    this.fixing = false;
    /** @type {HTMLTextAreaElement} */
    this.field = h('textarea', {
      rows: '2',
      maxlength: '2000',
      placeholder: 'Reason, shown to the author',
      'aria-label': 'Reason',
      spellcheck: 'true',
      on: { input: () => act.say('reason', this.field.value), keydown: (event) => this.key(event) },
    });
    /** @type {{ part: 'quality' | 'completeness', means: boolean, choice: HTMLElement }[]} */
    this.choices = [];
    /** @type {{ key: string, sign: HTMLElement }[]} */
    this.signs = [];
    this.verdicts = h(
      'div',
      { class: 'g-verdicts' },
      this.question('quality', 'Is the mask right?', 'Right', 'Wrong', 'reviewQuality'),
      this.question('completeness', 'Is anything missing?', 'Complete', 'Missing', 'reviewComplete'),
    );
    this.offered = h('div', { class: 'g-reasons', role: 'group', 'aria-label': 'Earlier reasons' });
    this.wanting = h(
      'p',
      { class: 'g-wanting', role: 'alert', hidden: true },
      'Enter a reason before rejecting. The author sees it.',
    );
    this.actions = h('div', { class: 'g-actions' });
    this.reason = h('div', { class: 'g-reason' }, this.field, this.wanting, this.offered);
    this.again = h('div', { class: 'g-again', role: 'note', hidden: true });
    this.others = h('section', { class: 'g-others', hidden: true });
    root.append(this.again, this.others, this.verdicts, this.reason, this.actions);
  }

  /**
   * Enter rejects with the reason that stands there; Shift and Enter makes a new line.
   *
   * @param {KeyboardEvent} event
   */
  key(event) {
    if (event.key !== 'Enter' || event.shiftKey) return;
    event.preventDefault();
    event.stopPropagation();
    if (this.fixing) this.act.sendFix();
    else this.act.reject();
  }

  wantReason() {
    this.wanting.hidden = false;
    this.field.focus();
  }

  /** @param {ReviewPanelView} view */
  render({ active, open, said, fixing, reasons, busy, look, others, warned }) {
    this.root.hidden = !active;
    if (!active) return;
    this.fixing = fixing;
    this.verdicts.hidden = this.reason.hidden = !open;
    this.again.hidden = !open || !look;
    this.others.hidden = !open || !others.length;
    redraw(this.others, [others], () => renderOthers(others));
    const becomes = warned && contradicted(others) !== null;
    redraw(
      this.again,
      [look, busy],
      () =>
        look && [
          h(
            'p',
            {},
            h('b', {}, 'Label review. '),
            'This label was accepted. ',
            h('span', { dir: 'auto' }, look.sentence),
          ),
          look.kind !== 'words' &&
            h(
              'button',
              { class: 'g-link', disabled: busy, on: { click: () => this.act.takeModel() } },
              look.kind === 'not_here'
                ? `Fix as not answered, like ${look.model}`
                : `Fix with the mark of ${look.model}`,
            ),
        ],
    );
    if (this.field.value !== said.reason) this.field.value = said.reason;
    if (said.reason.trim()) this.wanting.hidden = true;
    if (document.activeElement !== this.field && !said.reason) this.wanting.hidden = true;
    for (const { part, means, choice } of this.choices)
      choice.setAttribute('aria-checked', String(said[part] === means));
    redraw(this.offered, reasons, () =>
      reasons.map((each) => h('button', { class: 'g-chip', title: each, on: { click: () => this.take(each) } }, each)),
    );
    const wrong = said.quality === false || said.completeness === false;
    /**
     * @param {string} name of the command
     * @param {string} label
     * @param {string} sign
     * @param {string} kind
     * @param {() => unknown} act
     * @param {Attributes} [more]
     */
    const button = (name, label, sign, kind, act, more = {}) =>
      h(
        'button',
        { class: `g-button ${kind}`, title: `${label}   ${hint(name)}`, disabled: busy, on: { click: act }, ...more },
        icon(sign, 16),
        label,
        h('kbd', {}, hint(name)),
      );
    for (const { key, sign } of this.signs) sign.textContent = hint(key);
    redraw(
      this.actions,
      [
        open,
        fixing,
        busy,
        wrong,
        Boolean(look),
        becomes,
        ['next', 'accept', 'reviewAccept', 'reviewReject', 'reviewFix'].map(hint),
      ],
      () =>
        !open
          ? [button('next', 'Next answer', 'next', 'g-accept', () => this.act.next())]
          : fixing
            ? [
                button('accept', 'Save the fix', 'check', 'g-primary g-accept', () => this.act.sendFix()),
                h('button', { class: 'g-button', on: { click: () => this.act.giveUpFix() } }, 'Discard fix'),
              ]
            : [
                button(
                  'reviewAccept',
                  becomes ? 'Make this the label' : look ? 'Keep' : 'Accept',
                  'check',
                  'g-primary g-accept',
                  () => this.act.accept(),
                  wrong ? { disabled: true } : {},
                ),
                button('reviewReject', 'Reject', 'cross', 'g-danger', () => this.act.reject()),
                button('reviewFix', 'Fix', 'pencil', '', () => this.act.fix()),
              ],
    );
  }

  /** @param {string} reason */
  take(reason) {
    const { value } = this.field;
    this.act.say('reason', value.trim() ? `${value.trim()}. ${reason}` : reason);
    this.field.focus();
  }

  /**
   * @param {'quality' | 'completeness'} part
   * @param {string} text
   * @param {string} yes
   * @param {string} no
   * @param {string} key name of the command
   */
  question(part, text, yes, no, key) {
    /**
     * @param {string} label
     * @param {boolean} means
     */
    const says = (label, means) => {
      /** @type {HTMLButtonElement} */
      const choice = h(
        'button',
        {
          class: 'g-say',
          role: 'radio',
          'aria-checked': 'false',
          dataset: { part, means: String(means) },
          on: { click: () => this.act.say(part, choice.getAttribute('aria-checked') === 'true' ? null : means) },
        },
        label,
      );
      this.choices.push({ part, means, choice });
      return choice;
    };
    const sign = h('kbd', {}, hint(key));
    this.signs.push({ key, sign });
    return h(
      'div',
      {
        class: 'g-verdict',
        role: 'radiogroup',
        'aria-label': text,
        title: `${text}   ${hint(key)}`,
        dataset: { tip: text, command: key },
      },
      h('span', {}, text),
      h('span', { class: 'g-says' }, says(yes, true), says(no, false)),
      sign,
    );
  }
}
