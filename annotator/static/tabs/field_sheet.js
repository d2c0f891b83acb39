// A field for somebody who may only read it: its parts in words, and its guideline as it is shown beside the task.

import { h, redraw } from '../core/dom.js';
import { drawMarkdown } from '../core/markdown.js';
import { differenceRow } from './field_versions.js';
import { differences } from './field_words.js';

/** @import { DraftField } from './field_draft.js' */

export class FieldSheet {
  /** @param {HTMLElement | null} versions stands at the end */
  constructor(versions) {
    this.parts = h('div', {});
    this.root = h('div', { class: 'g-field-form', tabindex: '-1' }, this.parts, versions);
  }

  focus() {
    this.root.focus();
  }

  /** @param {DraftField} field */
  render(field) {
    redraw(this.parts, field, () => [
      h('dl', { class: 'g-differences' }, differences(null, { ...field, guideline: '' }).map(differenceRow)),
      field.guideline.trim() ? drawMarkdown(field.guideline) : null,
    ]);
  }
}
