// The form of a webhook: its address and the events that are sent to it.

import { h } from '../core/dom.js';
import { onSubmit } from './people_parts.js';

/** @import { WantedWebhook } from '../types' */

/** @typedef {WantedWebhook['events'][number]} EventType */

/** @type {Record<EventType, string>} */
export const EVENTS = {
  'document.ready': 'Document read completely',
  'answer.submitted': 'Answer submitted',
  'answer.accepted': 'Answer accepted',
  'answer.rejected': 'Answer rejected',
  'run.judged': 'Training run judged',
  'model.promoted': 'Model promoted',
  'export.ready': 'Export ready',
};
const TEST = 'webhook.test';
const TYPES = /** @type {EventType[]} */ (Object.keys(EVENTS));

/** @param {string} type */
export const eventName = (type) => (type === TEST ? 'Test' : (EVENTS[/** @type {EventType} */ (type)] ?? type));

/**
 * @param {string} text of the button
 * @param {{ url: string, events: readonly string[] }} given
 * @param {(wanted: WantedWebhook) => Promise<boolean>} send resolves to whether it went
 */
export function webhookForm(text, given, send) {
  const url = h('input', {
    name: 'url',
    type: 'url',
    required: true,
    maxlength: '2000',
    autocomplete: 'off',
    placeholder: 'https://example.org/hooks/glossator',
    value: given.url,
  });
  const boxes = TYPES.map((value) => {
    const box = h('input', { type: 'checkbox', name: 'event', value });
    box.checked = given.events.includes(value);
    return box;
  });
  const missing = () => {
    const none = boxes.every((box) => !box.checked);
    boxes[0]?.setCustomValidity(none ? 'Choose at least one event.' : '');
  };
  missing();
  const form = h(
    'form',
    { class: 'g-form g-upright', on: { change: missing } },
    h('label', {}, 'Address', url),
    h(
      'fieldset',
      { class: 'g-events' },
      h('legend', {}, 'Events'),
      boxes.map((box) => h('label', { class: 'g-event' }, box, eventName(box.value))),
    ),
    h('button', { class: 'g-act g-first' }, text),
  );
  return onSubmit(form, async () => {
    const events = boxes.filter((box) => box.checked).map((box) => /** @type {EventType} */ (box.value));
    if ((await send({ url: url.value.trim(), events })) && !given.url) {
      url.value = '';
      boxes.forEach((box) => (box.checked = false));
      missing();
    }
  });
}
