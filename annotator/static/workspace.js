// The workspace: joins library, answers, stage and panels. State lives in the first two; here is who hears whom.

import { byAuthor, get, post, put } from './core/api.js';
import { appear } from './settings/appearance.js';
import { AnswerCard } from './panels/answer_card.js';
import { Answers } from './state/answer.js';
import { makeCommands } from './commands.js';
import { Cursor } from './canvas/cursor.js';
import { Deciding } from './sync/conflict_resolution.js';
import { Desk } from './tasks/work_mode.js';
import { DocumentList } from './panels/document_list.js';
import { Drawing } from './panels/render_panels.js';
import { Effort } from './sync/effort.js';
import { Incoming } from './sync/incoming_pages.js';
import { Keyboard, hint, keymap } from './core/keyboard.js';
import { buildLayout, followTabs } from './panels/layout.js';
import { Library } from './state/library.js';
import { Mending } from './words/word_edit_mode.js';
import { Opening } from './state/navigation.js';
import { Pages } from './state/pages.js';
import { PageStrip } from './panels/page_strip.js';
import { Preferences } from './settings/preferences.js';
import { QuestionBox } from './panels/question_box.js';
import { QuestionList } from './panels/question_list.js';
import { SaveQueue } from './sync/save_queue.js';
import { Stage } from './canvas/stage.js';
import { EditStore } from './sync/edit_store.js';
import { Toasts } from './core/toast.js';
import { Toolbar } from './panels/toolbar.js';
import { Uploads } from './sync/uploads.js';
import { hull } from './words/words.js';

export class Workspace {
  constructor(root) {
    this.root = root;
    this.rooms = buildLayout(root);
    this.unfollow = followTabs(root);
    this.toasts = new Toasts(root);
    this.preferences = new Preferences();
    this.appear();
    this.pages = new Pages((page, words) => this.mending?.mender.waiting(page, words) ?? words);
    this.library = new Library(this.pages, () => this.render());
    this.incoming = new Incoming(this.library, {
      grown: () => this.render(),
      warned: (sentence) => this.toasts.show(sentence),
      ended: (document) => this.act(() => this.opening.whole(document)),
    });
    this.opening = new Opening(this);
    this.deciding = new Deciding(this);
    this.drawing = new Drawing(this);
    this.stage = new Stage(this.rooms.stage, {
      stroke: (stroke, before) => this.stroke(stroke, before),
      originOf: (mark) => this.answers.originOf(this.stage.page.id, mark),
      mend: (wish) => this.mending.wish(wish),
      moved: () => this.toolbar?.scaled(this.stage.page && this.stage.view.scale),
      drawn: () => this.mending?.editor.place(),
      locked: () => this.explainLock(),
    });
    this.cursor = new Cursor(this.stage, (text) => (this.rooms.spoken.textContent = text));
    this.commands = makeCommands(this);
    this.toolbar = new Toolbar(this.rooms.toolbar, (name, value) => this.commands[name](value));
    this.documentList = new DocumentList(this.rooms.documents, {
      open: (id) => this.act(() => this.opening.document(id)),
      upload: () => this.uploads.choose(),
      project: (id) => this.act(() => this.opening.project(id)),
    });
    this.strip = new PageStrip(this.rooms.strip, {
      open: (id) => this.act(() => this.opening.page(id)),
      stop: () => this.act(() => this.incoming.ask('stop')),
      resume: () => this.act(() => this.incoming.ask('resume')),
    });
    this.box = new QuestionBox(this.rooms.ask, {
      ask: (text, whole) => (this.desk.suggestions.remember(text), this.act(() => this.opening.ask(text, whole))),
      accept: () => this.commands.accept(),
    });
    this.card = new AnswerCard(this.rooms.answer, {
      accept: () => this.commands.accept(),
      next: () => this.commands.next(),
      noAnswer: () => this.answers.noAnswer(),
      history: () => this.commands.history(),
      own: () => this.act(() => this.opening.ask(this.answers.local.question.text, true)),
      askMore: (all) => this.act(() => this.desk.further.ask(all)),
      stop: () => this.desk.further.stop(),
      changed: () => this.render(),
      candidate: (at) => this.answers.candidate(at),
      page: (id) => this.act(() => this.opening.page(id)),
      askHere: () => this.answers.again.askHere(),
      compare: () => this.act(() => this.deciding.compare()),
    });
    this.questionList = new QuestionList(this.rooms.questions, (id) => this.act(() => this.opening.annotation(id)));
    this.uploads = new Uploads(root, this.documentList.uploads, {
      project: () => this.library.project?.id,
      done: (answers) => this.act(() => this.opening.uploaded(answers)),
      failed: (sentence) => this.toasts.show(sentence, 'error'),
    });
    this.keyboard = new Keyboard(
      root,
      this.commands,
      (held, event) => this.space(held, event),
      () => this.desk?.keys,
    );
    this.rooms.dim.addEventListener('click', () => this.menu(false));
    this.onHash = () => this.act(() => this.opening.moved(Library.route()));
    window.addEventListener('hashchange', this.onHash);
  }

