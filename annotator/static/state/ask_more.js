// Asking further pages of a long document, a few at a time, so that progress shows and somebody can stop.

import { post } from '../core/api.js';
import { opened } from './marks.js';

const FURTHER = 8; // pages asked at one wish
const AT_ONCE = 4; // pages a request

export class Further {
  constructor(answers) {
    this.answers = answers;
    this.running = null; // { stop, annotation, until }
  }

  // all: until no page is left.
  async ask(all) {
    const { answers } = this,
      { local, place } = answers,
      number = place.document.pages.length;
    if (this.running) return;
    const asked = () => Math.max(1, local.ranked.length);
    const running = { stop: false, annotation: local.id, until: all ? number : Math.min(number, asked() + FURTHER) };
    this.running = running;
    answers.hear.changed();
    try {
      while (!running.stop && asked() < running.until) {
        const before = asked();
        const answer = await post(
          '/annotations/{annotation_id}/ask-more',
          { annotation_id: local.id },
          {
            pages: Math.min(AT_ONCE, running.until - before),
          },
        );
        await answers.hear.free();
        if (answers.local !== local) return;
        this.longer(answer);
        if (asked() === before) return;
      }
    } finally {
      this.running = null;
      answers.hear.changed();
    }
  }

  stop() {
    if (this.running) this.running.stop = true;
    this.answers.hear.changed();
  }

  // The list of ranked pages has grown; a better proposal counts only while nobody has touched the answer.
  longer(answer) {
    const { answers } = this,
      { local, hear } = answers;
    const untouched = !local.head && !answer.head && !answers.queue.of(local.id).length && !answers.refining;
    local.ranked = answer.ranked;
    if (!untouched || !answer.proposal) return hear.changed();
    const before = local.proposal?.page_id;
    Object.assign(local, {
      proposal: answer.proposal,
      prediction_id: answer.proposal.prediction_id,
      pages: opened(answer, []).pages,
    });
    answers.learn(answer.proposal);
    hear.mark();
    if (answer.proposal.page_id === before) return;
    hear.tell('A further page answers better and is now shown.');
    hear.open(answer.proposal.page_id);
  }
}
