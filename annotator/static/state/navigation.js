// Opening projects, documents, answers and pages, and asking. What is opened last wins: an answer for what was left
// comes too late.

import { get, post, remove } from '../core/api.js';
import { chosenProject } from '../core/chosen_project.js';
import { sentenceOf } from '../core/api.js';
import { isBlank } from './marks.js';
import { KEPT_WORDS } from './pages.js';

/** @import { AnnotationView, Box, PageLine, Words } from '../types' */
/** @import { Route } from '../core/route.js' */
/** @import { SaveQueue } from '../sync/save_queue.js' */
/** @import { Decision, OpenAnswer } from './answer.js' */
/** @import { Library } from './library.js' */
/** @import { Pages } from './pages.js' */

const SETTLED = 300; // milliseconds after which a document that was fetched in advance is fetched again
const LOOK = 150; // milliseconds between two looks whether a hand is free
const SLOW = 250; // milliseconds before a page that does not come is announced

/**
 * What stands in the middle instead of a page.
 *
 * @typedef {{ title: string, sentence?: string, action?: [label: string, run: () => void] }} Notice
 */

/**
 * @typedef {object} NavigationPorts
 * @property {(step: () => unknown) => void} act runs what may fail, and says so
 * @property {() => void} changed
 * @property {(sentence: string) => void} tell
 * @property {(notice: Notice | null) => void} notice
 * @property {() => void} blank no page is shown
 * @property {(page: PageLine, image: ImageBitmap, words: Words) => void} show
 * @property {(box: Box) => void} reveal brings a mark into sight, unless the whole page is
 * @property {() => void} paint the mark is drawn
 * @property {() => void} focusPage
 * @property {() => void} focusQuestion
 * @property {() => void} asked the question was taken: its field is emptied
 * @property {() => boolean} busy somebody has a stroke or a word in hand
 * @property {() => boolean} leave keeps the word that is being written; false where it cannot be kept as it is
 * @property {() => boolean} free nothing is handed out in this window
 * @property {() => void} left another project was opened
 * @property {() => Promise<unknown>} compare shows the versions of an answer that waits for a decision
 * @property {() => void} closeMenu
 * @property {(decision: Decision) => void} removed a question was removed: that is said, with the way back
 */

export class Navigation {
  /** @type {ReturnType<typeof setTimeout> | undefined} until a slow page is announced */
  slow = undefined;
  /** @type {string | null} the project that is being opened */
  going = null;
  /** @type {Promise<unknown> | null} the first document of a project, which opens by itself */
  first = null;

  /**
   * @param {object} parts
   * @param {Library} parts.library
   * @param {OpenAnswer} parts.answer
   * @param {Pages} parts.pages
   * @param {SaveQueue} parts.queue
   * @param {NavigationPorts} parts.ports
   */
  constructor({ library, answer, pages, queue, ports }) {
    this.library = library;
    this.answer = answer;
    this.pages = pages;
    this.queue = queue;
    this.ports = ports;
  }

  /** @param {Partial<Route>} route */
  async follow(route) {
    const { library, answer } = this;
    if (route.document) {
      const here = route.document === library.document?.id;
      // Without a page, the document opens as from its list; null would leave the page to us.
      if (!here && !(await this.document(route.document, route.annotation ? null : (route.page ?? undefined)))) return;
      if (here && !route.annotation && route.page && route.page !== library.page?.id) return this.page(route.page);
      if (route.annotation && route.annotation !== answer.local?.id)
        await this.annotation(route.annotation, route.page);
    } else {
      const [newest] = library.listed.lines ?? [];
      if (newest) await this.document(newest.id);
    }
  }

  /**
   * The address was changed by hand or by a link: it may name another project.
   *
   * @param {Route} route
   */
  async moved(route) {
    const { library } = this;
    if (!route.project || route.project === library.project?.id) return this.follow(route);
    this.going = route.project;
    try {
      if (!library.projects.some((each) => each.id === route.project)) await library.refreshProjects();
      await this.project(route.project, route);
    } finally {
      if (this.going === route.project) this.going = null;
    }
  }

  /**
   * @param {string} id
   * @param {Partial<Route>} [route] what to open in it
   */
  async project(id, route = {}) {
    const { library, answer } = this;
    this.going = id;
    try {
      if (!this.ports.leave() || !(await library.choose(id))) return;
      answer.close();
      this.blank();
      this.ports.left();
      await this.follow(route);
      library.remember(answer.local);
      this.ports.changed();
    } finally {
      if (this.going === id) this.going = null;
    }
  }

