// Asking further pages of a long document, a few at a time, so that progress shows and somebody can stop.

import { post } from '../core/api.js';
import { opened } from './opened.js';

/** @import { AnnotationView } from '../types' */
/** @import { OpenAnswer } from './answer.js' */

const FURTHER = 8; // pages asked at one wish
const AT_ONCE = 4; // pages a request

export class AskMore {
  /** @type {{ stop: boolean, annotation: string, until: number } | null} until: how many pages are asked then */
  running = null;

  /** @param {OpenAnswer} answer */
  constructor(answer) {
    this.answer = answer;
  }

  /** @param {boolean} all until no page is left */
  async ask(all) {
    const { answer } = this,
      { local, place } = answer;
    if (this.running || !local || !place.document) return;
    const number = place.document.pages.length;
    const asked = () => Math.max(1, local.ranked.length);
    const running = { stop: false, annotation: local.id, until: all ? number : Math.min(number, asked() + FURTHER) };
    this.running = running;
    answer.on.changed();
    try {
      while (!running.stop && asked() < running.until) {
        const before = asked(),
          pages = Math.min(AT_ONCE, running.until - before);
        const said = await post('/annotations/{annotation_id}/ask-more', { annotation_id: local.id }, { pages });
        await answer.on.free();
        if (answer.local !== local) return;
        this.longer(said);
        if (asked() === before) return;
      }
    } finally {
      this.running = null;
      answer.on.changed();
    }
  }

  stop() {
    if (this.running) this.running.stop = true;
    this.answer.on.changed();
  }

  /**
   * The list of ranked pages has grown; a better proposal counts only while nobody has touched the answer.
   *
   * @param {AnnotationView} said
   */
  longer(said) {
    const { answer } = this,
      { local, on } = answer;
    if (!local) return;
    const untouched = !local.head && !said.head && !answer.queue.of(local.id).length && !answer.refining;
    local.ranked = said.ranked;
    if (!untouched || !said.proposal) return on.changed();
    const { proposal } = said,
      before = local.proposal?.page_id;
    Object.assign(local, { proposal, prediction_id: proposal.prediction_id, pages: opened(said, []).pages });
    answer.learn(proposal);
    on.mark();
    if (proposal.page_id === before) return;
    on.tell('A further page answers better and is now shown.');
    on.open(proposal.page_id);
  }
}
