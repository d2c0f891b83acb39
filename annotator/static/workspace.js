// The workspace is put together here: owners of state, what they hear of each other, panels, keys. Nothing is decided
// here, and nobody is handed the whole.

import { hint, Keyboard, keymap, nameKeys } from './core/keyboard.js';
import { readRoute } from './core/route.js';
import { Cursor } from './canvas/cursor.js';
import { Stage } from './canvas/stage.js';
import { wordsUnderPaint } from './canvas/words_under_paint.js';
import { makeCommands } from './commands.js';
import { openHistory } from './panels/answer_history.js';
import { makeForm } from './make_form.js';
import { makePanels } from './panels/make_panels.js';
import { RenderPanels } from './panels/render_panels.js';
import { Uploads } from './panels/uploads.js';
import { appear } from './settings/appearance.js';
import { openHelp } from './settings/help.js';
import { AnswerValues } from './state/answer_values.js';
import { AskMore } from './state/ask_more.js';
import { Library } from './state/library.js';
import { EMPTY_MARK } from './state/marks.js';
import { Pages } from './state/pages.js';
import { Session } from './state/session.js';
import { changes } from './sync/changes.js';
import { ConflictResolution } from './sync/conflict_resolution.js';
import { TOPICS } from './sync/following.js';
import { IncomingPages } from './sync/incoming_pages.js';
import { followWindow, SaveQueue } from './sync/save_queue.js';
import { sendEdit } from './sync/send_edit.js';
import { GoldAnswers } from './tasks/gold_answer.js';
import { Skips } from './tasks/skips.js';
import { openStandardQuestions } from './tasks/standard_dialog.js';
import { Verdicts } from './tasks/verdicts.js';
import { WorkMode } from './tasks/work_mode.js';
import { WordEditMode } from './words/word_edit_mode.js';
import { makeAnswer, makeFollowing, makeNavigation, makeTable, showOthers } from './workspace_parts.js';

/** @import { Action, EditedWords, Me, QueuedItem, Saved, Stored, Stroke } from './types' */
/** @import { Toasts } from './core/toast.js' */
/** @import { Rooms } from './panels/layout.js' */
/** @import { Preferences } from './settings/preferences.js' */
/** @import { EditStore } from './sync/edit_store.js' */

/**
 * What stands before anybody is known to be at work.
 *
 * @typedef {{ root: HTMLElement, rooms: Rooms, toasts: Toasts, preferences: Preferences }} Shell
 */

export class Workspace {
  /** @type {number | null} the frame in which the panels are drawn */
  frame = null;
  closing = new AbortController();

