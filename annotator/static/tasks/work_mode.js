// What one works on: asking freely, the queue of tasks, or review. Owns the three, and says what may be changed and
// what comes next. Draws nothing.

import { hint } from '../core/keyboard.js';
import { remember, remembered } from '../core/storage.js';
import { same } from '../core/values.js';
import { ReviewDesk } from './review_desk.js';
import { TaskQueue } from './task_queue.js';

/** @import { AnnotationView, LeasedTask, QueuedItem, ReviewRequest, VerdictWords } from '../types' */
/** @import { OpenAnswer } from '../state/answer.js' */
/** @import { Library } from '../state/library.js' */
/** @import { Navigation } from '../state/navigation.js' */
/** @import { Session } from '../state/session.js' */
/** @import { SaveQueue } from '../sync/save_queue.js' */

const REMEMBERED = 'glossator.desk'; // of this window: { mode, project, task, annotation }

/** @typedef {'free' | 'queue' | 'review'} Mode */
/** @typedef {{ label: string, run: () => void }} ToastAction */

/**
 * @typedef {object} WorkPorts
 * @property {(step: () => unknown) => void} act runs what may fail, and says so
 * @property {() => void} changed
 * @property {(sentence: string, action?: ToastAction) => void} tell
 * @property {() => void} wantReason a rejection needs its reason
 * @property {() => void} focusPage
 * @property {() => boolean} stays the form leads on from a task, as long as it is shown
 */

const ANSWERED = /answered this question meanwhile/; // what the server says of a task that somebody else has finished
const LATE = ' The other answer came first: it is the one that is exported, until a reviewer chooses yours.';

export class WorkMode {
  /** @type {Mode} */
  mode = 'free';
  /** @type {(() => void)[]} who waits for the save queue */
  waiting = [];
  /** @type {string | null} the answer that was decided without network, and is the last one so far */
  decided = null;
  remembered = {};

  /**
   * @param {object} parts
   * @param {Library} parts.library
   * @param {Session} parts.session
   * @param {OpenAnswer} parts.answer
   * @param {SaveQueue} parts.queue
   * @param {Navigation} parts.navigation
   * @param {WorkPorts} parts.ports
   */
  constructor({ library, session, answer, queue, navigation, ports }) {
    this.library = library;
    this.session = session;
    this.answer = answer;
    this.queue = queue;
    this.navigation = navigation;
    this.ports = ports;
    /** @type {{ mode?: Mode, project?: string, task?: string, annotation?: string } | null} of before a reload */
    this.before = remembered('session', REMEMBERED);
    const { changed, tell, wantReason } = ports,
      idle = () => answer.effort.idle();
    const lost = (/** @type {string} */ sentence) => tell(sentence);
    this.tasks = new TaskQueue(
      library,
      idle,
      { changed, lost },
      (...found) => this.openTask(...found),
      (document, page) => library.expect(document, page),
    );
    this.reviews = new ReviewDesk({
      library,
      session,
      answer,
      idle,
      on: { changed, lost, tell, wantReason },
      show: ({ annotation, document, page }) => this.openAnswer(annotation, document, page),
    });
  }

  /** The one that hands out work in this mode, or null. */
  get desk() {
    return this.mode === 'queue' ? this.tasks : this.mode === 'review' ? this.reviews : null;
  }

  /** The answer that is in hand. */
  get inHand() {
    return this.desk?.annotation ?? null;
  }

  /**
   * Why the open answer cannot be changed, or null. Nobody changes somebody else's by a slip; a reviewer says "fix"
   * first.
   */
  get lock() {
    const { local } = this.answer,
      { session } = this;
    if (!local) return null;
    if (this.mode === 'review') {
      if (this.reviews.fixing) return null;
      return `You are reviewing this answer. Accept or reject it, or press ${hint('reviewFix')} to fix it.`;
    }
    if (session.mine(local) || session.alone) return null;
    const review = session.reviews ? ', or review it' : '';
    return `This answer belongs to ${local.author.name}. Ask the question yourself to give your own${review}.`;
  }

  /** Which keys hold beside those of everybody. */
  get keys() {
    return this.mode === 'review' && this.reviews.open && !this.reviews.fixing ? 'review' : null;
  }

