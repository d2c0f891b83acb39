// The open answer: asked, corrected, saved, accepted. It is owned here, and everything that changes it passes through
// `change`.

import { get, post } from '../core/api.js';
import { signs } from '../core/keymap.js';
import { same } from '../core/values.js';
import { isEmpty } from '../canvas/mask.js';
import { HeldAnswer } from './held_answer.js';
import { Histories } from './history.js';
import { DECIDED, EMPTY_MARK, editsBetween, isBlank, statusAfter } from './marks.js';
import { editsTo, opened } from './opened.js';
import {
  EMPTY_PART,
  at,
  correctionEdits,
  isBlankPart,
  partEdits,
  renumbered,
  sameParts,
  wholeEdits,
  wordsDiffer,
} from './parts.js';
import { Refinement } from './refinement.js';
import { placeOf, settle } from './table.js';
import { wordsGone } from './table_proposal.js';

/** @import { AnnotationView, AnswerPart, Cell, Correction, Edit, Mark, Moment, PageLine, QueuedItem, RevisionRequest, Saved, Stroke } from '../types' */
/** @import { Effort } from '../sync/effort.js' */
/** @import { SaveQueue } from '../sync/save_queue.js' */
/** @import { Place } from './held_answer.js' */

/**
 * Who hears of the answer.
 *
 * @typedef {object} AnswerEvents
 * @property {() => void} changed something around the mark is different
 * @property {() => void} mark the mark is different
 * @property {(mark: Mark) => void} prompts points and boxes that the model was just asked with
 * @property {(page: string | undefined) => unknown} open a page is to be shown
 * @property {(sentence: string) => void} tell
 * @property {(error: unknown) => void} error
 * @property {() => Promise<void>} free resolves when nobody has a stroke or a word in hand
 * @property {() => boolean} locked says why the answer cannot be changed, where it cannot
 * @property {(decision: Decision) => void} takeBack a decision on an answer that is not open is to be taken back
 */

/**
 * An answer that was accepted, submitted, or removed with its question.
 *
 * @typedef {{ annotation: string, document: string, question: string, removed?: boolean }} Decision
 */

/**
 * What stands on a page, and whether the document answers at all.
 *
 * @typedef {{ mark: Mark, no_answer: boolean, correction?: Correction | null }} Standing
 */

/**
 * No mark on any of some pages.
 *
 * @param {string[]} pages
 */
const blank = (pages) => Object.fromEntries(pages.map((page) => [page, EMPTY_MARK]));

export class OpenAnswer extends HeldAnswer {
  asking = false;
  /** @type {(() => void) | null} what takes edits instead of the queue: a reviewer's fix waits for the verdict */
  divert = null;
  fetching = 0; // answers that are on their way here, to be opened
  /** @type {Decision | null} the last decision of this window, until something else is changed */
  decision = null;
  /** @type {string | null} the answer whose decision was taken back, until something else is changed */
  reopened = null;
  turn = 0; // counts what was opened or asked of the model: an answer to an older turn comes too late

  /**
   * @param {object} parts
   * @param {SaveQueue} parts.queue
   * @param {Effort} parts.effort
   * @param {Place} parts.place
   * @param {AnswerEvents} parts.on
   */
  constructor({ queue, effort, place, on }) {
    super(place);
    this.queue = queue;
    this.effort = effort;
    this.on = on;
    this.histories = new Histories();
    this.refinement = new Refinement(this);
  }

  close() {
    this.turn++;
    this.local = this.divert = null;
    this.refinement.drop();
  }

  /** The model has been asked again, and has not answered yet. */
  get refining() {
    return this.refinement.asked !== null;
  }

  // --- opening and asking

  /** @param {AnnotationView} annotation */
  take(annotation) {
    this.turn++;
    this.refinement.drop();
    this.divert = null;
    this.queue.adopt(annotation.id);
    const pending = this.queue.of(annotation.id).filter((item) => item.kind !== 'words');
    this.local = opened(annotation, pending);
    if (this.cell) this.holdCell(this.cell);
    this.judged = annotation.head > 0 || pending.length > 0 || this.local.status !== 'draft';
    this.touched = new Set();
    if (annotation.proposal) this.learn(annotation.proposal);
    this.local.prediction_id = annotation.proposal?.prediction_id ?? null;
    this.effort.reset();
  }

  /** @param {string} id */
  peek(id) {
    return get('/annotations/{annotation_id}', { annotation_id: id });
  }

