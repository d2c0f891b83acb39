// The open answer: asked, corrected, saved, accepted. Everything that changes a mark passes through `change`.

import { get, post } from './api.js';
import { same } from './dom.js';
import { Histories } from './history.js';
import { EMPTY_MARK, editsBetween, isBlank, opened, origin, sameMark, statusAfter } from './marks.js';
import { Raster, isEmpty } from './mask.js';

export class Answers {
  // place: { document, page } as they are open; hear: { changed(), mark(), open(page id), tell(sentence), error(error) }
  constructor({ pages, queue, effort, place, hear }) {
    Object.assign(this, { pages, queue, effort, place, hear });
    this.histories = new Histories();
    this.local = null;
    this.asking = this.refining = false;
    this.turn = 0; // counts what was opened or asked of the model: an answer to an older turn comes too late
  }

  close() {
    this.turn++;
    this.local = null;
    this.refining = false;
  }

  markOn(page) {
    return this.local?.pages[page] ?? EMPTY_MARK;
  }

  originOf(page, mark) {
    return origin(mark, this.local?.predictions.filter((each) => each.page_id === page) ?? []);
  }

  get proposal() {
    if (!this.local) return null;
    return this.local.proposals[this.place.page?.id] ?? this.local.proposal;
  }

  // What the keys 1, 2, 3 choose from: the proposal, then what else the model thought of.
  get choices() {
    const { proposal } = this;
    if (!proposal) return [];
    const others = proposal.candidates.filter((each) => !sameMark(each, proposal));
    return [proposal, ...others].filter((each) => !isBlank(each)).slice(0, 3);
  }

  get chosen() {
    const mark = this.markOn(this.proposal?.page_id);
    return this.choices.findIndex((each) => sameMark(mark, each));
  }

  // --- opening and asking

  take(annotation) {
    this.turn++;
    this.refining = false;
    this.queue.adopt(annotation.id);
    this.local = opened(annotation, this.queue.of(annotation.id));
    this.local.ranked = annotation.ranked ?? [];
    this.local.predictions = [];
    this.local.proposals = {};
    if (annotation.proposal) this.learn(annotation.proposal);
    this.local.prediction_id = annotation.proposal?.prediction_id ?? null;
    this.effort.reset();
  }

  learn(proposal) {
    this.local.proposals[proposal.page_id] = proposal;
    const candidates = proposal.candidates.map((each) => ({ ...each, page_id: proposal.page_id }));
    this.local.predictions.push(proposal, ...candidates);
  }

  async open(id, page = null) {
    const turn = ++this.turn;
    const annotation = await get(`/annotations/${id}`);
    if (turn !== this.turn) return;
    this.take(annotation);
    await this.hear.open(page ?? this.bestPage());
  }

  bestPage() {
    const marked = this.place.document.pages.find((page) => !isBlank(this.markOn(page.id)));
    return marked?.id ?? this.local.proposal?.page_id ?? this.place.page?.id;
  }

  async ask(question, whole) {
    const { document, page } = this.place;
    if (this.asking || !document) return false;
    const turn = ++this.turn;
    this.asking = true;
    this.hear.changed();
    try {
      const only = whole && document.pages.length > 1 ? null : page?.id;
      const annotation = await post(`/documents/${document.id}/ask`, { question, page_id: only });
      if (turn !== this.turn) return true;
      this.take(annotation);
      if (annotation.existing) this.hear.tell('You asked this before: here is the answer as you left it.');
      await this.hear.open(this.bestPage());
      return true;
    } finally {
      this.asking = false;
      this.hear.changed();
    }
  }

  // --- changing

  // after: { mark, no_answer } that stands on the page from now on; edits: how the server gets there.
  change(page, after, edits, { tool, prediction = null, remember = true }) {
    const { local } = this;
    const before = { mark: this.markOn(page), no_answer: local.no_answer };
    if (!edits.length) return;
    if (remember) this.histories.push(local.id, page, before, after);
    this.turn++;
    this.refining = false;
    this.effort.count(tool);
    local.pages = { ...local.pages, [page]: after.mark };
    local.no_answer = after.no_answer;
    this.enqueue('edit', edits, [page], prediction);
    this.hear.mark();
  }