  async start(project) {
    const route = Library.route();
    try {
      const [{ user, auth }, store] = await Promise.all([get('/me', {}), EditStore.open()]);
      Object.assign(this.library, { user, alone: auth === 'local' });
      this.queue = new SaveQueue(
        store,
        user.id,
        (item) => (item.kind === 'words' ? this.mending.send(item) : this.send(item)),
        {
          changed: () => (this.drawing.renderSaved(), this.desk?.heard()),
          saved: (item, answer) => this.saved(item, answer),
          conflict: (annotation) => this.deciding.halted(annotation),
          loggedOut: (error) =>
            this.toasts.show(error.message, 'error', { label: 'Log in', run: () => window.open('/login', '_blank') }),
          broken: (error) => (console.error(error), this.toasts.error(error)),
          notKept: () =>
            this.toasts.show(
              'This browser cannot store unsaved edits. Keep the page open until they are saved.',
              'error',
            ),
        },
      );
      this.mending = new Mending(this);
      this.answers = new Answers({
        pages: this.pages,
        queue: this.queue,
        effort: new Effort(),
        place: this.library,
        hear: {
          changed: () => this.render(),
          mark: () => (this.paint(), this.render()),
          prompts: (mark) =>
            this.stage.setMark(
              { ...this.answers.markOn(this.stage.page.id), points: mark.points, boxes: mark.boxes },
              this.stage.origin,
            ),
          open: (page) => this.act(() => this.opening.page(page)),
          tell: (sentence) => this.toasts.show(sentence),
          error: (error) => this.toasts.error(error),
          free: () => this.opening.handsFree(),
          locked: () => Boolean(this.desk.lock) && (this.explainLock(), true),
        },
      });
      this.desk = new Desk(this);
      await Promise.all([this.queue.load(), this.preferences.load(user.id)]);
      this.appear();
      await this.library.loadProjects(project ?? route.project);
      await this.act(() => this.opening.follow(route));
      // The address may name what is not there any more.
      if (!this.library.document) await this.act(() => this.opening.follow({}));
      else if (!this.library.page) await this.act(() => this.opening.page(route.page));
      this.act(() => this.desk.resume());
      this.sight = new IntersectionObserver(
        ([{ isIntersecting }]) => isIntersecting && this.opening.seen().catch(() => {}),
      );
      this.sight.observe(this.root);
    } catch (error) {
      this.drawing.notice({
        title: 'The workspace could not be loaded',
        sentence: error.message,
        action: ['Try again', () => location.reload()],
      });
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

  // --- changing and saving

  stroke(stroke) {
    this.answers.stroke(stroke, stroke.prompt ? null : this.stage.commit(), this.stage.page);
  }

  explainLock() {
    if (this.desk?.lock) return this.toasts.show(this.desk.lock);
    if (this.answers.local?.no_answer)
      this.toasts.show(`This question is marked as not answered. Press ${hint('noAnswer')} to undo that, then mark.`);
    else if (this.library.document) this.toasts.show('Ask a question first, then edit its mark.');
  }

  zoomMark() {
    const { stage } = this;
    if (!stage.page) return;
    const { box } = this.answers.markOn(stage.page.id).mask;
    const wanted = stage.chosen.size
      ? hull(stage.grid.boxesOf([...stage.chosen]))
      : box[2] > box[0]
        ? box
        : stage.grid.boxes[stage.cursor?.word];
    if (wanted) stage.frame(wanted);
    else this.toasts.show('Nothing is marked on this page.');
  }

  // --- one's own keys and colours

  appear() {
    keymap.load(this.preferences.value.keys);
    appear(this.preferences.value);
    this.relabel();
    if (this.stage?.page && this.answers) {
      this.stage.dirty = true;
      this.paint();
    }
    this.stage?.draw();
  }

  // Tooltips name the keys.
  relabel() {
    for (const element of this.root.querySelectorAll('[data-tip]')) {
      element.title = `${element.dataset.tip}   ${hint(element.dataset.command)}`.trim();
    }
    if (this.answers) this.render();
  }

  send({ kind, verdict, annotation, user, key, base, action, edits, prediction_id, seconds, interactions }) {
    if (kind === 'verdict')
      return post(
        '/annotations/{annotation_id}/reviews',
        { annotation_id: annotation },
        { idempotency_key: key, base, ...verdict, edits, seconds },
        byAuthor(user),
      );
    return put(
      '/annotations/{annotation_id}/revisions',
      { annotation_id: annotation },
      { idempotency_key: key, base, action, edits, prediction_id, seconds, interactions },
      byAuthor(user),
    );
  }

  saved(item, answer) {
    if (item.kind === 'words') return this.mending.saved(item, answer);
    this.answers.saved(item, answer);
    this.desk.saved(item);
    if (item.action !== 'edit') this.library.loadDocuments().catch(() => {});
    this.render();
  }

  // --- keys and buttons

  escape() {
    this.menu(false);
    this.cursor.drop();
    this.mending?.editor.choose([]);
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

  paint() {
    const { page } = this.library;
    if (!page || this.stage.page?.id !== page.id || !this.library.words) return;
    const mark = this.answers.markOn(page.id),
      { local } = this.answers;
    this.stage.setMark(
      mark,
      this.answers.originOf(page.id, mark),
      !local || local.no_answer || Boolean(this.desk.lock),
    );
  }

  render() {
    if (this.waiting) return;
    this.waiting = requestAnimationFrame(() => {
      this.waiting = null;
      if (this.answers) this.drawing.render();
    });
  }

  destroy() {
    this.unfollow();
    this.sight?.disconnect();
    this.queue?.destroy();
    this.incoming.destroy();
    this.answers?.effort.destroy();
    this.preferences.destroy();
    this.stage.destroy();
    this.keyboard.destroy();
    this.desk?.destroy();
    window.removeEventListener('hashchange', this.onHash);
  }
}