  /**
   * @param {string} id
   * @param {string | null} [page]
   * @param {object} [how]
   * @param {boolean} [how.patient] it is opened anew without anybody's wish, and waits for the hand on the page
   */
  async open(id, page = null, { patient = false } = {}) {
    const turn = patient ? this.turn : ++this.turn;
    this.fetching++;
    try {
      const annotation = await this.current(await this.peek(id));
      if (patient) await this.on.free();
      // Somebody has opened another answer, or another document, meanwhile.
      if (turn !== this.turn || annotation.document_id !== this.place.document?.id) return;
      this.take(annotation);
    } finally {
      this.fetching--;
    }
    await this.on.open(page ?? this.bestPage());
  }

  /**
   * A read that a save has overtaken shows what stood before it, and is done once more.
   *
   * @param {AnnotationView} annotation
   */
  async current(annotation) {
    for (let tries = 0; tries < 3 && annotation.head < this.queue.newestOf(annotation.id); tries++) {
      Object.assign(annotation, await this.peek(annotation.id));
    }
    return annotation;
  }

  /**
   * Returns the annotation, which is not opened where somebody has gone on meanwhile; null where nothing was asked.
   *
   * @param {string} question
   * @param {boolean} whole of the whole document, not of the open page alone
   */
  async ask(question, whole) {
    const { document, page } = this.place;
    if (this.asking || !document) return null;
    const turn = ++this.turn;
    this.asking = true;
    this.on.changed();
    try {
      const only = whole && document.pages.length > 1 ? null : page?.id;
      const asked = post('/documents/{document_id}/ask', { document_id: document.id }, { question, page_id: only });
      const annotation = await this.current(await asked);
      if (turn !== this.turn || document.id !== this.place.document?.id) return annotation;
      this.take(annotation);
      if (annotation.existing) this.on.tell('You asked this before. This is your earlier answer.');
      await this.on.open(this.bestPage());
      return annotation;
    } finally {
      this.asking = false;
      this.on.changed();
    }
  }

  // --- changing

  /**
   * @param {string} page
   * @param {Standing} after what stands on the page from now on
   * @param {Edit[]} edits how the server gets there
   * @param {object} how
   * @param {string} how.tool what is counted
   * @param {string | null} [how.prediction] the prediction that the change comes from
   * @param {boolean} [how.remember] whether it can be undone
   * @param {Record<string, Mark>} [how.others] what stands on other pages from now on
   */
  change(page, after, edits, { tool, prediction = null, remember = true, others = {} }) {
    const { local } = this,
      beside = Object.keys(others);
    edits = [...edits, ...beside.flatMap((other) => editsBetween(other, this.markOn(other), others[other]))];
    const said = this.correction;
    const drops = [[this.markOn(page), after.mark], ...beside.map((other) => [this.markOn(other), others[other]])].some(
      ([left, right]) => wordsDiffer(left, right),
    );
    const says = after.correction === undefined ? (drops ? null : said) : after.correction;
    edits.push(...correctionEdits(drops ? null : said, says));
    if (!local || !edits.length || this.on.locked()) return;
    const { cell } = this;
    if (cell) {
      const part = { pages: { ...local.pages, ...others, [page]: after.mark }, correction: says, cell };
      // A cell that comes, or goes as it is empty, is a step of the whole table.
      if (isBlankPart(local.parts[local.place]) ? !isBlankPart(part) : isBlankPart(part)) {
        const rest = local.parts.filter((_, place) => place !== local.place);
        return this.becomeTable([...rest, part], cell, tool, { remember, prediction });
      }
    }
    const before = { mark: this.markOn(page), no_answer: local.no_answer };
    // Whether the document answers is not the page's alone: a step back leaves it, where this step did.
    const stays = before.no_answer === after.no_answer;
    if (remember) {
      /** @type {[Moment, Moment]} */
      let [from, to] = stays ? [{ mark: before.mark }, { mark: after.mark }] : [before, { ...after }];
      const stood = Object.fromEntries(beside.map((other) => [other, this.markOn(other)]));
      if (beside.length)
        [from, to] = [
          { ...from, others: stood },
          { ...to, others },
        ];
      if (said !== says)
        [from, to] = [
          { ...from, correction: said },
          { ...to, correction: says },
        ];
      const { place } = local;
      if (place)
        [from, to] = [
          { ...from, place },
          { ...to, place },
        ];
      this.histories.push(local.id, page, from, to);
    }
    this.turn++;
    this.decision = this.reopened = null;
    this.refinement.drop();
    this.effort.count(tool);
    if (tool !== 'ask') this.touched.add(page);
    if (tool === 'undo' && !this.histories.can(local.id, page).undo) this.touched.delete(page);
    const part = local.parts[local.place];
    this.setPart({ ...part, pages: { ...local.pages, ...others, [page]: after.mark }, correction: says });
    local.no_answer = after.no_answer;
    const of = edits.map((edit) => at(edit, local.place));
    this.enqueue('edit', of, [page, ...beside], prediction);
    this.on.mark();
  }