  enqueue(action, edits, touched, prediction, options = {}) {
    const { local } = this;
    const first = local.head === 0 && !this.queue.of(local.id).length;
    const basis = local.prediction_id;
    if (prediction) local.prediction_id = prediction;
    // The first revision builds on the proposal that it names, and on that alone: what stood on other pages travels along.
    if (first && prediction && prediction !== basis) edits = [...this.whole(), ...edits.filter((edit) => edit.op === 'no_answer')];
    local.status = statusAfter(action);
    this.queue.add(
      {
        annotation: local.id, document: local.document_id, action, edits, prediction_id: local.prediction_id, ...this.effort.take(),
        pages: Object.fromEntries(touched.map((page) => [page, local.pages[page]])), no_answer: local.no_answer,
      },
      local.head,
      options,
    );
  }

  // Edits that lead to what stands here from any state whatever.
  whole() {
    return Object.entries(this.local.pages).flatMap(([page, mark]) => [
      isBlank(mark) ? { op: 'clear', page } : { op: 'mask', page, words: mark.words, mask: mark.mask },
      ...(mark.points.length || mark.boxes.length ? [{ op: 'prompts', page, points: mark.points, boxes: mark.boxes }] : []),
    ]);
  }

  // A stroke that the stage has finished.
  stroke(stroke, mark) {
    if (stroke.prompt) return this.prompt(stroke);
    this.change(this.place.page.id, { mark, no_answer: this.local.no_answer }, stroke.edits, { tool: stroke.tool });
  }

  become(page, to, tool, options = {}) {
    const edits = editsBetween(page, this.markOn(page), to.mark);
    if (to.no_answer !== this.local.no_answer) edits.push({ op: 'no_answer', value: to.no_answer });
    this.change(page, to, edits, { tool, ...options });
  }

  step(back) {
    const page = this.place.page?.id;
    if (!this.local || !page) return;
    const to = back ? this.histories.undo(this.local.id, page) : this.histories.redo(this.local.id, page);
    if (to) this.become(page, to, back ? 'undo' : 'redo', { remember: false });
  }

  clear() {
    const page = this.place.page?.id;
    if (this.local && page) this.become(page, { mark: EMPTY_MARK, no_answer: this.local.no_answer }, 'clear');
  }

  noAnswer() {
    const page = this.place.page?.id;
    if (!this.local || !page) return;
    this.become(page, { mark: this.markOn(page), no_answer: !this.local.no_answer }, 'no_answer');
  }

  candidate(at) {
    const { proposal } = this, candidate = this.choices[at];
    if (!candidate || !this.local) return;
    const mark = { ...this.markOn(proposal.page_id), words: candidate.words, mask: candidate.mask };
    this.become(proposal.page_id, { mark, no_answer: false }, 'candidate', { prediction: proposal.prediction_id });
    if (this.place.page?.id !== proposal.page_id) this.hear.open(proposal.page_id);
  }

  // --- the model, asked again

  prompt({ prompt, tool }) {
    const mark = this.markOn(this.place.page.id);
    const points = prompt.point ? [...(this.asked?.points ?? mark.points), prompt.point] : mark.points;
    const boxes = prompt.box ? [...(prompt.add ? mark.boxes : []), prompt.box] : mark.boxes;
    return this.refine({ ...mark, points, boxes }, { tool, box: prompt.box ?? mark.boxes.at(-1) ?? null, add: prompt.add });
  }

  askHere() {
    return this.refine(EMPTY_MARK, { tool: 'ask' });
  }

