// The tab Documents: files are chosen or dropped, and each tells how far it is or why it was refused.

import { chosenProject } from '../core/chosen_project.js';
import { h } from '../core/dom.js';
import { Uploads } from '../sync/uploads.js';
import { refreshTab } from './gradio_tabs.js';
import { Say, button } from './people_parts.js';

class DocumentUpload extends HTMLElement {
  connectedCallback() {
    if (this.childElementCount) return; // moved within the tab: it goes on
    const say = new Say();
    const list = h('div', { class: 'g-upload-list', role: 'list', 'aria-label': 'Uploads' });
    const uploads = new Uploads(this, list, {
      project: () => chosenProject(),
      done: () => refreshTab('documents'),
      failed: (/** @type {string} */ sentence) => say.show(sentence, true),
    });
    this.append(
      h(
        'div',
        { class: 'g-upload-choice' },
        button('Upload documents', () => uploads.choose(), 'g-first'),
        h('span', {}, 'PDF, PNG, JPEG or TIFF, several at once. You can also drop them here.'),
      ),
      say.root,
      list,
    );
  }
}

export function watchUploads() {
  customElements.define('glossator-upload', DocumentUpload);
}