  /**
   * The answer has other values from now on.
   *
   * @param {AnswerPart[]} parts
   * @param {number} place the one in hand
   * @param {string} tool what is counted
   * @param {object} [how]
   * @param {boolean} [how.remember] whether it can be undone
   * @param {string | null} [how.prediction] the prediction that the change comes from
   */
  becomeParts(parts, place, tool, { remember = true, prediction = null } = {}) {
    const { local } = this,
      page = this.place.page?.id;
    if (!local || !page || this.on.locked()) return;
    const stored = this.storedParts;
    const edits = partEdits(stored.length ? stored : [EMPTY_PART], parts.length ? parts : [EMPTY_PART]);
    if (local.no_answer) edits.push({ op: 'no_answer', value: false });
    const stood = { mark: this.markOn(page), parts: stored, place: Math.min(local.place, stored.length - 1) };
    if (!edits.length) return;
    this.turn++;
    this.decision = this.reopened = null;
    this.refinement.drop();
    this.effort.count(tool);
    for (const marked of Object.keys(local.pages)) this.touched.add(marked);
    this.setParts(parts, place);
    local.no_answer = false;
    if (remember) {
      this.histories.push(local.id, page, stood, { mark: this.markOn(page), parts: local.parts, place: local.place });
    }
    // The first revision builds on the proposal that was open; a later one may come from another.
    const first = local.head === 0 && !this.queue.of(local.id).length;
    this.enqueue('edit', edits, Object.keys(local.pages), first ? null : prediction);
    this.on.mark();
  }

  /**
   * The table has other cells from now on.
   *
   * @param {AnswerPart[]} parts
   * @param {Cell} hand the cell in hand, by the rows of `parts`
   * @param {string} tool what is counted
   * @param {{ remember?: boolean, prediction?: string | null }} [how]
   */
  becomeTable(parts, hand, tool, how) {
    const columns = (this.local?.field?.columns ?? []).map(({ name }) => name);
    const { parts: settled, cell } = settle(parts, columns, hand);
    // No proposal brings back what a person deleted; what a proposal leaves out, the next one may bring back.
    const gone = tool === 'propose' ? [] : wordsGone(this.storedParts, settled);
    if (this.local) this.deletedOf.set(this.local.id, new Set([...this.deletedWords, ...gone]));
    this.becomeParts(settled, Math.max(0, placeOf(settled, cell)), tool, how);
    this.takeCell(cell);
  }

  /**
   * Takes a cell in hand, empty or not.
   *
   * @param {Cell} cell
   */
  takeCell(cell) {
    this.holdCell(cell);
    this.on.mark();
  }

  /** @param {Cell} cell */
  holdCell(cell) {
    const parts = this.storedParts,
      place = placeOf(parts, cell);
    if (place >= 0) this.setParts(parts, place);
    else this.setParts([...parts, { ...EMPTY_PART, cell, fresh: true }], parts.length);
  }

  /**
   * @param {NonNullable<RevisionRequest['action']>} action
   * @param {Edit[]} edits
   * @param {string[]} touched pages
   * @param {string | null} [prediction]
   * @param {{ instead?: boolean }} [options]
   */
  enqueue(action, edits, touched, prediction, options = {}) {
    const { local } = this;
    if (!local) return;
    if (this.divert) return this.divert();
    const first = local.head === 0 && !this.queue.of(local.id).length;
    const basis = local.prediction_id;
    if (prediction) local.prediction_id = prediction;
    // The first revision builds on the proposal that it names, and on that alone: what stood on other pages travels
    // along.
    if (first && prediction && prediction !== basis) {
      edits = [...wholeEdits(this.storedParts), ...edits.filter((edit) => edit.op === 'no_answer')];
    }
    local.status = statusAfter(action);
    this.queue.add(
      {
        kind: 'revision',
        annotation: local.id,
        document: local.document_id,
        question: local.question.text,
        action,
        edits,
        prediction_id: local.prediction_id,
        ...this.effort.take(),
        pages: Object.fromEntries(touched.map((page) => [page, this.markOn(page)])),
        ...(local.parts.length > 1 || local.parts[0].cell || this.correction
          ? { parts: this.storedParts, place: Math.min(local.place, this.storedParts.length - 1) }
          : {}),
        images: this.imagesOf(edits),
        no_answer: local.no_answer,
      },
      local.head,
      options,
    );
  }

