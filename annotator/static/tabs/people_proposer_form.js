// The form of another model: its server and name, what it is told, and when it is asked.

import { h } from '../core/dom.js';
import { onSubmit } from './people_parts.js';

/** @import { ProposerState, WantedProposer } from '../types' */

/** @type {[WantedProposer['kind'], string][]} */
const KINDS = [
  ['openai', 'OpenAI’s API: vLLM, llama.cpp, Ollama and others'],
  ['http', 'A service of your own (docs/proposers.md)'],
];

/**
 * @param {ProposerState} state
 * @param {(wanted: WantedProposer) => Promise<boolean>} send resolves to whether it went
 */
export function proposerForm(state, send) {
  const given = state.proposer;
  const field = { autocomplete: 'off', required: true };
  const kind = h(
    'select',
    {},
    KINDS.map(([value, text]) => h('option', { value }, text)),
  );
  kind.value = given?.kind ?? 'openai';
  const first = state.addresses.length === 1 ? `${state.addresses[0]}/v1` : '';
  const url = h('input', { ...field, name: 'url', type: 'url', maxlength: '2000', value: given?.url ?? first });
  const model = h('input', { ...field, name: 'model', maxlength: '100', value: given?.model ?? '' });
  const own = given && given.prompt !== state.prompt ? given.prompt : '';
  const prompt = h('textarea', { name: 'prompt', rows: '4', maxlength: '20000', placeholder: state.prompt }, own);
  const key = h('input', {
    name: 'key',
    type: 'password',
    maxlength: '1000',
    autocomplete: 'new-password',
    placeholder: given?.has_key ? 'Stored; empty keeps it' : 'None',
  });
  const [forget, alone, automatic] = [false, given?.alone ?? false, given?.automatic ?? false].map((checked) => {
    const box = h('input', { type: 'checkbox' });
    box.checked = checked;
    return box;
  });
  /** @param {HTMLInputElement} box @param {string} text */
  const choice = (box, text) => h('label', { class: 'g-event' }, box, text);
  const form = h(
    'form',
    { class: 'g-form g-upright' },
    h('label', {}, 'Server speaks', kind),
    h('label', {}, `Address, at ${state.addresses.join(' or ')}`, url),
    h('label', {}, 'Model, as its server names it', model),
    h('label', {}, 'Prompt; without one, the grey text is used', prompt),
    h('label', {}, 'Key', key),
    given?.has_key ? choice(forget, 'Forget the stored key') : null,
    choice(alone, 'Ask it instead of the own model'),
    choice(automatic, 'Ask it about new documents automatically'),
    h('button', { class: 'g-act g-first' }, 'Save'),
  );
  return onSubmit(form, () =>
    send({
      kind: kind.value === 'http' ? 'http' : 'openai',
      url: url.value.trim(),
      model: model.value.trim(),
      prompt: prompt.value,
      api_key: forget.checked ? '' : key.value.trim() || null,
      alone: alone.checked,
      automatic: automatic.checked,
    }),
  );
}
