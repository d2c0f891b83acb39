// Files on their way to the server: one request a file, so that each has its own progress and its own verdict. Knows no
// element: panels/upload_list.js draws it.

/** @import { Taken, Uploaded } from '../types' */

import { ApiError, sentenceOf, statusOf, upload } from '../core/api.js';

const AT_ONCE = 2;
const WAIT = 5; // seconds before a file goes again to a server that has too many at once, unless the server says

/**
 * A file that is being sent. share: 0..1 of it is sent; 'busy': the server has too many files at once, and is asked
 * again; 'stored': it is in the project, and those who asked for it are being told.
 *
 * @typedef {object} Sending
 * @property {number} id
 * @property {string} name
 * @property {string} project
 * @property {'sending' | 'reading' | 'busy' | 'stored'} state
 * @property {number} share
 */

/**
 * What somebody should know of a file that has come to its end. refused: it cannot be read; failed: it was not sent,
 * and may be sent again; warned: it is stored, not all of it could be read; known: the project had it before.
 *
 * @typedef {object} Remark
 * @property {'refused' | 'failed' | 'warned' | 'known'} kind
 * @property {string} name
 * @property {string} sentence
 * @property {Waiting} from
 */

/** @typedef {{ file: File, project: string }} Waiting */
/** @typedef {Taken & { project: string }} StoredFile */

/**
 * @typedef {object} UploadHearers
 * @property {(stored: StoredFile) => unknown} [stored] a file has become a document; its row stays until this resolves
 * @property {(stored: StoredFile[]) => unknown} [ended] no file is left; those that were stored since the queue was
 * empty
 */

export class UploadQueue {
  /**
   * @param {UploadHearers} [hear]
   * @param {(project: string, file: File, progress: (share: number) => void) => Promise<Uploaded>} [send]
   */
  constructor({ stored = () => {}, ended = () => {} } = {}, send = upload) {
    this.hear = { stored, ended };
    this.send = send;
    /** @type {Waiting[]} */
    this.waiting = [];
    /** @type {Sending[]} */
    this.under = [];
    /** @type {Remark[]} */
    this.remarks = [];
    /** @type {StoredFile[]} */
    this.stored = [];
    this.total = 0; // files since the queue was empty
    this.finished = 0; // ... that have come to their end
    this.running = 0;
    this.serial = 0;
    /** @type {Set<() => void>} */
    this.listeners = new Set();
  }

  /**
   * @param {() => void} listener hears of every change
   * @returns {() => void} ends it
   */
  follow(listener) {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  changed() {
    for (const listener of this.listeners) listener();
  }

  get busy() {
    return this.running > 0 || this.waiting.length > 0;
  }

  /**
   * Whether files of a project are on their way.
   *
   * @param {string | undefined} project
   */
  sendsTo(project) {
    return [...this.waiting, ...this.under].some((each) => each.project === project);
  }

  /** Share 0..1 of the files that is done; of one under way, half is its sending and half its reading. */
  get progress() {
    const parts = this.under.map(({ state, share }) => (state === 'stored' ? 0 : share / 2));
    return this.total ? (this.finished + parts.reduce((sum, part) => sum + part, 0)) / this.total : 0;
  }

  /**
   * @param {string} project
   * @param {Iterable<File>} files
   */
  add(project, files) {
    this.line([...files].map((file) => ({ file, project })));
  }

  /** @param {Waiting[]} files */
  line(files) {
    if (!this.busy) {
      this.total = this.finished = 0;
      this.stored = [];
    }
    this.total += files.length;
    this.waiting.push(...files);
    this.pump();
  }

  /** Files that have not been sent yet are given up. */
  cancel() {
    this.total -= this.waiting.length;
    this.waiting = [];
    this.changed();
  }

  /** Sends again what was not sent. */
  again() {
    const failed = this.remarks.filter(({ kind }) => kind === 'failed');
    this.dismiss('failed');
    this.line(failed.map(({ from }) => from));
  }

  /** @param {Remark['kind']} kind */
  dismiss(kind) {
    this.remarks = this.remarks.filter((each) => each.kind !== kind);
    this.changed();
  }

  pump() {
    for (; this.running < AT_ONCE; this.running++) {
      const next = this.waiting.shift();
      if (!next) break;
      this.start(next);
    }
    this.changed();
  }

  /** @param {Waiting} from */
  async start(from) {
    /** @type {Sending} */
    const row = { id: ++this.serial, name: from.file.name, project: from.project, state: 'sending', share: 0 };
    this.under = [...this.under, row];
    let told;
    try {
      told = this.take(from, await this.sendUntilTaken(from, row));
    } catch (error) {
      const again = [0, 401].includes(statusOf(error) ?? 0) || (statusOf(error) ?? 0) >= 500;
      this.remark(again ? 'failed' : 'refused', from, sentenceOf(error));
    }
    if (told) row.state = 'stored';
    this.finished++;
    this.running--;
    this.pump();
    await Promise.resolve(told).catch(() => {});
    this.under = this.under.filter((each) => each !== row);
    this.changed();
    if (this.busy || this.under.length) return;
    this.hear.ended(this.stored);
  }

  /**
   * A server with too many files at once is asked again until it takes this one.
   *
   * @param {Waiting} from
   * @param {Sending} row
   */
  async sendUntilTaken({ project, file }, row) {
    const progress = (/** @type {number} */ share) => {
      Object.assign(row, { share, state: share < 1 ? 'sending' : 'reading' });
      this.changed();
    };
    for (;;) {
      try {
        return await this.send(project, file, progress);
      } catch (error) {
        if (!(error instanceof ApiError) || error.status !== 429) throw error;
        row.state = 'busy';
        this.changed();
        const { wait } = error;
        await new Promise((go) => setTimeout(go, 1000 * (wait || WAIT)));
      }
    }
  }

  /**
   * What the server says of a file. Returns what those who hear of a stored one have to do.
   *
   * @param {Waiting} from
   * @param {Uploaded} answer
   */
  take(from, answer) {
    const [stored] = answer.documents;
    if (!stored) {
      const sentence = answer.refused[0]?.sentence ?? answer.detail;
      this.remark('refused', from, sentence ?? 'The server refused the file. Check its format.');
      return null;
    }
    const [warning] = stored.warnings;
    if (!stored.created) this.remark('known', from, 'Already in the project.');
    else if (warning) this.remark('warned', from, warning);
    const file = { ...stored, project: from.project };
    this.stored.push(file);
    return Promise.resolve(this.hear.stored(file));
  }

  /**
   * @param {Remark['kind']} kind
   * @param {Waiting} from
   * @param {string} sentence
   */
  remark(kind, from, sentence) {
    this.remarks = [...this.remarks, { kind, name: from.file.name, sentence, from }];
  }
}