  /**
   * The workspace comes into sight: a project may have been made, or chosen, on another tab of the page meanwhile. A
   * queue or a review is left by those alone who are in it: what they have in hand would go back.
   */
  async seen() {
    const { library } = this,
      wanted = chosenProject();
    if (!library.projects.some((each) => each.id === wanted)) await library.refreshProjects();
    const chosen = library.projects.find((each) => each.id === wanted) ?? library.project ?? library.projects[0];
    if (!chosen || chosen.id === library.project?.id || this.going || !this.ports.free()) return;
    await this.project(chosen.id);
  }

  /** Until nobody has a stroke or a word in hand: what comes by itself must not take it away. */
  async handsFree() {
    while (this.ports.busy()) await new Promise((later) => setTimeout(later, LOOK));
  }

  blank() {
    clearTimeout(this.slow);
    this.ports.blank();
  }

  /**
   * Resolves to whether this document is open now, and not another one.
   *
   * @param {string} id
   * @param {string | null} [page] null leaves it to the caller which page to open
   */
  async document(id, page) {
    const { library, answer } = this;
    this.ports.closeMenu();
    if (!this.ports.leave()) return false;
    const fetchedBefore = library.isExpected(id);
    try {
      if (!(await library.openDocument(id))) return false;
    } catch (error) {
      // It has stopped a page that was on its way.
      const { page: open } = library;
      if (open && !library.image) this.ports.act(() => this.page(open.id));
      throw error;
    }
    answer.close();
    this.blank();
    // Others may have answered, or turned a page, since it was fetched.
    if (fetchedBefore) setTimeout(() => library.document?.id === id && this.refresh(), SETTLED);
    const first = library.document?.annotations[0];
    if (page === undefined && first) await this.annotation(first.id);
    else if (page !== null) await this.page(page);
    return library.document?.id === id;
  }

  /**
   * @param {string} id
   * @param {string | null} [page]
   * @param {{ patient?: boolean }} [options] see OpenAnswer.open
   */
  async annotation(id, page, options = {}) {
    const { answer } = this;
    if (!this.ports.leave()) return;
    await answer.open(id, page, options);
    if (answer.local?.id !== id) return; // somebody has opened another one meanwhile
    this.library.note(answer.local);
    if (this.queue.halted.has(id)) await this.ports.compare();
  }

  /** @param {string | null | undefined} id the first page, where it is not in the document */
  async page(id) {
    const { library, answer, ports } = this;
    ports.closeMenu();
    if (!ports.leave()) return ports.paint();
    clearTimeout(this.slow);
    this.slow = setTimeout(() => ports.notice({ title: `Opening page ${library.page?.number ?? ''}…` }), SLOW);
    const opening = library.openPage(id),
      { turn } = library;
    try {
      if (!(await opening)) return;
      const { page, image, words } = library;
      if (!page || !image || !words) return;
      ports.notice(null);
      ports.show(page, image, words);
      ports.paint();
      const { box } = answer.markOn(page.id).mask;
      if (box[2] > box[0]) ports.reveal(box);
      library.remember(answer.local);
    } catch (error) {
      if (turn !== library.turn) return; // another page is on its way, or stands already
      ports.blank();
      const again = () => ports.act(() => this.page(id));
      ports.notice({
        title: 'The page could not be loaded',
        sentence: sentenceOf(error),
        action: ['Try again', again],
      });
    } finally {
      if (turn === library.turn) clearTimeout(this.slow);
      ports.changed();
    }
    this.readMarkedPages();
  }

  /** The text under the marks needs the words of every marked page. */
  async readMarkedPages() {
    const { local } = this.answer;
    if (!local) return;
    const wanted = Object.entries(local.pages).flatMap(([page, mark]) => (isBlank(mark) ? [] : [page]));
    if (wanted.length >= KEPT_WORDS) return; // the server's reading stands for so many
    await Promise.all(wanted.map((page) => this.pages.wordsOf(page))).catch(() => {});
    this.ports.changed();
  }

  /**
   * A file has become a document: its line comes into the list, and it is opened where none is.
   *
   * @param {{ document_id: string, project: string }} upload
   */
  async stored({ document_id: id, project }) {
    const { library } = this;
    if (project !== library.project?.id) return;
    await library.refreshLines([id]);
    if (this.first || library.document || project !== library.project?.id) return;
    const opening = this.document(id).then((opened) => opened && this.ports.focusQuestion());
    this.first = opening.finally(() => (this.first = null));
    this.ports.act(() => this.first);
  }

