// What one works on: asking freely, the queue of tasks, or review. Holds the three together and tells the workspace.

import { Further } from '../state/ask_more.js';
import { h } from '../core/dom.js';
import { same } from '../core/values.js';
import { hint } from '../core/keyboard.js';
import { openHistory } from '../panels/answer_history.js';
import { openStandardQuestions } from './standard_dialog.js';
import { QueueBar } from './queue_bar.js';
import { ReviewDesk } from './review_desk.js';
import { ReviewPanel } from './review_panel.js';
import { remember, remembered } from '../core/storage.js';
import { Suggestions } from '../panels/suggestions.js';
import { TaskQueue } from './task_queue.js';
import { Verdicts } from './verdicts.js';

const REFRESHED = 60_000; // milliseconds between looks at what others have done
const REMEMBERED = 'glossator.desk'; // of this tab: { mode, project, task, annotation }

export class Desk {
  constructor(workspace) {
    const { library, answers, rooms, toasts } = workspace;
    Object.assign(this, { workspace, library, answers, toasts });
    this.mode = 'free';
    this.waiting = []; // who waits for the save queue
    this.decided = null; // the answer that was decided without network, and is the last one so far
    this.before = remembered('session', REMEMBERED); // what this tab did before a reload
    const act = (step) => workspace.act(step);
    const hear = {
      changed: () => workspace.render(),
      lost: (sentence) => toasts.show(sentence),
      tell: (sentence) => toasts.show(sentence),
      wantReason: () => this.panel.wantReason(),
    };
    const idle = () => answers.effort.idle();
    this.tasks = new TaskQueue({
      library,
      idle,
      hear,
      open: (task, annotation, page) => this.openTask(task, annotation, page),
    });
    this.reviews = new ReviewDesk({
      library,
      answers,
      idle,
      hear,
      show: (found) => this.openAnswer(found.annotation_id, found.document_id, found.page_id),
    });
    this.verdicts = new Verdicts(() => workspace.render());
    this.further = new Further(answers);
    this.bar = new QueueBar(rooms.desk, {
      mode: (name) => act(() => this.enter(name)),
      next: () => act(() => this.desk.next()),
      back: () => act(() => this.desk.show()),
      again: () => act(() => this.again()),
      edit: () => act(() => this.editStandard()),
    });
    this.suggestions = new Suggestions(rooms.suggestions, workspace.box.field, library, {
      ask: (text) => act(() => workspace.opening.ask(text, true)),
      asked: (annotation, first) => this.asked(annotation, first),
      edit: () => act(() => this.editStandard()),
      reviewer: () => library.reviewer,
      answering: () => answers.local !== null,
      tell: (sentence) => toasts.show(sentence),
      error: (error) => toasts.error(error),
    });
    const panel = h('div', { class: 'g-review', hidden: true });
    workspace.card.actions.after(panel);
    this.onSight = () => document.visibilityState === 'visible' && this.refresh();
    document.addEventListener('visibilitychange', this.onSight);
    this.timer = setInterval(this.onSight, REFRESHED);
    this.panel = new ReviewPanel(panel, {
      say: (part, value) => this.reviews.say(part, value),
      accept: () => this.judge('accepted'),
      reject: () => this.judge('rejected'),
      fix: () => this.reviews.fix(),
      sendFix: () => this.judge('fixed'),
      giveUpFix: () => this.reviews.giveUpFix(),
      takeModel: () => this.reviews.takeModel(),
      next: () => act(() => this.reviews.next()),
    });
  }

  // The one that hands out work in this mode, or null.
  get desk() {
    return { queue: this.tasks, review: this.reviews }[this.mode] ?? null;
  }

  // Why the open answer cannot be changed, or null. Nobody changes somebody else's by a slip; a reviewer says "fix" first.
  get lock() {
    const { local } = this.answers;
    if (!local) return null;
    if (this.mode === 'review')
      return this.reviews.fixing
        ? null
        : `You are reviewing this answer. Accept or reject it, or press ${hint('reviewFix')} to fix it.`;
    if (this.library.mine(local) || this.library.alone) return null;
    return `This answer belongs to ${local.author.name}. Ask the question yourself to give your own${this.library.reviews ? ', or review it' : ''}.`;
  }

