// The tab Training: a button in the list of models deletes the weights of one. Gradio builds the list anew with every
// change: its presses are heard on the document.

import { remove } from '../core/api.js';
import { refreshAfterAct } from '../gradio/tabs.js';
import { askRemoval } from './removal_dialog.js';

export function watchModelRemoval() {
  document.addEventListener('click', ({ target }) => {
    const pressed = target instanceof Element && target.closest('button[data-remove-model]');
    if (!(pressed instanceof HTMLElement)) return;
    const { removeModel = '', project = '', model = '' } = pressed.dataset;
    const sentences = [
      `${model} can then neither answer nor be promoted, judged or trained from. Runs that made it or began with it ` +
        'cannot be reproduced.',
      'Its line in the list, its figures and its runs stay. The weights cannot be brought back.',
    ];
    askRemoval(
      { title: `Delete the weights of ${model}?`, sentences, yes: 'Delete the weights', no: 'Keep them' },
      async () => {
        await remove('/projects/{project_id}/models/{version_id}', { project_id: project, version_id: removeModel });
        refreshAfterAct('training');
      },
    );
  });
}
