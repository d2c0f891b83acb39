// Opening projects, documents, answers and pages, and asking. What is opened last wins: an answer for what was left comes too late.

import { get } from '../core/api.js';
import { chosenProject } from '../core/chosen_project.js';
import { isBlank } from './marks.js';
import { KEPT_WORDS } from './pages.js';

const LOOK = 150; // milliseconds between two looks whether a hand is free
const SLOW = 250; // milliseconds before a page that does not come is announced

export class Opening {
  constructor(workspace) {
    this.workspace = workspace;
    this.slow = null; // the timer of that announcement
    this.going = null; // the project that is being opened
  }

  async follow(route) {
    const { library, answers } = this.workspace;
    if (route.document) {
      const here = route.document === library.document?.id;
      if (!here && !(await this.document(route.document, route.annotation ? null : route.page))) return;
      if (route.annotation && route.annotation !== answers.local?.id)
        await this.annotation(route.annotation, route.page);
    } else if (library.documents?.length) await this.document(library.documents[0].id);
  }

  // The address was changed by hand or by a link: it may name another project.
  async moved(route) {
    const { library } = this.workspace;
    if (!route.project || route.project === library.project?.id) return this.follow(route);
    this.going = route.project;
    try {
      if (!library.projects.some((each) => each.id === route.project)) await library.refreshProjects();
      await this.project(route.project, route);
    } finally {
      if (this.going === route.project) this.going = null;
    }
  }

  async project(id, route = {}) {
    const { library, answers, mending, desk } = this.workspace;
    this.going = id;
    try {
      if (!mending.leave() || !(await library.choose(id))) return;
      answers.close();
      this.blank();
      desk.projectChanged();
      await this.follow(route);
      library.remember(answers.local?.id);
      this.workspace.render();
    } finally {
      if (this.going === id) this.going = null;
    }
  }

  // The workspace comes into sight: a project may have been made, or chosen, on another tab of the page meanwhile. A queue or a review is left
  // by those alone who are in it: what they have in hand would go back.
  async seen() {
    const { library, desk } = this.workspace;
    await library.refreshProjects();
    const { project, projects } = library;
    const chosen = projects.find((each) => each.id === chosenProject()) ?? project ?? projects[0];
    if (chosen && chosen.id !== project?.id && !this.going && desk.mode === 'free')
      await this.workspace.act(() => this.project(chosen.id));
  }

  // Until nobody has a stroke or a word in hand: what comes by itself must not take it away.
  async handsFree() {
    while (this.workspace.mending.editor.open || this.workspace.stage.stroking)
      await new Promise((later) => setTimeout(later, LOOK));
  }

  blank() {
    clearTimeout(this.slow);
    this.workspace.stage.blank();
  }

  // page: null leaves it to the caller which page to open. Resolves to whether this document is open now, and not another one.
  async document(id, page) {
    const { library, answers, mending } = this.workspace;
    this.workspace.menu(false);
    if (!mending.leave()) return false;
    try {
      if (!(await library.openDocument(id))) return false;
    } catch (error) {
      // It has stopped a page that was on its way.
      if (library.page && !library.image) this.workspace.act(() => this.page(library.page.id));
      throw error;
    }
    answers.close();
    this.blank();
    const [first] = library.document.annotations;
    if (page === undefined && first) await this.annotation(first.id);
    else if (page !== null) await this.page(page);
    return library.document?.id === id;
  }

  async annotation(id, page, options = {}) {
    const { answers, mending, queue } = this.workspace;
    if (!mending.leave()) return;
    await answers.open(id, page, options);
    if (answers.local?.id !== id) return; // somebody has opened another one meanwhile
    this.workspace.library.note(answers.local);
    if (queue.halted.has(id)) await this.workspace.deciding.compare();
  }

  async page(id) {
    const { library, answers, stage, mending, drawing } = this.workspace;
    this.workspace.menu(false);
    if (!mending.leave()) return this.workspace.paint();
    clearTimeout(this.slow);
    this.slow = setTimeout(() => drawing.notice({ title: `Opening page ${library.page?.number ?? ''}…` }), SLOW);
    const opening = library.openPage(id),
      { turn } = library;
    try {
      if (!(await opening)) return;
      drawing.notice(null);
      stage.show(library.page, library.image, library.words);
      this.workspace.paint();
      const box = answers.markOn(library.page.id).mask.box;
      if (box[2] > box[0] && !stage.view.fitted) stage.reveal(box);
      library.remember(answers.local?.id);
    } catch (error) {
      if (turn !== library.turn) return; // another page is on its way, or stands already
      stage.blank();
      drawing.notice({
        title: 'The page could not be loaded',
        sentence: error.message,
        action: ['Try again', () => this.workspace.act(() => this.page(id))],
      });
    } finally {
      if (turn === library.turn) clearTimeout(this.slow);
      this.workspace.render();
    }
    this.readMarkedPages();
  }

  // The text under the marks needs the words of every marked page.
  async readMarkedPages() {
    const { local } = this.workspace.answers;
    if (!local) return;
    const wanted = Object.keys(local.pages).filter((page) => !isBlank(local.pages[page]));
    if (wanted.length >= KEPT_WORDS) return; // the server's reading stands for so many
    await Promise.all(wanted.map((page) => this.workspace.pages.wordsOf(page))).catch(() => {});
    this.workspace.render();
  }

  async uploaded(uploads) {
    const { library } = this.workspace;
    await library.loadDocuments();
    await this.handsFree();
    const answers = uploads.filter((each) => each.project === library.project?.id); // others went into the project left since
    const first = answers.find((each) => each.created) ?? answers[0];
    if (!first || (answers.length > 1 && library.document)) return;
    if (await this.document(first.document_id)) this.workspace.box.focus();
  }

  // The last page of a document that was opened early has come in.
  async whole(document) {
    this.workspace.render();
    if (document.warnings.length) this.workspace.toasts.show(document.warnings[0]);
    await this.workspace.library.loadDocuments();
  }

  // Returns the annotation; null where nothing could be asked.
  async ask(text, whole) {
    const { library, answers, stage, mending, toasts } = this.workspace;
    if (!mending.leave()) return null;
    const annotation = await answers.ask(text, whole);
    if (!annotation) return null;
    library.loadDocuments().catch(() => {});
    this.workspace.render();
    if (answers.local?.id === annotation.id) {
      library.note(answers.local);
      this.workspace.box.clear();
      stage.canvas.focus({ preventScroll: true });
    } else {
      library.note({ ...annotation, no_answer: annotation.state.no_answer });
      const place = annotation.document_id === library.document?.id ? 'in the list of questions' : 'with its document';
      toasts.show(`“${annotation.question.text}” is answered. Find the answer ${place}.`);
    }
    return annotation;
  }

  async next() {
    const { library, answers, stage, queue, toasts } = this.workspace;
    const { project } = library;
    if (!project) return;
    const after = answers.local?.id;
    await queue.flush();
    const next = await get('/projects/{project_id}/next', { project_id: project.id, after });
    if (!next.annotation_id) return toasts.show(next.reason);
    if (next.document_id !== library.document?.id && !(await this.document(next.document_id, null))) return;
    await this.annotation(next.annotation_id, next.page_id);
    stage.canvas.focus({ preventScroll: true });
  }

  // Opens an answer that waits for a decision.
  async backTo(id) {
    const [item] = this.workspace.queue.of(id);
    if (item && item.document !== this.workspace.library.document?.id && !(await this.document(item.document, null)))
      return;
    await this.annotation(id);
  }
}
