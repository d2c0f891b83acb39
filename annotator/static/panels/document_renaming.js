// A document gets another name; its line and the open document follow at once.

import { get, patch } from '../core/api.js';
import { openRenaming } from '../core/renaming.js';

/** @import { Action } from '../types' */
/** @import { Library } from '../state/library.js' */
/** @import { Session } from '../state/session.js' */

/**
 * @typedef {object} RenamingPorts
 * @property {HTMLElement} root takes the dialog
 * @property {(sentence: string, action?: Action | null) => unknown} tell
 * @property {(error: unknown) => unknown} error
 */

/**
 * Opens the dialog, for those who may rename documents.
 *
 * @param {{ id: string, name: string }} document
 * @param {{ library: Library, session: Session }} parts
 * @param {RenamingPorts} ports
 */
export function renameDocument({ id, name }, { library, session }, { root, tell, error }) {
  if (!session.reviewer) return;
  const values = { document_id: id };
  openRenaming(root, {
    title: 'Rename document',
    name,
    save: async (wanted, before) => {
      await patch('/documents/{document_id}', values, { name: wanted, before });
      if (library.document?.id === id) library.document.name = wanted;
      library.refreshLines([id]).catch(() => {});
    },
    current: async () => (await get('/documents/{document_id}', values)).name,
    tell,
    failed: error,
  });
}
