// What holds a document, or has learned from it: snapshots, exports, runs, model versions, copies. For admins.

import { get } from '../core/api.js';
import { h, replace } from '../core/dom.js';
import { count } from '../core/text.js';
import { button, time } from './people_parts.js';

/** @import { DocumentTraces as Traces } from '../types' */
/** @import { Say } from './people_parts.js' */

const KINDS = { snapshot: 'Snapshot', export: 'Export', run: 'Run', model: 'Model', copy: 'Copy' };
const WEIGHTS =
  'The weights of a model that learned from a document keep what they learned, also after the document is deleted. ' +
  'Retrain without it, promote that model, and delete the weights of the others.';

export class DocumentTraces {
  /** @param {Say} say tells of a failure */
  constructor(say) {
    this.say = say;
    this.root = h('section', {
      class: 'g-card',
      hidden: true,
      tabindex: '-1',
      'aria-label': 'What holds this document',
    });
  }

  close() {
    this.root.hidden = true;
  }

  /**
   * @param {string} project
   * @param {string} id of the document
   */
  show(project, id) {
    return this.say.act(async () => {
      const traces = await get('/projects/{project_id}/traces', { project_id: project, document: id });
      replace(this.root, this.content(traces));
      this.root.hidden = false;
      this.root.scrollIntoView({ block: 'nearest' });
      this.root.focus();
    });
  }

  /** @param {Traces} found */
  content({ name, total, traces }) {
    const more = total - traces.length;
    return [
      h('h2', {}, 'What holds this document'),
      h('p', {}, h('b', { dir: 'auto' }, name)),
      total
        ? h(
            'ul',
            { class: 'g-rows' },
            traces.map(({ kind, sentence, at }) =>
              h(
                'li',
                {},
                h('div', { class: 'g-row-text' }, h('b', {}, KINDS[kind]), h('span', { dir: 'auto' }, sentence)),
                h('span', {}, time(at)),
              ),
            ),
          )
        : h('p', {}, 'Nothing: no snapshot, export, run or model has it.'),
      more > 0 && h('p', {}, `${count(more, 'older trace')}: glossator documents traces lists all.`),
      traces.some(({ learned }) => learned) && h('p', {}, WEIGHTS),
      h('p', {}, 'Backups, and files that somebody has fetched, are not known here.'),
      h(
        'div',
        { class: 'g-row-acts' },
        button('Close', () => this.close()),
      ),
    ];
  }
}
