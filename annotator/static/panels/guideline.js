// The guideline of the field that the open question is, below the question. Folded away, it stays so in this browser.

import { get } from '../core/api.js';
import { h, redraw } from '../core/dom.js';
import { drawMarkdown } from '../core/markdown.js';
import { remember, remembered } from '../core/storage.js';

const FOLDED = 'glossator.guideline.folded';

export class Guideline {
  /** @param {() => void} changed draw anew */
  constructor(changed) {
    this.changed = changed;
    /** @type {{ project: string, texts: Map<string, string> } | null} guidelines of a project, by question */
    this.known = null;
    /** @type {string | null} project whose guidelines are on their way, or could not be had */
    this.asked = null;
    this.text = h('div', {});
    this.root = h(
      'details',
      { class: 'g-guideline', hidden: true, open: remembered('local', FOLDED) !== true },
      h('summary', {}, 'Guideline'),
      this.text,
    );
    this.root.addEventListener('toggle', () => remember('local', FOLDED, !this.root.open));
  }

  /**
   * Shows the guideline of a question; nothing where it has none. A project's guidelines are fetched once.
   *
   * @param {string | undefined} project
   * @param {string | undefined} question
   */
  render(project, question) {
    if (project && question && project !== this.known?.project && project !== this.asked) this.load(project);
    const texts = this.known?.project === project ? this.known?.texts : undefined;
    const text = (question && texts?.get(question)) || '';
    this.root.hidden = !text;
    redraw(this.text, text, () => text && drawMarkdown(text));
  }

  /** Somebody may have changed the fields: they are fetched again. What is shown stays until they are there. */
  async refresh() {
    const project = this.known?.project ?? this.asked;
    if (project) await this.load(project);
  }

  /** @param {string} project */
  async load(project) {
    this.asked = project;
    const fields = await get('/projects/{project_id}/fields', { project_id: project }).catch(() => null);
    if (!fields || this.asked !== project) return; // the next change asks again
    this.known = { project, texts: new Map(fields.map(({ id, guideline }) => [id, guideline.trim()])) };
    this.changed();
  }
}