  /**
   * The images on which edits were drawn, so that none lands on a page that was turned meanwhile.
   *
   * @param {Edit[]} edits
   */
  imagesOf(edits) {
    const named = new Set(edits.flatMap((edit) => ('page' in edit ? [edit.page] : [])));
    const pages = this.place.document?.pages ?? [];
    return Object.fromEntries(pages.filter(({ id }) => named.has(id)).map(({ id, image }) => [id, image]));
  }

  /**
   * A stroke that the stage has finished.
   *
   * @param {Stroke} stroke
   * @param {Mark | null} mark what stands on the page now; null for a stroke that the model has to answer
   * @param {PageLine} page the one that the stage shows; the next one may be on its way
   */
  stroke(stroke, mark, page) {
    if (stroke.prompt) return this.refinement.prompt(stroke, page);
    if (!stroke.edits || !mark) return;
    // The stage also showed the points and boxes that the model was just asked with: they go with its answer.
    const { points, boxes } = this.markOn(page.id);
    const after = { mark: { ...mark, points, boxes }, no_answer: Boolean(this.local?.no_answer) };
    const gone = stroke.keeps || isBlank(mark) ? [] : this.proposedBeside(page.id);
    const here = stroke.edits[0].op === 'mask' && this.isProposal(page.id, this.markOn(page.id));
    this.change(page.id, after, stroke.edits, { tool: stroke.tool, others: blank(gone) });
    this.tellReplaced(here ? [page.id, ...gone] : gone);
  }

  /**
   * The model's marks have gone as a person marked something else.
   *
   * @param {string[]} pages
   */
  tellReplaced(pages) {
    if (!pages.length) return;
    const where = this.place.document?.pages.length === 1 ? '' : ` on ${this.namePages(pages)}`;
    this.on.tell(
      `Your mark replaces the model’s${where}. Undo brings it back; ${signs('Mod')} while marking keeps both.`,
    );
  }

  /**
   * @param {string} page
   * @param {Standing} to
   * @param {string} tool
   * @param {{ prediction?: string | null, remember?: boolean, others?: Record<string, Mark> }} [options]
   */
  become(page, to, tool, options = {}) {
    const edits = editsBetween(page, this.markOn(page), to.mark);
    if (to.no_answer !== this.local?.no_answer) edits.push({ op: 'no_answer', value: to.no_answer });
    this.change(page, to, edits, { tool, ...options });
  }

  /** Which steps there are from here. */
  get can() {
    const { local, decision } = this,
      page = this.place.page?.id;
    const steps = local && page ? this.histories.can(local.id, page) : { undo: false, redo: false };
    const again = local !== null && this.reopened === local.id;
    return { undo: steps.undo || decision !== null, redo: steps.redo || again };
  }

  /**
   * Undo, or redo. A decision that was made in this window is the first to be undone, and then the first to be redone.
   *
   * @param {boolean} back
   */
  step(back) {
    const page = this.place.page?.id,
      { local, decision } = this;
    if (back && decision) return decision.annotation === local?.id ? this.reopen() : this.on.takeBack(decision);
    if (!local || !page || this.on.locked()) return;
    if (!back && this.reopened === local.id) return void this.accept();
    const step = back ? this.histories.undo(local.id, page) : this.histories.redo(local.id, page);
    if (!step) return;
    const { to, page: where } = step,
      { others, parts, place = 0 } = to,
      tool = back ? 'undo' : 'redo';
    if (parts) {
      this.becomeParts(parts, place, tool, { remember: false });
      if (this.cell) this.takeCell(this.cell);
    } else {
      if (place !== local.place) this.setParts(local.parts, place);
      this.become(where, { no_answer: local.no_answer, ...to }, tool, { remember: false, others });
    }
    if (where !== page) this.on.open(where);
  }

  clear() {
    const page = this.place.page?.id,
      { local } = this;
    if (!local || !page || this.on.locked()) return;
    const blankHere = isBlank(this.markOn(page));
    this.become(page, { mark: EMPTY_MARK, no_answer: local.no_answer }, 'clear');
    const marked = Object.keys(local.pages).filter((other) => other !== page && !isBlank(this.markOn(other)));
    const still = marked.length ? ` Still marked: ${this.namePages(marked)}.` : '';
    const where = this.place.document?.pages.length === 1 ? '' : ` on ${this.namePages([page])}`;
    this.on.tell(`${blankHere ? 'Nothing is marked' : 'Cleared the mark'}${where}.${still}`);
  }

