// The open answer: asked, corrected, saved, accepted. Everything that changes a mark passes through `change`.

import { get, post } from '../core/api.js';
import { same } from '../core/values.js';
import { Histories } from './history.js';
import { DECIDED, EMPTY_MARK, editsBetween, editsTo, isBlank, opened, origin, sameMark, statusAfter } from './marks.js';
import { isEmpty } from '../canvas/mask.js';
import { Refining } from './refinement.js';

export class Answers {
  // place: { document, page, submits } as they are open; hear: { changed(), mark(), open(page id), tell(sentence), error(error), free(), locked() }; free: resolves when nobody has a stroke or a word in hand; locked: says why the answer cannot be changed, where it cannot
  constructor({ pages, queue, effort, place, hear }) {
    Object.assign(this, { pages, queue, effort, place, hear });
    this.histories = new Histories();
    this.local = null;
    this.asking = false;
    this.again = new Refining(this);
    this.divert = null; // what takes edits instead of the queue: a reviewer's fix waits for the verdict
    this.fetching = 0; // answers that are on their way here, to be opened
    this.turn = 0; // counts what was opened or asked of the model: an answer to an older turn comes too late
  }

  close() {
    this.turn++;
    this.local = this.divert = null;
    this.again.drop();
  }

  // The model has been asked again, and has not answered yet.
  get refining() {
    return this.again.asked !== null;
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
    this.again.drop();
    this.divert = null;
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

  peek(id) {
    return get('/annotations/{annotation_id}', { annotation_id: id });
  }

  // patient: it is opened anew without anybody's wish, and waits for the hand on the page.
  async open(id, page = null, { patient = false } = {}) {
    const turn = patient ? this.turn : ++this.turn;
    this.fetching++;
    try {
      const annotation = await this.current(await this.peek(id));
      if (patient) await this.hear.free();
      // Somebody has opened another answer, or another document, meanwhile.
      if (turn !== this.turn || annotation.document_id !== this.place.document?.id) return;
      this.take(annotation);
    } finally {
      this.fetching--;
    }
    await this.hear.open(page ?? this.bestPage());
  }

  // A read that a save has overtaken shows what stood before it, and is done once more.
  async current(annotation) {
    for (let tries = 0; tries < 3 && annotation.head < this.queue.newestOf(annotation.id); tries++)
      Object.assign(annotation, await this.peek(annotation.id));
    return annotation;
  }

  bestPage() {
    const marked = this.place.document.pages.find((page) => !isBlank(this.markOn(page.id)));
    return marked?.id ?? this.local.proposal?.page_id ?? this.place.page?.id;
  }

  // Returns the annotation, which is not opened where somebody has gone on meanwhile; null where nothing was asked.
  async ask(question, whole) {
    const { document, page } = this.place;
    if (this.asking || !document) return null;
    const turn = ++this.turn;
    this.asking = true;
    this.hear.changed();
    try {
      const only = whole && document.pages.length > 1 ? null : page?.id;
      const annotation = await this.current(
        await post('/documents/{document_id}/ask', { document_id: document.id }, { question, page_id: only }),
      );
      if (turn !== this.turn || document.id !== this.place.document?.id) return annotation;
      this.take(annotation);
      if (annotation.existing) this.hear.tell('You asked this before. This is your earlier answer.');
      await this.hear.open(this.bestPage());
      return annotation;
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
    if (this.hear.locked()) return;
    // Whether the document answers is not the page's alone: a step back leaves it, where this step did.
    const stays = before.no_answer === after.no_answer;
    if (remember)
      this.histories.push(local.id, page, stays ? { mark: before.mark } : before, stays ? { mark: after.mark } : after);
    this.turn++;
    this.again.drop();
    this.effort.count(tool);
    local.pages = { ...local.pages, [page]: after.mark };
    local.no_answer = after.no_answer;
    this.enqueue('edit', edits, [page], prediction);
    this.hear.mark();
  }

  enqueue(action, edits, touched, prediction, options = {}) {
    const { local } = this;
    if (this.divert) return this.divert();
    const first = local.head === 0 && !this.queue.of(local.id).length;
    const basis = local.prediction_id;
    if (prediction) local.prediction_id = prediction;
    // The first revision builds on the proposal that it names, and on that alone: what stood on other pages travels along.
    if (first && prediction && prediction !== basis)
      edits = [...this.whole(), ...edits.filter((edit) => edit.op === 'no_answer')];
    local.status = statusAfter(action);
    this.queue.add(
      {
        kind: 'revision',
        annotation: local.id,
        document: local.document_id,
        question: local.question?.text,
        action,
        edits,
        prediction_id: local.prediction_id,
        ...this.effort.take(),
        pages: Object.fromEntries(touched.map((page) => [page, local.pages[page]])),
        no_answer: local.no_answer,
      },
      local.head,
      options,
    );
  }

  // Edits that lead to what stands here from any state whatever.
  whole() {
    return Object.entries(this.local.pages).flatMap(([page, mark]) => [
      isBlank(mark) ? { op: 'clear', page } : { op: 'mask', page, words: mark.words, mask: mark.mask },
      ...(mark.points.length || mark.boxes.length
        ? [{ op: 'prompts', page, points: mark.points, boxes: mark.boxes }]
        : []),
    ]);
  }

  // A stroke that the stage has finished. page: the one that it shows; the next one may be on its way.
  stroke(stroke, mark, page) {
    if (stroke.prompt) return this.again.prompt(stroke, page);
    const { points, boxes } = this.markOn(page.id); // the stage also showed those that the model was just asked with: they go with its answer
    this.change(page.id, { mark: { ...mark, points, boxes }, no_answer: this.local.no_answer }, stroke.edits, {
      tool: stroke.tool,
    });
  }

  become(page, to, tool, options = {}) {
    const edits = editsBetween(page, this.markOn(page), to.mark);
    if (to.no_answer !== this.local.no_answer) edits.push({ op: 'no_answer', value: to.no_answer });
    this.change(page, to, edits, { tool, ...options });
  }

  step(back) {
    const page = this.place.page?.id;
    if (!this.local || !page || this.hear.locked()) return;
    const to = back ? this.histories.undo(this.local.id, page) : this.histories.redo(this.local.id, page);
    if (to) this.become(page, { no_answer: this.local.no_answer, ...to }, back ? 'undo' : 'redo', { remember: false });
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
    const { proposal } = this,
      candidate = this.choices[at];
    if (!candidate || !this.local) return;
    const mark = { ...this.markOn(proposal.page_id), words: candidate.words, mask: candidate.mask };
    this.become(proposal.page_id, { mark, no_answer: false }, 'candidate', { prediction: proposal.prediction_id });
    if (this.place.page?.id !== proposal.page_id) this.hear.open(proposal.page_id);
  }

  // --- accepting

  accept() {
    const { local } = this;
    if (!local || DECIDED.includes(local.status) || !this.marked()) return false;
    this.again.drop(); // what is accepted is what stands here
    this.effort.count('accept');
    this.enqueue(this.place.submits ? 'submit' : 'accept', [], [], null);
    this.hear.mark();
    return true;
  }

  marked() {
    const { local } = this;
    if (local.no_answer || Object.values(local.pages).some((mark) => !isEmpty(mark.mask))) return true;
    this.hear.tell('Nothing is marked yet. Mark the answer, or choose “Not answered in this document”.');
    return false;
  }

  // The server has stored a revision of some answer.
  saved(item, answer) {
    const { local } = this;
    if (local?.id !== item.annotation) return;
    const last = !this.queue.of(local.id).length;
    // Somebody else has saved on top of this, and that is open here: what waited lay on it only on the screen.
    if (answer.revision < local.head)
      return last && this.open(local.id, this.place.page?.id).catch((error) => this.hear.error(error));
    local.head = answer.revision;
    local.updated_at = answer.saved_at;
    if (!last) return;
    local.status = answer.status;
    local.text = answer.text;
    // What the server holds is the truth; where it differs from the screen, the screen follows.
    const there = opened({ ...local, state: answer.state }, []);
    const pages = new Set([...Object.keys(there.pages), ...Object.keys(local.pages)]);
    const differs =
      [...pages].some((page) => !sameMark(there.pages[page] ?? EMPTY_MARK, this.markOn(page))) ||
      !same(there.no_answer, local.no_answer);
    if (!differs) return;
    local.pages = there.pages;
    local.no_answer = there.no_answer;
    this.hear.mark();
  }

  // One's own version wins over what is saved: it is saved again, whole, on top of it.
  keepMine(current) {
    const { local } = this,
      mine = { pages: local.pages, no_answer: local.no_answer };
    const action = this.queue.of(local.id).at(-1)?.action ?? 'edit';
    this.histories.forget(local.id);
    local.head = current.head;
    this.enqueue(action, editsTo(mine, opened(current, [])), Object.keys(mine.pages), null, { instead: true });
    this.hear.mark();
  }

  // The words of a page turned out to have other numbers, or not to be (null).
  renumber(page, map) {
    const { local } = this,
      mark = local?.pages[page];
    if (!mark || mark.words.every((number) => map(number) === number)) return;
    this.histories.forget(local.id);
    local.pages = {
      ...local.pages,
      [page]: { ...mark, words: mark.words.map(map).filter((number) => number !== null) },
    };
  }

  // What the edits were made for is not there any more, and they are given up.
  async giveUp(id) {
    await this.queue.discard(id);
    this.histories.forget(id);
    if (this.local?.id === id) this.close();
    this.hear.mark();
  }

  async takeTheirs(id) {
    await this.queue.discard(id);
    this.histories.forget(id);
    if (this.local?.id === id) await this.open(id, this.place.page?.id);
  }
}
