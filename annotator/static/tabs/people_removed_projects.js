// Projects of the installation, for its admins: one is removed into the bin, restored from it, or deleted for good.

import { getPage, post } from '../core/api.js';
import { h, redraw } from '../core/dom.js';
import { Pages } from '../core/pages.js';
import { count } from '../core/text.js';
import { MoreButton, Say, button, card, onSubmit, row, time } from './people_parts.js';

/** @import { ProjectView, RemovedProjectLine } from '../types' */

const PAGE = 20;
const MOST = 1000; // that the server sends at once

export class RemovedProjectsCard {
  say = new Say();
  list = h('ul', { class: 'g-rows', 'aria-label': 'Projects in the bin' });
  /** @type {Pages<RemovedProjectLine>} */
  pages = new Pages((values) => getPage('/removed-projects', values), PAGE, MOST);
  more = new MoreButton(this.pages, this.say, () => this.draw());

  /**
   * @param {ProjectView | null} project the chosen one
   * @param {() => unknown} changed called after a change
   */
  constructor(project, changed) {
    this.changed = changed;
    const removal = project && button(`Remove project ${project.name}`, () => this.askRemoving(project), 'g-danger');
    this.root = card(
      'Bin of projects',
      h(
        'p',
        {},
        'A removed project leaves every list. Until the day named here it can be restored with everything in it.',
      ),
      this.list,
      this.more.root,
      this.say.root,
      removal && h('div', { class: 'g-row-acts' }, removal),
    );
  }

  load() {
    return this.say.load(async () => {
      await this.pages.load();
      this.draw();
    });
  }

  draw() {
    redraw(this.list, this.pages.items, () => this.pages.items.map((each) => this.line(each)));
    this.more.draw();
  }

  /** @param {RemovedProjectLine} each */
  line(each) {
    const what = [`${count(each.documents, 'document')}, removed `, each.removed_by && `by ${each.removed_by} `];
    if (each.erasing) return row(each.name, [...what, 'and is being deleted']);
    const values = { removed_id: each.id };
    const restore = () =>
      this.act(() => post('/removed-projects/{removed_id}/restore', values, {}), `${each.name} was restored.`);
    return row(
      each.name,
      [...what, time(each.removed_at), '; will be deleted on ', time(each.deleted_at)],
      button('Restore', restore),
      button('Delete', () => this.askDeleting(each), 'g-danger'),
    );
  }

  /** @param {ProjectView} project */
  askRemoving(project) {
    const sentence = `${project.name} and everything in it go to the bin. Its members do not see it any more.`;
    const remove = () => post('/removed-projects', {}, { id: project.id });
    this.ask(project.name, sentence, 'Remove project', () => this.act(remove, `${project.name} lies in the bin.`));
  }

  /** @param {RemovedProjectLine} each */
  askDeleting(each) {
    const sentence =
      `${each.name} is deleted for good: documents, answers, models, snapshots, exports and files. ` +
      'This cannot be undone.';
    this.ask(each.name, sentence, 'Delete for good', async () => {
      /** @type {string[]} */
      let stays = [];
      const erase = async () => {
        ({ stays } = await post('/removed-projects/{removed_id}/delete', { removed_id: each.id }, undefined));
      };
      if (await this.act(erase)) this.say.show([`${each.name} is being deleted.`, ...stays].join(' '));
    });
  }

  /**
   * Asks for the name of a project before something that goes far.
   *
   * @param {string} name
   * @param {string} sentence
   * @param {string} verb of the button
   * @param {() => unknown} run
   */
  ask(name, sentence, verb, run) {
    this.asked?.remove();
    const field = h('input', { required: true, autocomplete: 'off', dir: 'auto' });
    /** @type {HTMLFormElement} */
    const form = h(
      'form',
      { class: 'g-form' },
      h('p', {}, sentence),
      h('label', {}, 'Type the name to confirm', field),
      h('button', { class: 'g-act g-danger' }, verb),
      button('Cancel', () => form.remove()),
    );
    this.asked = onSubmit(form, async () => {
      if (field.value.trim() !== name) {
        this.say.show(`The name is not ${name}. Nothing was changed.`, true);
        return;
      }
      form.remove();
      await run();
    });
    this.say.root.after(form);
    field.focus();
  }

  /**
   * @param {() => unknown} step
   * @param {string} [done]
   */
  async act(step, done) {
    const went = await this.say.act(step, done);
    await this.load();
    if (went) this.changed();
    return went;
  }
}
