// Documents come into the workspace: chosen, or dropped anywhere on it.

/** @import { StoredFile } from '../sync/upload_queue.js' */

import { get } from '../core/api.js';
import { h } from '../core/dom.js';
import { icon } from '../core/icons.js';
import { UploadList } from './upload_list.js';
import { UploadQueue } from '../sync/upload_queue.js';

export const KINDS =
  '.pdf,.png,.jpg,.jpeg,.tif,.tiff,.webp,.bmp,.gif,.jp2,.j2k,.jpf,.avif,application/pdf,image/png,image/jpeg,image/tiff,' +
  'image/webp,image/bmp,image/gif,image/jp2,image/avif';

/**
 * @typedef {object} UploadsActs
 * @property {() => string | null | undefined} project the open one
 * @property {(stored: StoredFile) => unknown} [stored] a file has become a document; its row stays until this resolves
 * @property {(stored: StoredFile[]) => unknown} done after the last file
 * @property {(sentence: string) => unknown} failed
 * @property {(sentence: string) => unknown} warn a quota is almost used up
 */

const carriesFiles = (/** @type {DragEvent} */ event) => Boolean(event.dataTransfer?.types.includes('Files'));

export class Uploads {
  /**
   * @param {HTMLElement} root everything that takes drops
   * @param {HTMLElement} list where the progress stands
   * @param {UploadsActs} act
   */
  constructor(root, list, { project, stored, done, failed, warn }) {
    this.root = root;
    this.project = project;
    this.failed = failed;
    this.warn = warn;
    this.queue = new UploadQueue({ stored, ended: (files) => this.ended(files, done) });
    this.list = new UploadList(list, this.queue);
    /** @type {HTMLInputElement} */
    this.input = h('input', {
      type: 'file',
      multiple: true,
      accept: KINDS,
      hidden: true,
      'aria-label': 'Documents to upload',
      on: { change: () => this.chosen() },
    });
    this.veil = h(
      'div',
      { class: 'g-veil', hidden: true },
      h(
        'div',
        {},
        icon('upload', 32),
        h('b', {}, 'Drop to upload'),
        h('span', {}, 'PDF files or pictures; several at once'),
      ),
    );
    root.append(this.input, this.veil);
    this.leaving = new AbortController();
    const { signal } = this.leaving;
    root.addEventListener('dragenter', (event) => carriesFiles(event) && this.cover(true), { signal });
    root.addEventListener('dragover', (event) => carriesFiles(event) && event.preventDefault(), { signal });
    root.addEventListener('dragleave', (event) => this.left(event.relatedTarget), { signal });
    root.addEventListener('drop', (event) => this.dropped(event), { signal });
    // What has not been sent is lost with the page.
    window.addEventListener('beforeunload', (event) => this.queue.busy && event.preventDefault(), { signal });
  }

  get busy() {
    return this.queue.busy;
  }

  /** Files of the open project are on their way. */
  get here() {
    return this.queue.sendsTo(this.project() ?? undefined);
  }

  /** @param {EventTarget | null} to what the pointer is over now */
  left(to) {
    if (!(to instanceof Node && this.root.contains(to))) this.cover(false);
  }

  /** @param {boolean} on */
  cover(on) {
    this.veil.hidden = !on;
  }

  choose() {
    this.input.click();
  }

  chosen() {
    this.add(this.input.files ?? []);
    this.input.value = '';
  }

  /** @param {DragEvent} event */
  dropped(event) {
    if (!carriesFiles(event)) return;
    event.preventDefault();
    this.cover(false);
    this.add(event.dataTransfer?.files ?? []);
  }

  /** @param {Iterable<File>} files */
  add(files) {
    const project = this.project();
    if (project) this.queue.add(project, files);
    else this.failed('No project is open. Choose a project first.');
  }

  /**
   * @param {StoredFile[]} files
   * @param {UploadsActs['done']} done
   */
  ended(files, done) {
    const project = this.project();
    if (project) this.tellQuota(project);
    return done(files);
  }

  /** @param {string} project */
  async tellQuota(project) {
    const spaces = await get('/projects/{project_id}/quota', { project_id: project }).catch(() => null);
    const sentence = spaces && [spaces.project.sentence, spaces.person.sentence].filter(Boolean).join(' ');
    if (sentence) this.warn(sentence);
  }

  destroy() {
    this.leaving.abort();
    this.list.destroy();
  }
}
