// The tab Documents: files are chosen or dropped, and each tells how far it is or why it was refused.

import { chosenProject } from '../core/chosen_project.js';
import { h, replace } from '../core/dom.js';
import { refreshAfterAct } from '../gradio/tabs.js';
import { Uploads } from '../panels/uploads.js';
import { Say, button } from './people_parts.js';

const KINDS = 'PDF, PNG, JPEG, TIFF, WebP, BMP, GIF, JPEG 2000 or AVIF, several at once. You can also drop them here.';

class DocumentUpload extends HTMLElement {
  /** @type {Uploads | null} */
  uploads = null;

  connectedCallback() {
    const say = new Say();
    const list = h('div', {});
    replace(this);
    const uploads = new Uploads(this, list, {
      project: () => chosenProject() ?? undefined,
      stored: () => refreshAfterAct('documents'),
      done: () => refreshAfterAct('documents'),
      failed: (sentence) => say.show(sentence, true),
      warn: (sentence) => say.show(sentence, true),
    });
    this.uploads = uploads;
    const choose = button('Upload documents', () => uploads.choose(), 'g-first');
    this.append(h('div', { class: 'g-upload-choice' }, choose, h('span', {}, KINDS)), say.root, list);
  }

  disconnectedCallback() {
    this.uploads?.destroy();
  }
}

export function watchUploads() {
  customElements.define('glossator-upload', DocumentUpload);
}