  /** The question that is being asked for the task in hand. */
  get expected() {
    return this.mode === 'queue' ? this.tasks.task?.question.text : undefined;
  }

  /** What is open is not what is in hand. */
  get elsewhere() {
    const { mode, reviews, library } = this,
      { local } = this.answer,
      { task } = this.tasks;
    if (this.desk?.busy) return false;
    if (mode === 'review') return reviews.annotation !== null && !reviews.here;
    if (mode !== 'queue' || !task) return false;
    return library.document?.id !== task.document_id || Boolean(local && local.question.text !== task.question.text);
  }

  // --- coming and going

  /** After a reload one goes on where one was. */
  async resume() {
    this.tasks.count();
    const { before } = this;
    this.before = null;
    // Chosen while the project was still on its way.
    if (this.desk && !this.desk.held && !this.desk.busy) return this.desk.next();
    if (!before?.mode || before.project !== this.library.project?.id || before.mode === 'free') return;
    if (before.mode === 'review' && !this.session.reviews) return;
    this.mode = before.mode;
    this.ports.changed();
    await this.desk?.resume(before.task ?? before.annotation);
  }

  remember() {
    const { mode, tasks, reviews, library } = this;
    const now = { mode, project: library.project?.id, task: tasks.task?.id, annotation: reviews.annotation };
    if (this.before || same(now, this.remembered)) return;
    this.remembered = now;
    remember('session', REMEMBERED, now);
  }

  /** Somebody has answered tasks, or their questions were changed: perhaps the one in hand. */
  async tasksChanged() {
    await Promise.all([this.tasks.count(), this.tasks.lease?.beat()]);
  }

  /** @param {Mode} mode */
  async enter(mode) {
    if (mode === this.mode) return;
    this.desk?.leave();
    this.mode = mode;
    this.ports.changed();
    if (this.desk) await this.desk.next();
    else this.tasks.count();
  }

  /** Another project was chosen: what is leased in this one goes back. */
  projectChanged() {
    this.desk?.leave();
    this.mode = 'free';
    this.tasks.counts = null;
    this.tasks.count();
  }

  // --- opening what is handed out

  /**
   * @param {LeasedTask | null} task
   * @param {string | null} annotation
   * @param {string | null} page
   */
  async openTask(task, annotation, page) {
    const { navigation, library } = this;
    if (annotation) {
      await this.openAnswer(annotation, task?.document_id ?? null, page);
      return annotation;
    }
    if (!task) return null;
    if (task.document_id !== library.document?.id) await navigation.document(task.document_id, null);
    else this.answer.close();
    if (library.document?.id === task.document_id) await navigation.page(library.page?.id);
    if (library.document?.id !== task.document_id) return null; // somebody has opened another one meanwhile
    return (await navigation.ask(task.question.text, true))?.id ?? null;
  }

  /**
   * @param {string} annotation
   * @param {string | null} document
   * @param {string | null} page
   */
  async openAnswer(annotation, document, page) {
    const { navigation, library } = this;
    document ??= (await this.answer.peek(annotation)).document_id;
    if (document === library.document?.id) library.refresh();
    else if (!(await navigation.document(document, null))) return;
    await navigation.annotation(annotation, page);
    this.ports.focusPage();
  }

  async again() {
    const { desk } = this;
    if (desk?.held || desk?.annotation) await desk.show();
    else await desk?.next();
  }

  next() {
    return this.desk ? this.desk.next() : this.navigation.next();
  }

  // --- deciding

  /** Accepts the open answer; one that is decided already leads on to the next. */
  accept() {
    const { answer, lock } = this,
      { local } = answer;
    if (this.mode === 'review') return this.judge(this.reviews.fixing ? 'fixed' : 'accepted');
    if (lock) return this.ports.tell(lock);
    if (!local || !answer.accept()) return;
    const { decision } = answer,
      said = this.queue.failures ? this.waitingSentence : this.session.submits ? 'Submitted for review.' : 'Accepted.',
      late = ANSWERED.test(this.tasks.lease?.lost ?? '') && this.mode === 'queue' ? LATE : '';
    if (decision) this.ports.tell(said + late, { label: 'Undo', run: () => this.takeBack(decision) });
    const { annotation, task } = this.tasks;
    const inHand = this.mode === 'queue' && (annotation === local.id || task?.question.text === local.question.text);
    if (inHand && !this.ports.stays()) this.ports.act(() => this.onward(local.id));
  }

