// The workspace: joins library, answers, stage and panels. State lives in the first two; here is who hears whom.

import { get, put } from './api.js';
import { AnswerCard } from './answer_card.js';
import { Answers } from './answers.js';
import { makeCommands } from './commands.js';
import { openConflict } from './conflict.js';
import { Cursor } from './cursor.js';
import { DocumentList } from './documents.js';
import { h, replace } from './dom.js';
import { Effort } from './effort.js';
import { icon } from './icons.js';
import { Keyboard } from './keyboard.js';
import { buildLayout, followTabs } from './layout.js';
import { Library } from './library.js';
import { isBlank, opened } from './marks.js';
import { Pages } from './pages.js';
import { PageStrip } from './page_strip.js';
import { QuestionBox, QuestionList } from './question_box.js';
import { SaveQueue } from './sync.js';
import { Stage } from './stage.js';
import { EditStore } from './store.js';
import { Toasts } from './toast.js';
import { Toolbar } from './toolbar.js';
import { Uploads } from './uploads.js';

export class Workspace {
  constructor(root) {
    this.root = root;
    this.rooms = buildLayout(root);
    this.unfollow = followTabs(root);
    this.toasts = new Toasts(root);
    this.pages = new Pages();
    this.library = new Library(this.pages, () => this.render());
    this.stage = new Stage(this.rooms.stage, {
      stroke: (stroke, before) => this.stroke(stroke, before),
      originOf: (mark) => this.answers.originOf(this.library.page.id, mark),
      moved: () => this.render(),
      locked: () => this.explainLock(),
    });
    this.cursor = new Cursor(this.stage, (text) => (this.rooms.spoken.textContent = text));
    this.commands = makeCommands(this);
    this.toolbar = new Toolbar(this.rooms.toolbar, (name, value) => this.commands[name](value));
    this.documentList = new DocumentList(this.rooms.documents, {
      open: (id) => this.act(() => this.openDocument(id)),
      upload: () => this.uploads.choose(),
      project: (id) => this.act(() => this.switchProject(id)),
    });
    this.strip = new PageStrip(this.rooms.strip, (id) => this.act(() => this.openPage(id)));
    this.box = new QuestionBox(this.rooms.ask, { ask: (text, whole) => this.act(() => this.ask(text, whole)), accept: () => this.commands.accept() });
    this.card = new AnswerCard(this.rooms.answer, {
      accept: () => this.commands.accept(),
      next: () => this.commands.next(),
      noAnswer: () => this.answers.noAnswer(),
      candidate: (at) => this.answers.candidate(at),
      page: (id) => this.act(() => this.openPage(id)),
      askHere: () => this.answers.askHere(),
      compare: () => this.act(() => this.compare()),
    });
    this.questionList = new QuestionList(this.rooms.questions, (id) => this.act(() => this.openAnnotation(id)));
    this.uploads = new Uploads(root, this.documentList.uploads, {
      project: () => this.library.project?.id,
      done: (answers) => this.act(() => this.uploaded(answers)),
      failed: (sentence) => this.toasts.show(sentence, 'error'),
    });
    this.keyboard = new Keyboard(root, this.commands, (held, event) => this.space(held, event));
    this.rooms.dim.addEventListener('click', () => this.menu(false));
    this.onHash = () => this.act(() => this.follow(Library.route()));
    window.addEventListener('hashchange', this.onHash);
  }

  async start(project) {
    const route = Library.route();
    try {
      const [{ user }, store] = await Promise.all([get('/me'), EditStore.open()]);
      this.queue = new SaveQueue(store, user.id, (item) => this.send(item), {
        changed: () => this.renderSaved(),
        saved: (item, answer) => this.saved(item, answer),
        conflict: (annotation) => this.halted(annotation),
        loggedOut: (error) => this.toasts.show(error.message, 'error', { label: 'Log in', run: () => window.open('/login', '_blank') }),
        notKept: () => this.toasts.show('This browser refuses to keep unsaved edits; leave the page open until they are saved.', 'error'),
      });
      this.answers = new Answers({
        pages: this.pages, queue: this.queue, effort: new Effort(), place: this.library,
        hear: {
          changed: () => this.render(),
          mark: () => (this.paint(), this.render()),
          prompts: (mark) => this.stage.setMark({ ...this.answers.markOn(this.library.page.id), points: mark.points, boxes: mark.boxes }, this.stage.origin),
          open: (page) => this.act(() => this.openPage(page)),
          tell: (sentence) => this.toasts.show(sentence),
          error: (error) => this.toasts.error(error),
        },
      });
      await this.queue.load();
      await this.library.loadProjects(project ?? route.project);
      await this.follow(route);
    } catch (error) {
      this.notice({ title: 'The workspace cannot be opened', sentence: error.message, action: ['Try again', () => location.reload()] });
    }
    this.root.dataset.started = 'on';
    this.render();
  }

  // Runs something that may fail, and says the sentence where it does.
  async act(step) {
    try {
      await step();
    } catch (error) {
      this.toasts.error(error);
      this.render();
    }
  }