  // wanted: the mark with the prompts so far; they show at once, the answer follows.
  async refine(wanted, { tool, box = null, add = false }) {
    const { local } = this, page = this.place.page, turn = ++this.turn, before = this.markOn(page.id);
    this.refining = true;
    this.asked = wanted;
    this.hear.prompts(wanted);
    this.hear.changed();
    try {
      // Work by hand goes along as a prompt; what the model drew itself it can draw again.
      const byHand = !box && !isBlank(before) && this.originOf(page.id, before) === 'person';
      const answer = await post(`/annotations/${local.id}/refine`, { page_id: page.id, points: wanted.points, box, mask: byHand ? before.mask : null });
      if (turn !== this.turn) return;
      this.asked = null;
      this.refining = false;
      if (isEmpty(answer.mask)) {
        this.hear.tell(tool === 'ask' ? 'The model finds no answer on this page. Mark it by hand if there is one.' : 'The model finds nothing there. Mark the words, or paint.');
        return this.hear.mark();
      }
      this.learn(answer);
      const merged = add ? joined(page, before, answer) : answer;
      const mark = { ...wanted, words: merged.words, mask: merged.mask };
      this.become(page.id, { mark, no_answer: false }, tool, { prediction: answer.prediction_id });
    } catch (error) {
      if (turn !== this.turn) return;
      this.asked = null;
      this.refining = false;
      this.hear.mark();
      this.hear.error(error);
    }
  }

  // --- accepting

  accept() {
    const { local } = this;
    if (!local || local.status === 'accepted') return false;
    if (!local.no_answer && Object.values(local.pages).every((mark) => isEmpty(mark.mask))) {
      this.hear.tell('Nothing is marked yet: mark the answer, or say that the document does not answer.');
      return false;
    }
    this.effort.count('accept');
    this.enqueue('accept', [], [], null);
    this.hear.changed();
    return true;
  }

  // The server has stored a revision of some answer.
  saved(item, answer) {
    const { local } = this;
    if (local?.id !== item.annotation) return;
    local.head = answer.revision;
    local.updated_at = answer.saved_at;
    if (this.queue.of(local.id).length) return;
    local.status = answer.status;
    // What the server holds is the truth; where it differs from the screen, the screen follows.
    const there = opened({ ...local, state: answer.state }, []);
    const pages = new Set([...Object.keys(there.pages), ...Object.keys(local.pages)]);
    const differs = [...pages].some((page) => !sameMark(there.pages[page] ?? EMPTY_MARK, this.markOn(page))) || !same(there.no_answer, local.no_answer);
    if (!differs) return;
    local.pages = there.pages;
    local.no_answer = there.no_answer;
    this.hear.mark();
  }

  // One's own version wins over what is saved: it is saved again, whole, on top of it.
  keepMine(current) {
    const { local } = this, mine = { pages: local.pages, no_answer: local.no_answer };
    const action = this.queue.of(local.id).at(-1)?.action ?? 'edit';
    this.histories.forget(local.id);
    const theirs = opened(current, []);
    local.head = current.head;
    const pages = new Set([...Object.keys(theirs.pages), ...Object.keys(mine.pages)]);
    const edits = [...pages].flatMap((page) => editsBetween(page, theirs.pages[page] ?? EMPTY_MARK, mine.pages[page] ?? EMPTY_MARK));
    if (theirs.no_answer !== mine.no_answer) edits.push({ op: 'no_answer', value: mine.no_answer });
    this.enqueue(action, edits, Object.keys(mine.pages), null, { instead: true });
    this.hear.mark();
  }

  async takeTheirs(id) {
    await this.queue.discard(id);
    this.histories.forget(id);
    if (this.local?.id === id) await this.open(id, this.place.page?.id);
  }
}

// Words and pixels of two marks together.
function joined(page, left, right) {
  const raster = new Raster(page.width, page.height);
  raster.load(left.mask);
  raster.paint(right.mask, 1);
  return { words: [...new Set([...left.words, ...right.words])], mask: raster.patch() };
}