  /**
   * @param {Shell} shell
   * @param {Me} me
   * @param {EditStore} store
   */
  constructor({ root, rooms, toasts, preferences }, me, store) {
    const act = (/** @type {() => unknown} */ step) => void this.act(step),
      changed = () => this.render();
    /** @type {(sentence: string, action?: Action | null) => void} */
    const tell = (sentence, action) => toasts.show(sentence, 'info', action);
    this.root = root;
    this.rooms = rooms;
    this.toasts = toasts;
    this.preferences = preferences;
    /** @type {Pages} */
    this.pages = new Pages((page, words) => this.wordMode.edits.waiting(page, words));
    /** @type {Library} */
    this.library = new Library(this.pages, changed);
    this.session = new Session(me, () => this.library.project);
    /** @type {SaveQueue} */
    this.queue = this.makeQueue(me, store);
    /** @type {import('./state/answer.js').OpenAnswer} */
    this.answer = makeAnswer(this);
    this.values = new AnswerValues(this.answer, {
      project: () => this.library.project?.id,
      document: () => this.library.document?.id,
      tell: (sentence, ...actions) => toasts.show(sentence, actions.length ? 'undo' : 'info', ...actions),
      error: (error) => toasts.error(error),
      open: (page) => this.act(() => this.navigation.page(page)),
    });
    this.table = makeTable(this);
    this.askMore = new AskMore(this.answer);
    this.verdicts = new Verdicts(changed);
    /** @type {Stage} */
    this.stage = this.makeStage();
    const say = (/** @type {string} */ text) => void (rooms.spoken.textContent = text);
    this.cursor = new Cursor(this.stage, say);
    const { library, session, pages, queue, answer, askMore, stage, cursor } = this;
    this.wordMode = new WordEditMode({
      ...{ root, room: rooms.stage, stage, library, pages, queue },
      ports: {
        ...{ changed, tell, say },
        turned: () => this.navigation.showTurned(),
        paint: () => this.paint(),
        renumber: (page, map) => answer.renumber(page, map),
        openDocument: (id, page) => this.navigation.document(id, page),
        openPage: (id) => this.navigation.page(id),
      },
    });
    /** @type {import('./state/navigation.js').Navigation} */
    this.navigation = makeNavigation(this);
    const { wordMode, navigation } = this;
    /** @type {WorkMode} */
    this.work = new WorkMode({
      ...{ library, session, answer, queue, navigation },
      ports: {
        ...{ act, changed, tell, focusPage: () => this.focusPage() },
        wantReason: () => this.panels.review.wantReason(),
        stays: () => this.formWork.active,
      },
    });
    const { work } = this;
    /** @type {import('./tasks/form_work.js').FormWork} */
    const formWork = (this.formWork = makeForm(this, act, changed));
    this.conflicts = new ConflictResolution({
      ...{ root, library, session, pages, answer, queue },
      ports: {
        ...{ act, changed },
        wordsKey: () => wordMode.key,
        compareWords: (id) => wordMode.compare(id),
        backTo: (id) => navigation.backTo(id),
        text: () => this.drawing.text(),
        judgeOnTop: (saved, verdict) => work.judgeOnTop(saved, verdict),
        dropDraft: (id) => work.reviews.drafts.drop(id),
      },
    });
    this.incoming = new IncomingPages(library, {
      grown: changed,
      warned: (sentence) => tell(sentence),
      ended: (document) => {
        const [warning] = document.warnings;
        if (warning) tell(warning);
        changed();
      },
    });
    this.gold = new GoldAnswers({ session, work }, { act, changed, tell });
    const skips = new Skips({ library, navigation, work }, { root, act, tell });
    this.panels = makePanels(
      rooms,
      {
        library,
        session,
        answer,
        values: this.values,
        table: this.table,
        askMore,
        ...{ work, formWork },
        gold: this.gold,
        navigation,
        incoming: this.incoming,
      },
      {
        ...{ root, act, changed, tell },
        error: (error) => toasts.error(error),
        commands: () => this.commands,
        compare: () => this.conflicts.compare(),
        editStandard: () => this.editStandard(),
        skipped: () => skips.list(),
        upload: () => this.uploads.choose(),
        takeWords: () => this.takeWords(),
      },
    );
    const { documentList, box, suggestions } = this.panels;
    this.uploads = new Uploads(root, documentList.uploads, {
      project: () => library.project?.id,
      stored: (answer) => navigation.stored(answer),
      done: (answers) => act(() => navigation.uploaded(answers)),
      failed: (sentence) => toasts.show(sentence, 'error'),
      warn: (sentence) => toasts.show(sentence),
    });
    this.uploads.queue.follow(() => library.document || this.render());
    const upload = () => this.uploads.choose();
    const { verdicts, gold } = this;
    const state = { library, session, pages, answer, askMore, work, formWork, verdicts, gold, queue, stage, wordMode };
    this.drawing = new RenderPanels(root, rooms, state, this.panels, {
      ...{ paint: () => this.paint(), upload },
      uploading: () => this.uploads.here,
    });
    this.commands = makeCommands(
      {
        library,
        session,
        answer,
        values: this.values,
        table: this.table,
        navigation,
        ...{ work, formWork },
        wordMode,
        stage,
        cursor,
        box,
        suggestions,
        documentList,
      },
      {
        ...{ act, changed, tell, upload },
        draw: () => this.drawing.render(),
        takeWords: () => this.drawing.offersWords && this.takeWords(),
        correctText: () => this.panels.card.values.correct(),
        help: () => openHelp({ root, preferences, relabel: () => this.relabel(), appear: () => this.appear() }),
        history: () => answer.local && openHistory(root, answer.local),
        skip: () => skips.open(),
        menu: (open) => this.menu(open),
        escape: () => this.escape(),
      },
    );
    const space = (/** @type {boolean} */ held, /** @type {KeyboardEvent | null} */ event) => this.space(held, event);
    const { radius: _radius, ...byKey } = this.commands; // the slider's own
    this.keyboard = new Keyboard(root, byKey, space, () => work.keys ?? (formWork.active ? 'form' : null));
    rooms.dim.addEventListener('click', () => this.menu(false));
    this.following = makeFollowing(this);
  }