  get keys() {
    return this.mode === 'review' && this.reviews.open && !this.reviews.fixing ? 'review' : null;
  }

  // --- coming and going

  // After a reload one goes on where one was.
  async resume() {
    this.count();
    const { before } = this;
    this.before = null;
    if (!before || before.project !== this.library.project?.id || before.mode === 'free') return;
    if (before.mode === 'review' && !this.library.reviews) return;
    this.mode = before.mode;
    this.library.changed();
    await this.desk.resume(before.task ?? before.annotation);
  }

  remember() {
    const { mode, tasks, reviews, library } = this;
    const now = { mode, project: library.project?.id, task: tasks.task?.id, annotation: reviews.annotation };
    if (this.before || same(now, this.remembered)) return;
    this.remembered = now;
    remember('session', REMEMBERED, now);
  }

  async enter(mode) {
    if (mode === this.mode) return;
    this.desk?.leave();
    this.mode = mode;
    this.library.changed();
    if (this.desk) await this.desk.next();
    else this.count();
  }

  // Another project was chosen: what is leased in this one goes back.
  projectChanged() {
    this.desk?.leave();
    this.mode = 'free';
    this.tasks.counts = null;
    this.count();
  }

  // What others have done meanwhile: a reviewer's verdict shows, also on the answer that is open.
  async refresh() {
    this.count();
    await this.library.refresh();
    const { answers, workspace } = this,
      { local } = answers;
    const head = this.library.document?.annotations.find((each) => each.id === local?.id)?.head ?? 0;
    await workspace.opening.handsFree();
    if (
      !local ||
      local !== answers.local ||
      head <= local.head ||
      answers.refining ||
      answers.asking ||
      answers.divert ||
      workspace.queue.of(local.id).length
    )
      return;
    await workspace.opening.annotation(local.id, this.library.page?.id, { patient: true }).catch(() => {});
  }

  count() {
    this.tasks.count().catch(() => {});
  }

  // --- opening what is handed out

  async openTask(task, annotation, page) {
    const { workspace, library } = this;
    if (annotation) {
      await this.openAnswer(annotation, task?.document_id, page);
      return annotation;
    }
    if (task.document_id !== library.document?.id) await workspace.opening.document(task.document_id, null);
    else this.answers.close();
    if (library.document?.id === task.document_id) await workspace.opening.page(library.page?.id);
    if (library.document?.id !== task.document_id) return null; // somebody has opened another one meanwhile
    return (await workspace.opening.ask(task.question.text, true))?.id ?? null;
  }

  async openAnswer(annotation, document, page) {
    const { workspace, library } = this;
    if (!document) document = (await this.answers.peek(annotation)).document_id;
    if (document === library.document?.id) library.refresh();
    else if (!(await workspace.opening.document(document, null))) return;
    await workspace.opening.annotation(annotation, page);
    workspace.stage.canvas.focus({ preventScroll: true });
  }

  again() {
    const { desk } = this;
    return desk.task || desk.annotation ? desk.show() : desk.next();
  }

  next() {
    return this.desk ? this.desk.next() : this.workspace.opening.next();
  }

  // --- deciding

  accept() {
    if (this.mode === 'review') return this.judge(this.reviews.fixing ? 'fixed' : 'accepted');
    const { local } = this.answers;
    if (this.lock) return this.toasts.show(this.lock);
    if (!this.answers.accept()) return;
    const task =
      this.mode === 'queue' &&
      (this.tasks.annotation === local.id || this.tasks.task?.question.text === local.question.text);
    if (!task) return this.toasts.show(this.library.submits ? 'Submitted for review.' : 'Accepted.');
    this.workspace.act(() => this.onward(local.id));
  }

  judge(verdict) {
    const { annotation } = this.reviews;
    if (this.reviews.judge(verdict)) this.workspace.act(() => this.onward(annotation));
  }

  // The reviewer's fix goes on top of what the author saved meanwhile.
  judgeOnTop(saved, verdict) {
    this.reviews.judging.sendOnTop(saved, verdict);
    return this.onward(saved.id);
  }

