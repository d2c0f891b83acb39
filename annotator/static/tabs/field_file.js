// Fields by file: import of YAML or a JSON Schema into the list, export of the saved fields as YAML.

import { addressOf, post, sentenceOf } from '../core/api.js';
import { h } from '../core/dom.js';
import { button, set } from './people_parts.js';

/** @import { FieldDefinition } from '../types' */

/**
 * @typedef {object} FieldFilePorts
 * @property {() => string} project
 * @property {(fields: FieldDefinition[], name: string) => string} take shows the fields of a file; returns a sentence
 *   where there is nothing to show
 */

const MOST_BYTES = 500_000; // its JSON fits in a request

/**
 * The text of a file.
 *
 * @param {File} file
 * @throws {Error} a sentence
 */
export async function textOf(file) {
  if (file.size > MOST_BYTES) throw new Error(`${file.name} is larger than 500 KB, so it is no list of fields.`);
  const content = await file.arrayBuffer();
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(content);
  } catch {
    throw new Error(`${file.name} is not in UTF-8. Save it as UTF-8.`);
  }
}

export class FieldFile {
  /** @param {FieldFilePorts} ports */
  constructor(ports) {
    this.ports = ports;
    this.project = '';
    /** @type {HTMLInputElement} */
    this.input = h('input', {
      type: 'file',
      accept: '.yaml,.yml,.json,application/yaml,application/json',
      'aria-label': 'File of fields',
      hidden: true,
      on: { change: () => this.read() },
    });
    this.pick = button('Import fields…', () => this.input.click());
    this.link = h('a', { class: 'g-act', download: true, title: 'The saved fields as YAML' }, 'Export fields');
    this.say = h('p', { class: 'g-say g-field-file-say', role: 'alert', hidden: true });
    this.root = h('div', { class: 'g-field-file' }, h('div', { class: 'g-line' }, this.pick, this.link), this.input);
    this.root.append(this.say);
  }

  /**
   * @param {boolean} edits
   * @param {boolean} saved whether the project has fields
   */
  render(edits, saved) {
    const project = this.ports.project();
    if (project !== this.project) set(this.say, '');
    this.project = project;
    this.pick.hidden = !edits;
    this.link.hidden = !saved;
    this.link.href = addressOf('/projects/{project_id}/fields/file', { project_id: project });
  }

  async read() {
    const file = this.input.files?.[0],
      project = this.ports.project();
    this.input.value = ''; // the same file may be chosen again
    if (!file) return;
    this.tell('');
    try {
      const body = { name: file.name, text: await textOf(file) };
      const fields = await post('/projects/{project_id}/fields/file', { project_id: project }, body);
      if (this.ports.project() === project) this.tell(this.ports.take(fields, file.name));
    } catch (error) {
      this.tell(`Nothing was imported.\n${sentenceOf(error)}`, true);
    }
  }

  /**
   * @param {string} sentence
   * @param {boolean} [wrong]
   */
  tell(sentence, wrong = false) {
    set(this.say, sentence);
    this.say.classList.toggle('g-wrong', wrong);
  }
}