  /**
   * Opens what the address names, or what was open last.
   *
   * @param {string | null} project the one to open; null: the one opened last in this browser
   */
  async open(project) {
    const { library, navigation, work, queue, preferences, session } = this,
      route = readRoute();
    await Promise.all([queue.load(), preferences.load(session.user.id)]);
    this.appear();
    this.formWork.form.show(preferences.value.form === true);
    await library.loadProjects(project ?? route.project);
    await this.act(() => navigation.follow(route));
    // The address may name what is not there any more.
    if (!library.document) await this.act(() => navigation.follow({}));
    else if (!library.page) await this.act(() => navigation.page(route.page));
    this.act(() => work.resume());
    this.follow();
    this.render();
  }

  // --- the owners of state, and what they hear of each other

  /**
   * @param {Me} me
   * @param {EditStore} store
   */
  makeQueue(me, store) {
    const { toasts } = this;
    const queue = new SaveQueue(store, me.user.id, (item) => sendEdit(item, this.wordMode), {
      changed: () => this.queueChanged(),
      saved: (item, answer) => this.saved(item, answer),
      conflict: (annotation) => this.conflicts.halted(annotation),
      loggedOut: (error) => toasts.error(error),
      broken: (error) => {
        console.error(error);
        toasts.error(error);
      },
      notKept: () =>
        toasts.show('This browser cannot store unsaved edits. Keep the page open until they are saved.', 'error'),
    });
    followWindow(queue, this.closing.signal);
    return queue;
  }

  makeStage() {
    return new Stage(this.rooms.stage, {
      stroke: (stroke) => this.stroke(stroke),
      originOf: (mark) => this.answer.originOf(this.stage.page?.id ?? '', mark),
      proposed: (mark) => this.answer.isProposal(this.stage.page?.id ?? '', mark),
      mend: (wish) => this.wordMode.wish(wish),
      cell: (cell) => this.table.choose(cell),
      moved: () => this.panels?.toolbar.scaled(this.stage.page && this.stage.view.scale),
      drawn: () => this.wordMode?.editor.place(),
      locked: () => this.explainLock(),
    });
  }

  /** From here on the page follows the address, the server, and its own coming into sight. */
  follow() {
    const { navigation, following, queue } = this,
      { signal } = this.closing;
    const connected = changes.connection.follow((state) => {
      if (state !== 'offline') queue.retry(); // the server is back: edits that wait go at once
      this.drawing.renderSaved();
    });
    signal.addEventListener('abort', connected);
    signal.addEventListener(
      'abort',
      changes.loggedOut.follow(() => this.drawing.renderSaved()),
    );
    window.addEventListener('hashchange', () => this.act(() => navigation.moved(readRoute())), { signal });
    signal.addEventListener(
      'abort',
      changes.follow(TOPICS, (told) => following.hear(told)),
    );
    const sight = new IntersectionObserver(([entry]) => {
      if (!entry?.isIntersecting) return;
      navigation.seen().catch(() => {});
      following.run();
    });
    sight.observe(this.root);
    signal.addEventListener('abort', () => sight.disconnect());
  }

  /**
   * Runs something that may fail, and says the sentence where it does.
   *
   * @param {() => unknown} step
   */
  async act(step) {
    try {
      await step();
    } catch (error) {
      this.toasts.error(error);
      this.render();
    }
  }

  // --- changing and saving

  /** @param {Stroke} stroke */
  stroke(stroke) {
    const { page } = this.stage;
    if (!page) return;
    const to = this.table.open ? this.table : this.answer;
    to.stroke(stroke, stroke.edits ? this.stage.commit() : null, page);
  }

