// Another name for a document or project: a dialog with one field, and one undo.

import { openDialog } from './dialog.js';
import { h } from './dom.js';
import { statusOf } from './api.js';

/** @import { Action } from '../types' */

/**
 * @typedef {object} Renamed
 * @property {string} title of the dialog
 * @property {string} name the name now
 * @property {(name: string, before: string) => Promise<unknown>} save rejects where it is refused
 * @property {() => Promise<string>} current the name as the server has it now
 * @property {(sentence: string, undo: Action | null) => unknown} tell
 * @property {(error: unknown) => unknown} failed the dialog opens again with its text
 */

/**
 * @param {HTMLElement} root takes the dialog
 * @param {Renamed} renamed
 * @param {string} [draft] text of an earlier try
 */
export function openRenaming(root, renamed, draft = renamed.name) {
  const { title, name: before, save, tell } = renamed;
  /** @type {HTMLInputElement} */
  const field = h('input', {
    type: 'text',
    'aria-label': 'New name',
    dir: 'auto',
    maxlength: 255,
    autocomplete: 'off',
    value: draft,
    on: { keydown: (event) => event.key === 'Enter' && !event.isComposing && (close(), run()) },
  });
  const run = async () => {
    const name = field.value.trim();
    if (name === before) return;
    try {
      await save(name, before);
    } catch (error) {
      renamed.failed(error);
      // Whoever has read that somebody else renamed it saves knowingly.
      const now = statusOf(error) === 409 ? await renamed.current().catch(() => before) : before;
      openRenaming(root, { ...renamed, name: now }, field.value);
      return;
    }
    const undo = async () => {
      try {
        await save(before, name);
        tell(`Named “${before}” again.`, null);
      } catch (error) {
        renamed.failed(error);
      }
    };
    tell(`Named “${name}” now.`, { label: 'Undo', run: undo });
  };
  const close = openDialog(root, { title, body: field, actions: [{ label: 'Rename', primary: true, run }] });
  field.focus();
  const end = draft.lastIndexOf('.');
  field.setSelectionRange(0, end > 0 ? end : draft.length); // the extension mostly stays
  return close;
}
