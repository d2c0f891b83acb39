// The model, asked again: points and boxes refine the mark that stands.

import { post } from '../core/api.js';
import { Raster, isEmpty } from '../canvas/mask.js';
import { EMPTY_MARK, isBlank } from './marks.js';

/** @import { Box, Mark, PageLine, Point, Proposal, Stroke } from '../types' */
/** @import { OpenAnswer } from './answer.js' */

export class Refinement {
  /**
   * What the model was asked last, until it answers.
   *
   * @type {{ annotation: string, page: string, points: Point[] } | null}
   */
  asked = null;

  /** @param {OpenAnswer} answer */
  constructor(answer) {
    this.answer = answer;
  }

  /** What the model still says comes too late. */
  drop() {
    this.asked = null;
  }

  /**
   * @param {Extract<Stroke, { prompt: object }>} stroke
   * @param {PageLine} page
   */
  prompt({ prompt, tool }, page) {
    const { answer, asked } = this,
      mark = answer.markOn(page.id);
    // Points of which the model has not heard yet count, too.
    const open = asked && asked.annotation === answer.local?.id && asked.page === page.id ? asked : mark;
    const points = prompt.point ? [...open.points, prompt.point] : mark.points;
    const boxes = prompt.box ? [...(prompt.add ? mark.boxes : []), prompt.box] : mark.boxes;
    const box = prompt.box ?? mark.boxes.at(-1) ?? null;
    return this.refine(page, { ...mark, points, boxes }, { tool, box, add: prompt.add });
  }

  /** Asks for the answer on the open page. */
  askHere() {
    const { page } = this.answer.place;
    if (page) this.refine(page, EMPTY_MARK, { tool: 'ask' });
  }

  /**
   * @param {PageLine} page
   * @param {Mark} wanted the mark with the prompts so far; they show at once, the answer follows
   * @param {{ tool: string, box?: Box | null, add?: boolean }} how
   */
  async refine(page, wanted, { tool, box = null, add = false }) {
    const { answer } = this,
      { on, local } = answer;
    if (!local || on.locked()) return;
    const before = answer.markOn(page.id);
    const asked = { annotation: local.id, page: page.id, points: wanted.points };
    const turn = ++answer.turn;
    this.asked = asked;
    on.prompts(wanted);
    on.changed();
    try {
      // Work by hand goes along as a prompt; what the model drew itself it can draw again.
      const byHand = !box && !isBlank(before) && answer.originOf(page.id, before) === 'person';
      const said = await post(
        '/annotations/{annotation_id}/refine',
        { annotation_id: local.id },
        { page_id: page.id, points: wanted.points, box, mask: byHand ? before.mask : null },
      );
      if (asked !== this.asked) return;
      this.drop();
      if (turn !== answer.turn) return on.mark(); // another answer is about to be opened
      if (isEmpty(said.mask)) {
        on.tell(
          tool === 'ask'
            ? 'The model finds no answer on this page. If there is one, mark it yourself.'
            : 'The model finds nothing there. Mark the words or paint the area.',
        );
        return on.mark();
      }
      answer.learn(said);
      const { words, mask } = add ? joined(page, before, said) : said;
      // “Not here” says nothing of other pages.
      const gone = add || tool === 'minus' ? [] : answer.proposedBeside(page.id);
      answer.become(page.id, { mark: { ...wanted, words, mask }, no_answer: false }, tool, {
        prediction: said.prediction_id,
        others: Object.fromEntries(gone.map((other) => [other, EMPTY_MARK])),
      });
      answer.tellReplaced(gone);
    } catch (error) {
      if (asked !== this.asked) return;
      this.drop();
      on.mark();
      on.error(error);
    }
  }
}

/**
 * Words and pixels of two marks together.
 *
 * @param {PageLine} page
 * @param {Mark} left
 * @param {Proposal} right
 */
function joined(page, left, right) {
  const raster = new Raster(page.width, page.height);
  raster.load(left.mask);
  raster.paint(right.mask, 1);
  return { words: [...new Set([...left.words, ...right.words])], mask: raster.patch() };
}
