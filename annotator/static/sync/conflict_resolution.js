// Edits that the server did not take wait for a person: both versions are shown, and one of them stays.

import { get } from '../core/api.js';
import { opened } from '../state/opened.js';
import { openConflict, openGone } from './conflict.js';

/** @import { AnnotationView, VerdictWords } from '../types' */
/** @import { OpenAnswer } from '../state/answer.js' */
/** @import { Library } from '../state/library.js' */
/** @import { Pages } from '../state/pages.js' */
/** @import { Session } from '../state/session.js' */
/** @import { SaveQueue } from './save_queue.js' */

/**
 * @typedef {object} ResolutionPorts
 * @property {(step: () => unknown) => void} act runs what may fail, and says so
 * @property {() => void} changed
 * @property {() => string} wordsKey under which changes of the open page's words wait
 * @property {(id: string) => Promise<void>} compareWords
 * @property {(id: string) => Promise<void>} backTo opens the answer that waits
 * @property {() => string} text of the open answer
 * @property {(saved: AnnotationView, verdict: VerdictWords) => unknown} judgeOnTop
 * @property {(id: string) => void} dropDraft a reviewer's fix is not wanted any more
 */

export class ConflictResolution {
  /**
   * @param {object} parts
   * @param {HTMLElement} parts.root
   * @param {Library} parts.library
   * @param {Session} parts.session
   * @param {Pages} parts.pages
   * @param {OpenAnswer} parts.answer
   * @param {SaveQueue} parts.queue
   * @param {ResolutionPorts} parts.ports
   */
  constructor({ root, library, session, pages, answer, queue, ports }) {
    this.root = root;
    this.library = library;
    this.session = session;
    this.pages = pages;
    this.answer = answer;
    this.queue = queue;
    this.ports = ports;
  }

  /** @param {string} annotation */
  halted(annotation) {
    this.ports.changed();
    const open = this.answer.local?.id === annotation || annotation === this.ports.wordsKey();
    if (open) this.ports.act(() => this.compare());
  }

  get asking() {
    return this.root.querySelector('.g-dialog') !== null;
  }

  /** Shows what waits for a decision: that of the open answer first. */
  async compare() {
    const { library, answer, queue } = this;
    const here = answer.local?.id ?? '';
    const id = queue.halted.has(here) ? here : queue.halted.keys().next().value;
    const halt = id && queue.halted.get(id);
    if (!id || !halt || this.asking) return;
    if (halt.kind === 'gone') return this.explainGone(id, halt.sentence);
    const items = queue.of(id).filter((item) => item.kind !== 'words'),
      last = items.at(-1);
    if (!last) return this.ports.compareWords(id);
    if (here !== id) return this.ports.backTo(id); // and that comes back here
    const saved = /** @type {AnnotationView} */ (
      halt.current ?? (await get('/annotations/{annotation_id}', { annotation_id: id }))
    );
    const touched = items.flatMap((item) => Object.keys(item.pages)).at(-1) ?? library.page?.id;
    const page = library.document?.pages.find((each) => each.id === touched) ?? library.page;
    if (!page) return;
    const [words, image] = await Promise.all([this.pages.wordsOf(page.id), this.pages.imageOf(page)]);
    const { local } = answer;
    if (local?.id !== id || !queue.halted.has(id) || this.asking) return;
    const verdict = last.kind === 'verdict' ? last.verdict : null,
      editor = saved.editor ?? saved.author;
    openConflict(this.root, {
      sentence: halt.sentence,
      kind: halt.kind,
      page,
      image,
      words,
      of: !verdict ? 'revision' : verdict.verdict === 'fixed' ? 'fixed' : 'verdict',
      mine: { no_answer: local.no_answer, pages: local.pages, text: this.ports.text() },
      theirs: { ...opened(saved, []), who: editor.name, self: editor.id === this.session.user.id },
      keepMine: () => this.ports.act(() => this.keepMine(saved, verdict)),
      takeTheirs: () =>
        this.ports.act(() => {
          if (verdict) this.ports.dropDraft(id);
          return answer.takeTheirs(id);
        }),
    });
  }

  /**
   * @param {AnnotationView} saved
   * @param {VerdictWords | null} verdict
   */
  keepMine(saved, verdict) {
    // Another answer has opened under the dialog.
    if (this.answer.local?.id !== saved.id) return this.ports.backTo(saved.id);
    return verdict ? this.ports.judgeOnTop(saved, verdict) : this.answer.keepMine(saved);
  }

  /**
   * @param {string} id
   * @param {string} sentence
   */
  explainGone(id, sentence) {
    const { queue } = this,
      items = queue.of(id);
    openGone(this.root, {
      sentence,
      what: items[0]?.kind === 'words' ? 'page' : 'answer',
      question: items.find((item) => item.question)?.question,
      number: items.length,
      again: () => queue.resume(id),
      giveUp: () =>
        this.ports.act(() => {
          this.ports.dropDraft(id);
          return this.answer.giveUp(id);
        }),
    });
  }
}