  noAnswer() {
    const page = this.place.page?.id,
      { local } = this;
    if (local && page) this.become(page, { mark: this.markOn(page), no_answer: !local.no_answer }, 'no_answer');
  }

  /** @param {number} at */
  candidate(at) {
    const { proposal } = this,
      candidate = this.choices[at];
    if (!proposal || !candidate || !this.local) return;
    const mark = { ...this.markOn(proposal.page_id), words: candidate.words, mask: candidate.mask };
    const prediction = proposal.prediction_id;
    this.become(proposal.page_id, { mark, no_answer: false }, 'candidate', { prediction });
    if (this.place.page?.id !== proposal.page_id) this.on.open(proposal.page_id);
  }

  // --- accepting

  get decided() {
    return Boolean(this.local && DECIDED.includes(this.local.status));
  }

  accept() {
    const { local } = this;
    if (!local || this.decided || !this.marked()) return false;
    this.refinement.drop(); // what is accepted is what stands here
    this.effort.count('accept');
    this.enqueue(this.place.submits ? 'submit' : 'accept', [], []);
    this.judged = true;
    this.reopened = null;
    this.decision = { annotation: local.id, document: local.document_id, question: local.question.text };
    this.on.mark();
    return true;
  }

  /** Takes the acceptance of the open answer back: it is a draft again. */
  reopen() {
    const { local } = this;
    this.decision = null;
    if (!local || !['accepted', 'submitted'].includes(local.status) || this.on.locked()) return;
    this.effort.count('undo');
    this.enqueue('reopen', [], []);
    this.reopened = local.id;
    this.on.mark();
  }

  marked() {
    const { local } = this;
    if (!local) return false;
    const drawn = local.parts.some(({ pages }) => Object.values(pages).some((mark) => !isEmpty(mark.mask)));
    if (local.no_answer || drawn) return true;
    this.on.tell('Nothing is marked yet. Mark the answer, or choose “Not answered in this document”.');
    return false;
  }

  /**
   * The server has stored a revision of some answer.
   *
   * @param {QueuedItem} item
   * @param {Saved} answer
   */
  saved(item, answer) {
    const { local } = this;
    if (!local || local.id !== item.annotation) return;
    const last = !this.queue.of(local.id).length;
    // Somebody else has saved on top of this, and that is open here: what waited lay on it only on the screen.
    if (answer.revision < local.head) {
      if (last) this.open(local.id, this.place.page?.id).catch((error) => this.on.error(error));
      return;
    }
    local.head = answer.revision;
    local.updated_at = answer.saved_at;
    if (!last) return;
    local.status = answer.status;
    local.text = answer.text;
    local.values = answer.values;
    // What the server holds is the truth; where it differs from the screen, the screen follows.
    const there = opened({ ...local, state: answer.state }, []);
    if (sameParts(there.parts, this.storedParts) && same(there.no_answer, local.no_answer)) return;
    const hand = local.parts[local.place];
    if (hand.fresh) this.setParts([...there.parts, hand], there.parts.length);
    else this.setParts(there.parts, local.place);
    local.no_answer = there.no_answer;
    this.on.mark();
  }

  /**
   * One's own version wins over what is saved: it is saved again, whole, on top of it.
   *
   * @param {AnnotationView} current
   */
  keepMine(current) {
    const { local } = this;
    if (!local) return;
    const last = this.queue.of(local.id).at(-1);
    const action = last?.kind === 'revision' ? last.action : 'edit';
    this.histories.forget(local.id);
    local.head = current.head;
    const edits = editsTo(local, opened(current, []));
    this.enqueue(action, edits, Object.keys(local.pages), null, { instead: true });
    this.on.mark();
  }

  /**
   * The words of a page turned out to have other numbers, or not to be (null).
   *
   * @param {string} page
   * @param {(number: number) => number | null} map
   */
  renumber(page, map) {
    const { local } = this,
      named = local?.parts.flatMap((part) => part.pages[page]?.words ?? []);
    if (!local || !named || named.every((number) => map(number) === number)) return;
    this.histories.forget(local.id);
    this.setParts(
      local.parts.map((part) => renumbered(part, page, map)),
      local.place,
    );
  }

  /**
   * What the edits were made for is not there any more, and they are given up.
   *
   * @param {string} id
   */
  async giveUp(id) {
    await this.queue.discard(id);
    this.histories.forget(id);
    if (this.local?.id === id) this.close();
    this.on.mark();
  }

  /** @param {string} id */
  async takeTheirs(id) {
    await this.queue.discard(id);
    this.histories.forget(id);
    if (this.local?.id === id) await this.open(id, this.place.page?.id);
  }
}