  // --- opening

  async follow(route) {
    if (route.document) {
      if (route.document !== this.library.document?.id) await this.openDocument(route.document, route.annotation ? null : route.page);
      if (route.annotation && route.annotation !== this.answers.local?.id) await this.openAnnotation(route.annotation, route.page);
    } else if (this.library.documents?.length) await this.openDocument(this.library.documents[0].id);
  }

  async switchProject(id) {
    this.answers.close();
    this.stage.blank();
    await this.library.choose(id);
    await this.follow({});
    this.library.remember(null);
    this.render();
  }

  // page: null leaves it to the caller which page to open
  async openDocument(id, page) {
    this.menu(false);
    this.answers.close();
    if (!(await this.library.openDocument(id))) return;
    this.stage.blank();
    const [first] = this.library.document.annotations;
    if (page === null) return;
    if (page === undefined && first) return this.openAnnotation(first.id);
    await this.openPage(page);
  }

  async openAnnotation(id, page) {
    await this.answers.open(id, page);
    if (this.answers.local?.id !== id) return; // somebody has opened another one meanwhile
    this.library.note(this.answers.local);
    if (this.queue.halted.has(id)) await this.compare();
  }

  async openPage(id) {
    this.menu(false);
    const slow = setTimeout(() => this.notice({ title: `Opening page ${this.library.page?.number ?? ''}…` }), 250);
    try {
      if (!(await this.library.openPage(id))) return;
      this.notice(null);
      this.stage.show(this.library.page, this.library.image, this.library.words);
      this.paint();
      const box = this.answers.markOn(this.library.page.id).mask.box;
      if (box[2] > box[0] && !this.stage.view.fitted) this.stage.reveal(box);
      this.library.remember(this.answers.local?.id);
    } catch (error) {
      this.stage.blank();
      this.notice({ title: 'This page cannot be shown', sentence: error.message, action: ['Try again', () => this.act(() => this.openPage(id))] });
    } finally {
      clearTimeout(slow);
      this.render();
    }
    this.readMarkedPages();
  }

  // The text under the marks needs the words of every marked page.
  async readMarkedPages() {
    const { local } = this.answers;
    if (!local) return;
    const wanted = Object.keys(local.pages).filter((page) => !isBlank(local.pages[page]));
    await Promise.all(wanted.map((page) => this.pages.wordsOf(page))).catch(() => {});
    this.render();
  }

  async uploaded(answers) {
    await this.library.loadDocuments();
    const first = answers.find((each) => each.created) ?? answers[0];
    if (first && (answers.length === 1 || !this.library.document)) {
      await this.openDocument(first.document_id);
      this.box.focus();
    }
  }

  async ask(text, whole) {
    if (!(await this.answers.ask(text, whole))) return;
    this.box.clear();
    this.stage.canvas.focus({ preventScroll: true });
    this.library.note(this.answers.local);
    this.library.loadDocuments().catch(() => {});
    this.render();
  }

  async next() {
    const { project } = this.library;
    if (!project) return;
    const after = this.answers.local?.id;
    await this.queue.flush();
    const next = await get(`/projects/${project.id}/next${after ? `?after=${after}` : ''}`);
    if (!next.annotation_id) return this.toasts.show(next.reason);
    if (next.document_id !== this.library.document?.id) await this.openDocument(next.document_id, null);
    await this.openAnnotation(next.annotation_id, next.page_id);
    this.stage.canvas.focus({ preventScroll: true });
  }

  // --- changing and saving

  stroke(stroke) {
    this.answers.stroke(stroke, stroke.prompt ? null : this.stage.current());
  }

  explainLock() {
    if (this.answers.local?.no_answer) this.toasts.show('This question is marked as not answered. Press X to take that back, then mark.');
    else if (this.library.document) this.toasts.show('Ask a question first; then correct its mark.');
  }

  send({ annotation, key, base, action, edits, prediction_id, seconds, interactions }) {
    return put(`/annotations/${annotation}/revisions`, { idempotency_key: key, base, action, edits, prediction_id, seconds, interactions });
  }

  saved(item, answer) {
    this.answers.saved(item, answer);
    if (item.action === 'accept') this.library.loadDocuments().catch(() => {});
    this.render();
  }

  halted(annotation) {
    this.render();
    if (this.answers.local?.id === annotation) this.act(() => this.compare());
  }

  async compare() {
    const id = this.queue.halted.has(this.answers.local?.id) ? this.answers.local.id : this.queue.halted.keys().next().value;
    if (!id || this.root.querySelector('.g-dialog')) return;
    const { kind, sentence, current } = this.queue.halted.get(id);
    if (this.answers.local?.id !== id) {
      const [item] = this.queue.of(id);
      if (item.document !== this.library.document?.id) await this.openDocument(item.document, null);
      return this.openAnnotation(id); // and that comes back here
    }
    const saved = current ?? (await get(`/annotations/${id}`));
    if (this.root.querySelector('.g-dialog')) return;
    const theirs = opened(saved, []), { local } = this.answers;
    const touched = this.queue.of(id).flatMap((item) => Object.keys(item.pages));
    const page = this.library.document.pages.find((each) => each.id === (touched.at(-1) ?? this.library.page.id));
    const [words, image] = await Promise.all([this.pages.wordsOf(page.id), this.pages.imageOf(page.id)]);
    openConflict(this.root, {
      sentence, kind, page, image, words,
      mine: { no_answer: local.no_answer, pages: local.pages, text: this.text() },
      theirs: { ...theirs, who: saved.author?.name },
      keepMine: () => this.act(() => this.answers.keepMine(saved)),
      takeTheirs: () => this.act(() => this.answers.takeTheirs(id)),
    });
  }