  /**
   * The first document of a drop is opened, where it was the only one, or none was open.
   *
   * @param {{ document_id: string, project: string, created: boolean }[]} uploads
   */
  async uploaded(uploads) {
    const { library } = this;
    // Others went into the project left since.
    const here = uploads.filter((each) => each.project === library.project?.id);
    await library.refreshLines(here.map((each) => each.document_id));
    await this.first?.catch(() => {});
    await this.handsFree();
    const first = here.find((each) => each.created) ?? here[0];
    if (!first || library.document?.id === first.document_id || (here.length > 1 && library.document)) return;
    if (await this.document(first.document_id)) this.ports.focusQuestion();
  }

  /**
   * Returns the annotation; null where nothing could be asked.
   *
   * @param {string} text
   * @param {boolean} whole of the whole document, not of the open page alone
   * @returns {Promise<AnnotationView | null>}
   */
  async ask(text, whole) {
    const { library, answer } = this;
    if (!this.ports.leave()) return null;
    const annotation = await answer.ask(text, whole);
    if (!annotation) return null;
    this.ports.changed();
    if (answer.local?.id === annotation.id) {
      library.note(answer.local);
      this.ports.asked();
      this.ports.focusPage();
    } else {
      library.note({ ...annotation, no_answer: annotation.state.no_answer });
      const here = annotation.document_id === library.document?.id;
      const place = here ? 'in the list of questions' : 'with its document';
      this.ports.tell(`“${annotation.question.text}” is answered. Find the answer ${place}.`);
    }
    return annotation;
  }

  async next() {
    const { library, answer } = this,
      { project } = library;
    if (!project) return;
    const after = answer.local?.id;
    await this.queue.flush();
    const next = await get('/projects/{project_id}/next', { project_id: project.id, after });
    if (!next.annotation_id || !next.document_id) return this.ports.tell(next.reason ?? 'No open answers left.');
    if (next.document_id !== library.document?.id && !(await this.document(next.document_id, null))) return;
    await this.annotation(next.annotation_id);
    this.ports.focusPage();
  }

  /**
   * Opens an answer that waits for a decision.
   *
   * @param {string} id
   */
  async backTo(id) {
    const [item] = this.queue.of(id);
    if (item && item.document !== this.library.document?.id && !(await this.document(item.document, null))) return;
    await this.annotation(id);
  }

  /** Removes the open question from its document, with its answer. It can be taken back. */
  async remove() {
    const { library, answer, queue } = this,
      { local } = answer;
    if (!local || !this.ports.leave()) return;
    const { id: annotation, document_id: document, question } = local;
    await queue.flush();
    if (queue.of(annotation).length)
      return this.ports.tell('This question has unsaved edits. Try again once they are saved.');
    await remove('/annotations/{annotation_id}', { annotation_id: annotation, base: local.head });
    const decision = { annotation, document, question: question.text, removed: true };
    if (library.document?.id === document) {
      library.document.annotations = library.document.annotations.filter((each) => each.id !== annotation);
    }
    if (answer.local === local) answer.close();
    answer.decision = decision;
    this.ports.paint();
    this.ports.changed();
    this.ports.removed(decision);
  }

  /**
   * Opens the answer that was decided last in this window, and takes the decision back.
   *
   * @param {Decision} decision
   */
  async takeBack({ annotation, document, removed }) {
    if (removed) await post('/annotations/{annotation_id}/restore', { annotation_id: annotation }, undefined);
    if (document !== this.library.document?.id && !(await this.document(document, null))) return;
    if (removed) {
      await this.annotation(annotation);
      return this.ports.focusPage();
    }
    if (this.answer.local?.id !== annotation) await this.annotation(annotation);
    if (this.answer.local?.id !== annotation) return;
    this.answer.reopen();
    this.ports.focusPage();
  }

  /** The open page was turned: it is shown anew, with the model's proposals as they lie on it now. */
  async showTurned() {
    const { library, answer } = this,
      { local } = answer,
      page = library.page?.id;
    await this.handsFree();
    if (library.page?.id !== page) return;
    if (local && local === answer.local) await this.annotation(local.id, page, { patient: true });
    else await this.page(page);
  }

  /** Somebody may have changed the answers of the open document, the open one among them. */
  async refresh() {
    const { library, answer, queue } = this,
      { local } = answer;
    const pages = await library.refresh();
    if (library.take(pages)) return this.showTurned();
    const head = library.document?.annotations.find((each) => each.id === local?.id)?.head ?? 0;
    if (!local || head <= local.head) return;
    await this.handsFree();
    const busy = answer.refining || answer.asking || answer.divert || queue.of(local.id).length > 0;
    if (local !== answer.local || head <= local.head || busy) return;
    await this.annotation(local.id, library.page?.id, { patient: true }).catch(() => {});
  }
}
