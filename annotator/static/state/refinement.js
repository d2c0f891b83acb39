// The model, asked again: points and boxes refine the mark that stands.

import { post } from '../core/api.js';
import { EMPTY_MARK, isBlank } from './marks.js';
import { Raster, isEmpty } from '../canvas/mask.js';

export class Refining {
  constructor(answers) {
    this.answers = answers;
    this.asked = null; // what the model was asked last, until it has answered: { annotation, page, points }
  }

  // What the model still says comes too late.
  drop() {
    this.asked = null;
  }

  prompt({ prompt, tool }, page) {
    const { answers, asked } = this,
      mark = answers.markOn(page.id);
    const open = asked?.annotation === answers.local.id && asked.page === page.id ? asked : mark; // points of which the model has not heard yet
    const points = prompt.point ? [...open.points, prompt.point] : mark.points;
    const boxes = prompt.box ? [...(prompt.add ? mark.boxes : []), prompt.box] : mark.boxes;
    return this.refine(
      page,
      { ...mark, points, boxes },
      { tool, box: prompt.box ?? mark.boxes.at(-1) ?? null, add: prompt.add },
    );
  }

  askHere() {
    return this.refine(this.answers.place.page, EMPTY_MARK, { tool: 'ask' });
  }

  // wanted: the mark with the prompts so far; they show at once, the answer follows.
  async refine(page, wanted, { tool, box = null, add = false }) {
    const { answers } = this,
      { hear, local } = answers;
    if (hear.locked()) return;
    const before = answers.markOn(page.id);
    const asked = { annotation: local.id, page: page.id, points: wanted.points };
    const turn = ++answers.turn;
    this.asked = asked;
    hear.prompts(wanted);
    hear.changed();
    try {
      // Work by hand goes along as a prompt; what the model drew itself it can draw again.
      const byHand = !box && !isBlank(before) && answers.originOf(page.id, before) === 'person';
      const answer = await post(
        '/annotations/{annotation_id}/refine',
        { annotation_id: local.id },
        {
          page_id: page.id,
          points: wanted.points,
          box,
          mask: byHand ? before.mask : null,
        },
      );
      if (asked !== this.asked) return;
      this.drop();
      if (turn !== answers.turn) return hear.mark(); // another answer is about to be opened
      if (isEmpty(answer.mask)) {
        hear.tell(
          tool === 'ask'
            ? 'The model finds no answer on this page. If there is one, mark it yourself.'
            : 'The model finds nothing there. Mark the words or paint the area.',
        );
        return hear.mark();
      }
      answers.learn(answer);
      const merged = add ? joined(page, before, answer) : answer;
      const mark = { ...wanted, words: merged.words, mask: merged.mask };
      answers.become(page.id, { mark, no_answer: false }, tool, { prediction: answer.prediction_id });
    } catch (error) {
      if (asked !== this.asked) return;
      this.drop();
      hear.mark();
      hear.error(error);
    }
  }
}

// Words and pixels of two marks together.
function joined(page, left, right) {
  const raster = new Raster(page.width, page.height);
  raster.load(left.mask);
  raster.paint(right.mask, 1);
  return { words: [...new Set([...left.words, ...right.words])], mask: raster.patch() };
}