  // --- keys and buttons

  escape() {
    this.menu(false);
    this.cursor.drop();
    if (this.root.contains(document.activeElement)) this.stage.canvas.focus({ preventScroll: true });
  }

  // Space held moves the page; a tap without a drag is the keyboard's click.
  space(held, event) {
    const { pointer } = this.stage;
    const tap = !held && pointer.space && !pointer.panned && event;
    pointer.holdSpace(held);
    if (tap) this.cursor.apply(event);
  }

  menu(open) {
    this.rooms.left.dataset.open = open ? 'on' : 'off';
  }

  // --- drawing

  text() {
    const { local } = this.answers;
    if (!local) return '';
    return (this.library.document && this.pages.text(this.library.document.pages, local.pages)) ?? local.text ?? '';
  }

  paint() {
    const { page } = this.library;
    if (!page || this.stage.page?.id !== page.id || !this.library.words) return;
    const mark = this.answers.markOn(page.id), { local } = this.answers;
    this.stage.setMark(mark, this.answers.originOf(page.id, mark), !local || local.no_answer);
  }

  notice(content) {
    this.rooms.notice.hidden = !content;
    if (!content) return;
    replace(this.rooms.notice, h('b', {}, content.title), content.sentence && h('span', {}, content.sentence),
      content.action && h('button', { class: 'g-button', on: { click: content.action[1] } }, content.action[0]));
  }

  render() {
    if (this.waiting) return;
    this.waiting = requestAnimationFrame(() => {
      this.waiting = null;
      if (this.answers) this.renderNow();
    });
  }

  renderNow() {
    const { library, answers, stage } = this, { local } = answers, { document, page } = library;
    const waiting = new Set(this.queue.items.map((item) => item.annotation));
    if (local) library.note(local, this.text());
    const marks = local ? Object.fromEntries(Object.entries(local.pages).filter(([, mark]) => !isBlank(mark)).map(([id, mark]) => [id, answers.originOf(id, mark)])) : {};
    const chances = Object.fromEntries((local?.ranked ?? []).map((each) => [each.page_id, each.answered]));
    this.documentList.render({ projects: library.projects, project: library.project, documents: library.documents, open: document?.id });
    this.strip.render({ document, page, marks, chances });
    this.box.render({ document, asking: answers.asking });
    this.questionList.render({ document, annotations: document?.annotations ?? [], annotation: local?.id, pending: waiting });
    this.card.render({
      document, annotation: local, text: this.text(), page, proposal: answers.proposal, choices: answers.choices, chosen: answers.chosen, refining: answers.refining,
      ranked: local?.ranked ?? [], marked: Boolean(page && marks[page.id]), pending: local && waiting.has(local.id),
      pages: (document?.pages ?? []).map((each) => ({ ...each, origin: marks[each.id] })),
    });
    this.toolbar.render({
      tool: stage.tool, radius: stage.radius, editable: Boolean(local && page && !local.no_answer), marked: Boolean(page && marks[page.id]),
      ...(local && page ? answers.histories.can(local.id, page.id) : { undo: false, redo: false }),
      number: page?.number, pages: document?.pages.length ?? 0, scale: stage.view.scale,
    });
    this.rooms.stage.dataset.tool = local && !local.no_answer ? stage.tool : 'none';
    this.rooms.stage.dataset.refining = String(answers.refining);
    if (!document && library.documents && this.rooms.notice.hidden !== false) this.welcome();
    this.renderSaved();
    this.root.dataset.ready = page && stage.page?.id === page.id ? page.id : '';
  }

  welcome() {
    if (this.library.documents.length) return this.notice({ title: 'Choose a document', sentence: 'Its first page opens here.' });
    replace(this.rooms.notice, icon('upload', 40), h('b', {}, 'Start with a document'), h('span', {}, 'Drop PDFs or scans anywhere in this window. Then ask it something: the answer is marked on the page.'),
      h('button', { class: 'g-button g-primary', on: { click: () => this.uploads.choose() } }, 'Choose files'));
    this.rooms.notice.hidden = false;
  }

  renderSaved() {
    const { queue } = this;
    this.card.renderSaved({ state: queue.state, number: queue.items.length, at: queue.savedAt, lasting: queue.store.lasting });
  }

  destroy() {
    this.unfollow();
    this.stage.destroy();
    this.keyboard.destroy();
    window.removeEventListener('hashchange', this.onHash);
  }
}
