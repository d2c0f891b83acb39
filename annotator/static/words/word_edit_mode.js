// Fixing words in the workspace: the tool's wishes, the editor, the queue, and what everybody else hears of changed
// words.

import { byAuthor, get, put } from '../core/api.js';
import { ReadAgain } from './read_again.js';
import { Mender, wordsKey } from './word_edits.js';
import { DoubtLine } from './doubt_line.js';
import { openWordConflict } from './word_conflict.js';
import { WordEditor } from './word_editor.js';

/** @import { Action, EditedWords, Words, WordsItem, WordWish } from '../types' */
/** @import { Stage } from '../canvas/stage.js' */
/** @import { Library } from '../state/library.js' */
/** @import { Pages } from '../state/pages.js' */
/** @import { SaveQueue } from '../sync/save_queue.js' */

/**
 * @typedef {object} WordModePorts
 * @property {() => void} changed
 * @property {() => void} paint the mark is to be drawn again
 * @property {(sentence: string, action?: Action) => void} tell
 * @property {() => Promise<unknown>} turned the open page was turned
 * @property {(sentence: string) => void} say to screen readers
 * @property {(page: string, map: (number: number) => number | null) => void} renumber words of a page have other
 * numbers
 * @property {(id: string, page: null) => Promise<boolean>} openDocument
 * @property {(id: string) => Promise<void>} openPage
 */

export class WordEditMode {
  /**
   * @param {object} parts
   * @param {HTMLElement} parts.root
   * @param {HTMLElement} parts.room where the editor stands
   * @param {Stage} parts.stage
   * @param {Library} parts.library
   * @param {Pages} parts.pages
   * @param {SaveQueue} parts.queue
   * @param {WordModePorts} parts.ports
   */
  constructor({ root, room, stage, library, pages, queue, ports }) {
    this.root = root;
    this.stage = stage;
    this.library = library;
    this.pages = pages;
    this.queue = queue;
    this.ports = ports;
    const { tell, say, renumber } = ports;
    const on = { changed: (/** @type {string} */ page) => this.changed(page), renumber, tell };
    this.edits = new Mender({ pages, queue, place: library, hear: on });
    const next = () => this.nextDoubtful();
    this.editor = new WordEditor(room, stage, this.edits, { say, tell, next });
    this.doubts = new DoubtLine(room, next);
    this.readAgain = new ReadAgain(library, pages, {
      ...{ changed: ports.changed, tell, turned: ports.turned },
      words: (page) => this.changed(page),
    });
  }

  /** The name under which changes of the open page's words wait in the queue. */
  get key() {
    return wordsKey(this.library.page?.id ?? '');
  }

  get can() {
    return this.edits.can();
  }

  /**
   * What the tool asks for.
   *
   * @param {WordWish} wish
   */
  wish({ open, choose, add }) {
    if (!this.editor.save()) return;
    if (choose) this.editor.choose(choose);
    else this.editor.write(add ? { box: add } : { number: open });
    this.ports.changed();
  }

  /** Enter, while words are fixed, opens the word under the cursor; nothing is accepted by mistake. */
  here() {
    const { stage } = this,
      { grid } = stage;
    if (stage.tool !== 'mend' || !stage.page || !grid) return false;
    const word = stage.cursor?.word;
    const number = (word === undefined ? undefined : grid.numbers[word]) ?? [...stage.chosen][0];
    if (number !== undefined) this.editor.write({ number });
    return true;
  }

  /** Keeps what is written, and opens the next word of low confidence; the first one behind the last. */
  nextDoubtful() {
    const { editor, stage } = this;
    if (stage.tool !== 'mend' || !editor.save()) return;
    const { grid } = stage,
      number = editor.meant.at(-1);
    const next = grid.nextDoubtful(number === undefined ? -1 : (grid.position.get(number) ?? -1));
    if (next >= 0) editor.write({ number: grid.numbers[next] });
    this.ports.changed();
  }

  /** Before another page or tool: what is written is kept. False where it cannot be kept as it is. */
  leave() {
    if (!this.editor.save()) return false;
    this.editor.choose([]);
    return true;
  }

  /** @param {boolean} back */
  step(back) {
    this.editor.choose([]);
    this.edits.step(back);
  }

  /**
   * The words of a page are others now.
   *
   * @param {string} page
   */
  changed(page) {
    const { library, stage, pages } = this,
      words = pages.read.get(page);
    if (page === library.page?.id && library.words && words) {
      library.words = words;
      stage.setWordList(words);
      this.ports.paint();
      this.editor.render();
    }
    this.ports.changed();
  }

  /** @param {WordsItem} item */
  async send({ page, user, key, base, edits }) {
    const body = { idempotency_key: key, base: base ?? 0, edits };
    const answer = await put('/pages/{page_id}/words', { page_id: page }, body, byAuthor(user));
    return { ...answer, revision: answer.saved_version };
  }

  /**
   * @param {WordsItem} item
   * @param {EditedWords & { revision: number }} answer
   */
  saved(item, answer) {
    this.edits.saved(item, answer);
    this.ports.changed();
  }

  /**
   * Somebody else was faster with the words of a page, or the server refuses a change: a person decides.
   *
   * @param {string} key
   */
  async compare(key) {
    const { queue, library, root } = this,
      items = queue.of(key).filter((item) => item.kind === 'words');
    const [first] = items,
      halt = queue.halted.get(key);
    if (!first || !halt) return;
    const { page, document } = first;
    if (page !== library.page?.id) {
      if (document !== library.document?.id && !(await this.ports.openDocument(document, null))) return;
      await this.ports.openPage(page);
    }
    const saved = /** @type {Words} */ (halt.current ?? (await get('/pages/{page_id}/words', { page_id: page })));
    if (root.querySelector('.g-dialog') || !queue.halted.has(key) || !library.words) return;
    openWordConflict(root, {
      sentence: halt.sentence,
      kind: halt.kind,
      words: library.words,
      edits: items.flatMap((each) => each.edits),
      keepMine: () => {
        const lost = this.edits.keepMine(page, saved);
        const changes = lost === 1 ? 'One change' : `${lost} changes`;
        if (lost) this.ports.tell(`${changes} could not be applied: the words no longer exist.`);
      },
      takeTheirs: () => this.edits.takeTheirs(page, saved),
    });
  }
}
