// The reviewer's part of the answer card: two separate verdicts, a reason, and what to do with the answer.

import { h, redraw } from '../core/dom.js';
import { icon } from '../core/icons.js';
import { hint } from '../core/keyboard.js';

export class ReviewPanel {
  // act: { say(part, value), accept(), reject(), fix(), sendFix(), giveUpFix(), takeModel(), next() }
  constructor(root, act) {
    this.root = root;
    this.act = act;
    this.field = h('textarea', {
      rows: '2',
      maxlength: '2000',
      placeholder: 'Reason, shown to the author',
      'aria-label': 'Reason',
      spellcheck: 'true',
      on: { input: () => act.say('reason', this.field.value), keydown: (event) => this.key(event) },
    });
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
    root.append(this.again, this.verdicts, this.reason, this.actions);
  }

  // Enter rejects with the reason that stands there; Shift and Enter makes a new line.
  key(event) {
    if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    event.stopPropagation();
    if (this.fixing) this.act.sendFix();
    else this.act.reject();
  }

  wantReason() {
    this.wanting.hidden = false;
    this.field.focus();
  }

  // view: { active, open (a verdict can be given), said, fixing, reasons, busy, look (why an accepted label is looked at again) }
  render({ active, open, said, fixing, reasons, busy, look }) {
    this.root.hidden = !active;
    if (!active) return;
    this.fixing = fixing;
    this.verdicts.hidden = this.reason.hidden = !open;
    this.again.hidden = !open || !look;
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
          h(
            'button',
            { class: 'g-link', disabled: busy, on: { click: () => this.act.takeModel() } },
            look.kind === 'not_here' ? `Fix as not answered, like ${look.model}` : `Fix with the mark of ${look.model}`,
          ),
        ],
    );
    if (this.field.value !== said.reason) this.field.value = said.reason;
    if (said.reason.trim()) this.wanting.hidden = true;
    if (document.activeElement !== this.field && !said.reason) this.wanting.hidden = true;
    for (const choice of this.verdicts.querySelectorAll('.g-say'))
      choice.setAttribute('aria-checked', String(String(said[choice.dataset.part]) === choice.dataset.means));
    redraw(this.offered, reasons, () =>
      reasons.map((each) => h('button', { class: 'g-chip', title: each, on: { click: () => this.take(each) } }, each)),
    );
    const wrong = said.quality === false || said.completeness === false;
    const button = (name, label, sign, kind, act, more = {}) =>
      h(
        'button',
        { class: `g-button ${kind}`, title: `${label}   ${hint(name)}`, disabled: busy, on: { click: act }, ...more },
        icon(sign, 16),
        label,
        h('kbd', {}, hint(name)),
      );
    for (const sign of this.verdicts.querySelectorAll('kbd')) sign.textContent = hint(sign.dataset.of);
    redraw(
      this.actions,
      [
        open,
        fixing,
        busy,
        wrong,
        Boolean(look),
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
                  look ? 'Keep' : 'Accept',
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

  take(reason) {
    const { value } = this.field;
    this.act.say('reason', value.trim() ? `${value.trim()}. ${reason}` : reason);
    this.field.focus();
  }

  question(part, text, yes, no, key) {
    const choice = (label, means) =>
      h(
        'button',
        {
          class: 'g-say',
          role: 'radio',
          'aria-checked': 'false',
          dataset: { part, means: String(means) },
          on: {
            click: (event) =>
              this.act.say(part, event.currentTarget.getAttribute('aria-checked') === 'true' ? null : means),
          },
        },
        label,
      );
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
      h('span', { class: 'g-says' }, choice(yes, true), choice(no, false)),
      h('kbd', { dataset: { of: key } }, hint(key)),
    );
  }
}