  /** Takes the words under the paint into the answer. Returns whether there were any. */
  takeWords() {
    const { stage } = this;
    const add = wordsUnderPaint(stage);
    if (!add.length || !stage.page) return false;
    stage.setWords(add, true);
    this.stroke({ tool: 'word', edits: [{ op: 'words', page: stage.page.id, add, remove: [] }] });
    this.focusPage();
    return true;
  }

  explainLock() {
    const { lock } = this.work,
      { local } = this.answer;
    if (lock) return this.toasts.show(lock);
    if (local?.no_answer) {
      this.toasts.show(`This question is marked as not answered. Press ${hint('noAnswer')} to undo that, then mark.`);
    } else if (this.library.document) this.toasts.show('Ask a question first, then edit its mark.');
  }

  /**
   * @param {QueuedItem} item
   * @param {Stored} answer
   */
  saved(item, answer) {
    if (item.kind === 'words') {
      this.wordMode.saved(item, /** @type {EditedWords & Stored} */ (answer));
      return;
    }
    this.answer.saved(item, /** @type {Saved} */ (answer));
    this.formWork.form.note(item.annotation, /** @type {Saved} */ (answer));
    this.work.saved(item);
    this.render();
  }

  queueChanged() {
    this.drawing?.renderSaved();
    this.work?.heard();
  }

  editStandard() {
    const { root, library, work, toasts } = this,
      { suggestions } = this.panels;
    if (!library.project) return null;
    return openStandardQuestions(root, library.project, {
      saved: () => {
        suggestions.load();
        work.tasks.count();
        if (work.desk?.empty) this.act(() => work.desk?.next());
      },
      failed: (error) => toasts.error(error),
    });
  }

  // --- one's own keys and colours

  appear() {
    keymap.load(this.preferences.value.keys);
    appear(this.preferences.value);
    this.relabel();
    if (this.stage.page) {
      this.stage.dirty = true;
      this.paint();
    }
    this.stage.draw();
  }

  /** Tooltips name the keys. */
  relabel() {
    nameKeys(this.root);
    this.render();
  }

  // --- keys and buttons

  escape() {
    this.menu(false);
    this.cursor.drop();
    this.wordMode.editor.choose([]);
    if (this.root.contains(document.activeElement)) this.focusPage();
  }

  focusPage() {
    this.stage.canvas.focus({ preventScroll: true });
  }

  /**
   * Space held moves the page; a tap without a drag is the keyboard's click.
   *
   * @param {boolean} held
   * @param {KeyboardEvent | null} event
   */
  space(held, event) {
    const { pointer } = this.stage;
    const tap = !held && pointer.space && !pointer.panned && event;
    pointer.holdSpace(held);
    if (tap) this.cursor.apply(event);
  }

  /** @param {boolean} [open] the other way round, where it is not said */
  menu(open = this.rooms.left.dataset.open !== 'on') {
    const { left } = this.rooms,
      { toolbar, documentList } = this.panels,
      over = getComputedStyle(left).position === 'absolute'; // in small windows; else it is always there
    const held = left.contains(document.activeElement);
    left.dataset.open = open ? 'on' : 'off';
    toolbar.showMenu(open);
    if (over && open) documentList.focus();
    else if (over && held) this.focusPage();
  }

  // --- drawing

  /** Puts the mark of the open answer on the page; none where the document does not answer. */
  paint() {
    const { library, answer, stage, work } = this,
      { page } = library,
      { local } = answer;
    if (!page || stage.page?.id !== page.id || !library.words) return;
    const mark = local?.no_answer ? EMPTY_MARK : answer.markOn(page.id);
    showOthers(stage, answer, page.id);
    stage.setMark(mark, answer.originOf(page.id, mark), !local || local.no_answer || work.lock !== null);
  }

  /** Draws the panels with the next frame. */
  render() {
    this.frame ??= requestAnimationFrame(() => {
      this.frame = null;
      this.drawing?.render();
    });
  }

  destroy() {
    this.closing.abort();
    if (this.frame !== null) cancelAnimationFrame(this.frame);
    this.queue.destroy();
    this.answer.effort.destroy();
    this.stage.destroy();
    this.keyboard.destroy();
    this.work.destroy();
    this.formWork.form.destroy();
    this.following.destroy();
    this.uploads.destroy();
    this.panels.toolbar.destroy();
  }
}
