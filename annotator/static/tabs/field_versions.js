// The versions of a field: who made each, when, and what differed from the one before.

import { get } from '../core/api.js';
import { h, replace } from '../core/dom.js';
import { differences } from './field_words.js';
import { Say, time } from './people_parts.js';

/** @import { FieldAt, FieldDefinition } from '../types' */

/**
 * A fold with the versions of a field, fetched when it is opened.
 *
 * @param {string} project
 * @param {string} field
 */
export function versionsFold(project, field) {
  const say = new Say(),
    list = h('ol', { class: 'g-rows g-field-versions' });
  const load = () =>
    say.load(async () => {
      const versions = await get('/projects/{project_id}/fields/{field_id}/versions', {
        project_id: project,
        field_id: field,
      });
      replace(
        list,
        versions.map((version, at) => versionRow(version, versions[at + 1])),
      );
    });
  /** @type {HTMLDetailsElement} */
  const fold = h(
    'details',
    { on: { toggle: () => fold.open && load() } },
    h('summary', {}, 'Versions'),
    say.root,
    list,
  );
  return fold;
}

/**
 * @param {FieldAt} version
 * @param {FieldAt | undefined} before
 */
function versionRow({ number, person, created_at, definition }, before) {
  /** @param {FieldAt['definition']} content */
  const field = (content) => /** @type {FieldDefinition} */ (/** @type {unknown} */ (content));
  const parts = differences(before ? field(before.definition) : null, field(definition));
  return h(
    'li',
    {},
    h(
      'div',
      { class: 'g-row-text' },
      h('b', {}, `Version ${number}`),
      h('span', {}, person ? `${person}, ` : 'When the project was upgraded, ', time(created_at)),
      h('dl', { class: 'g-differences' }, parts.map(differenceRow)),
    ),
  );
}

/** @param {{ part: string, from: string, to: string }} difference */
export function differenceRow({ part, from, to }) {
  return [
    h('dt', {}, part),
    h(
      'dd',
      { dir: 'auto' },
      from && h('del', {}, from),
      from && to ? ' → ' : null,
      to ? h('ins', {}, to) : from ? h('span', {}, ' taken out') : null,
    ),
  ];
}