  // On to the next one as soon as the server has this one.
  async onward(annotation) {
    const { desk } = this;
    if (!(await this.stored(annotation))) {
      if (this.workspace.queue.halted.has(annotation)) return;
      this.decided = annotation;
      return this.toasts.show('Saved in this browser. The next item opens when the server responds.');
    }
    if (desk && desk === this.desk && desk.annotation === annotation) await desk.next();
  }

  // Resolves to whether everything for an annotation is stored; false where it has to wait: no network, no login, a conflict.
  async stored(annotation) {
    const { queue } = this.workspace;
    let { failures } = queue;
    queue.retry();
    while (queue.of(annotation).length && !queue.halted.has(annotation) && queue.failures <= failures) {
      failures = queue.failures;
      await new Promise((heard) => this.waiting.push(heard));
    }
    return !queue.of(annotation).length;
  }

  // Something has changed in the save queue.
  heard() {
    for (const heard of this.waiting.splice(0)) heard();
  }

  // The server has stored something.
  saved(item) {
    if (item.kind === 'verdict') this.reviews.fixes.drop(item.annotation);
    if (item.kind === 'verdict' || ['accept', 'submit'].includes(item.action)) this.count();
    this.goOn(item.annotation);
  }

  // What was decided without network is stored now: on to the next one, if nothing else was opened meanwhile.
  goOn(annotation) {
    if (this.decided !== annotation || this.workspace.queue.of(annotation).length) return;
    this.decided = null;
    const { desk } = this,
      { local } = this.answers;
    if (desk?.annotation === annotation && local?.id === annotation && local.status !== 'draft')
      this.workspace.act(() => desk.next());
  }

  // --- what else can be asked

  asked(annotation, first) {
    const { workspace, library } = this;
    library.note({ ...annotation, no_answer: annotation.state.no_answer });
    if (first && !this.answers.local) workspace.act(() => workspace.opening.annotation(annotation.id));
    workspace.render();
  }

  editStandard() {
    return openStandardQuestions(this.workspace.root, this.library.project, {
      saved: () => (
        this.suggestions.load(),
        this.count(),
        this.desk?.empty && this.workspace.act(() => this.desk.next())
      ),
      failed: (error) => this.toasts.error(error),
    });
  }

  history() {
    const { local } = this.answers;
    if (local) return openHistory(this.workspace.root, local);
  }

  destroy() {
    clearInterval(this.timer);
    this.tasks.destroy();
    this.reviews.destroy();
    document.removeEventListener('visibilitychange', this.onSight);
  }

  // --- drawing

  render() {
    const { mode, desk, library, answers, workspace, tasks, reviews } = this,
      { local } = answers;
    const locked = this.lock !== null;
    if (locked !== this.wasLocked) {
      this.wasLocked = locked;
      workspace.paint();
    }
    const document = library.document?.id ?? null;
    if (document !== this.shown) {
      this.shown = document;
      Object.assign(this.suggestions, { standard: [], recent: [] });
      this.suggestions.load();
    }
    this.remember();
    const waiting = (mode === 'review' ? reviews.waiting : null) ?? tasks.counts?.to_review;
    const task = mode === 'queue' && tasks.task;
    const elsewhere =
      mode === 'review'
        ? reviews.annotation !== null && !reviews.here
        : Boolean(task) && (document !== task.document_id || (local && local.question.text !== task.question.text));
    this.bar.render({
      mode,
      reviewer: library.reviewer,
      reviews: library.reviews,
      counts: tasks.counts,
      waiting,
      desk,
      elsewhere: elsewhere && !desk?.busy,
    });
    workspace.root.dataset.desk = desk?.empty && !(mode === 'queue' && tasks.annotation) ? 'empty' : mode;
    this.panel.render({
      active: mode === 'review' && reviews.here,
      open: reviews.open,
      said: reviews.said,
      fixing: reviews.fixing,
      reasons: reviews.reasons.offered,
      busy: reviews.busy,
      look: reviews.here ? reviews.look : null,
    });
    this.suggestions.render();
  }
}
