// The choice of a project on the tabs Jobs and People.

import { h } from '../core/dom.js';

/** @import { ProjectView } from '../types' */

/**
 * @param {readonly ProjectView[]} projects
 * @param {string} chosen id
 * @param {(id: string) => unknown} choose
 */
export function projectSelect(projects, chosen, choose) {
  /** @type {HTMLSelectElement} */
  const select = h(
    'select',
    { 'aria-label': 'Project', on: { change: () => choose(select.value) } },
    projects.map((each) => h('option', { value: each.id, dir: 'auto' }, each.name)),
  );
  select.value = chosen;
  return h('label', { class: 'g-people-project' }, 'Project', select);
}