  /** What becomes of a decision that the server cannot take now. */
  get waitingSentence() {
    const done = this.session.submits ? 'submitted' : 'accepted';
    const when = this.queue.loggedOut ? 'you log in again' : 'the server responds';
    return `Kept in this browser; the answer is ${done} when ${when}.`;
  }

  /**
   * A question was removed. Where it was in hand, the next piece of work opens.
   *
   * @param {import('../state/answer.js').Decision} decision
   */
  removed(decision) {
    const undo = { label: 'Undo', run: () => this.takeBack(decision) };
    this.ports.tell(`The question “${decision.question}” was removed.`, undo);
    const { desk } = this;
    if (desk?.annotation === decision.annotation) this.ports.act(() => desk.next());
  }

  /** @param {import('../state/answer.js').Decision} decision */
  takeBack(decision) {
    if (this.decided === decision.annotation) this.decided = null;
    this.answer.decision = null;
    this.ports.act(() => this.navigation.takeBack(decision));
  }

  /** @param {ReviewRequest['verdict']} verdict */
  judge(verdict) {
    const { annotation } = this.reviews;
    if (annotation && this.reviews.judge(verdict)) this.ports.act(() => this.onward(annotation));
  }

  /**
   * The reviewer's fix goes on top of what the author saved meanwhile.
   *
   * @param {AnnotationView} saved
   * @param {VerdictWords} verdict
   */
  judgeOnTop(saved, verdict) {
    this.reviews.verdict.sendOnTop(saved, verdict);
    return this.onward(saved.id);
  }

  /**
   * On to the next one as soon as the server has this one.
   *
   * @param {string} annotation
   */
  async onward(annotation) {
    const { desk } = this;
    if (!(await this.stored(annotation))) {
      if (this.queue.halted.has(annotation)) return;
      this.decided = annotation;
      return this.ports.tell(
        this.queue.loggedOut
          ? 'Your login has ended. The answer is kept in this browser and sent when you log in again.'
          : 'Saved in this browser. The next item opens when the server responds.',
      );
    }
    if (desk && desk === this.desk && desk.annotation === annotation && !this.takenBack(annotation)) await desk.next();
  }

  /**
   * The decision was taken back before the next one could open.
   *
   * @param {string} annotation
   */
  takenBack(annotation) {
    const { local } = this.answer;
    return local?.id === annotation && local.status === 'draft';
  }

  /**
   * Resolves to whether everything for an annotation is stored; false where it has to wait: no network, no login, a
   * conflict.
   *
   * @param {string} annotation
   */
  async stored(annotation) {
    const { queue } = this;
    let { failures } = queue;
    queue.retry();
    while (queue.of(annotation).length && !queue.halted.has(annotation) && queue.failures <= failures) {
      failures = queue.failures;
      await new Promise((heard) => this.waiting.push(() => heard(null)));
    }
    return !queue.of(annotation).length;
  }

  /** Something has changed in the save queue. */
  heard() {
    for (const heard of this.waiting.splice(0)) heard();
  }

  /**
   * The server has stored something.
   *
   * @param {QueuedItem} item
   */
  saved(item) {
    if (item.kind === 'verdict') this.reviews.drafts.drop(item.annotation);
    this.goOn(item.annotation);
  }

  /**
   * What was decided without network is stored now: on to the next one, if nothing else was opened meanwhile.
   *
   * @param {string} annotation
   */
  goOn(annotation) {
    if (this.decided !== annotation || this.queue.of(annotation).length) return;
    this.decided = null;
    const { desk } = this,
      { local } = this.answer;
    if (desk?.annotation === annotation && local?.id === annotation && local.status !== 'draft') {
      this.ports.act(() => desk.next());
    }
  }

  destroy() {
    this.tasks.destroy();
    this.reviews.destroy();
  }
}
