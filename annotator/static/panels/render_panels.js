// Everything around the page, drawn from what is open. State lives in library, answer and work mode; nothing is kept
// here.

import { wordsUnderPaint } from '../canvas/words_under_paint.js';
import { h, replace } from '../core/dom.js';
import { icon } from '../core/icons.js';
import { showTabsFor } from '../core/role_tabs.js';
import { isBlank } from '../state/marks.js';
import { isTable, tableRows } from '../state/table.js';
import { changes } from '../sync/changes.js';
import { rowsText, tableCells } from './table_cells.js';

/** @import { Origin } from '../types' */
/** @import { Stage } from '../canvas/stage.js' */
/** @import { AskMore } from '../state/ask_more.js' */
/** @import { OpenAnswer } from '../state/answer.js' */
/** @import { Library } from '../state/library.js' */
/** @import { Notice } from '../state/navigation.js' */
/** @import { Pages } from '../state/pages.js' */
/** @import { Session } from '../state/session.js' */
/** @import { SaveQueue } from '../sync/save_queue.js' */
/** @import { GoldAnswers } from '../tasks/gold_answer.js' */
/** @import { QueueBar } from '../tasks/queue_bar.js' */
/** @import { ReviewPanel } from '../tasks/review_panel.js' */
/** @import { Verdicts } from '../tasks/verdicts.js' */
/** @import { FormWork } from '../tasks/form_work.js' */
/** @import { WorkMode } from '../tasks/work_mode.js' */
/** @import { WordEditMode } from '../words/word_edit_mode.js' */
/** @import { AnswerCard } from './answer_card.js' */
/** @import { DocumentList } from './document_list.js' */
/** @import { FormPanel } from './form_panel.js' */
/** @import { Guideline } from './guideline.js' */
/** @import { Rooms } from './layout.js' */
/** @import { PageStrip } from './page_strip.js' */
/** @import { QuestionBox } from './question_box.js' */
/** @import { QuestionList } from './question_list.js' */
/** @import { Suggestions } from './suggestions.js' */
/** @import { Toolbar } from './toolbar.js' */

/**
 * What is drawn from.
 *
 * @typedef {object} State
 * @property {Library} library
 * @property {Session} session
 * @property {Pages} pages
 * @property {OpenAnswer} answer
 * @property {AskMore} askMore
 * @property {WorkMode} work
 * @property {FormWork} formWork
 * @property {Verdicts} verdicts
 * @property {GoldAnswers} gold
 * @property {SaveQueue} queue
 * @property {Stage} stage
 * @property {WordEditMode} wordMode
 */

/**
 * What is drawn.
 *
 * @typedef {object} Panels
 * @property {DocumentList} documentList
 * @property {PageStrip} strip
 * @property {QuestionBox} box
 * @property {QuestionList} questionList
 * @property {FormPanel} form
 * @property {AnswerCard} card
 * @property {QueueBar} bar
 * @property {ReviewPanel} review
 * @property {Suggestions} suggestions
 * @property {Toolbar} toolbar
 * @property {Guideline} guideline
 */

export class RenderPanels {
  locked = false;
  offersWords = false; // Enter takes the words under the paint

  /**
   * @param {HTMLElement} root
   * @param {Rooms} rooms
   * @param {State} state
   * @param {Panels} panels
   * @param {{ paint: () => void, upload: () => void, uploading: () => boolean }} act
   */
  constructor(root, rooms, state, panels, act) {
    this.root = root;
    this.rooms = rooms;
    this.state = state;
    this.panels = panels;
    this.act = act;
  }

  text() {
    const { answer } = this.state,
      { local } = answer;
    if (!local) return '';
    if (isTable(local)) return rowsText(tableRows(answer.storedParts).length);
    const texts = local.parts.map((part, place) => part.correction?.text ?? this.textOf(place));
    return texts.includes(null) ? local.text : texts.filter(Boolean).join(' · ');
  }

  /**
   * Printed text of a value of the open answer; null while its words are on their way.
   *
   * @param {number} place
   */
  textOf(place) {
    const { library, answer, pages } = this.state,
      part = answer.local?.parts[place];
    return part && library.document ? pages.text(library.document.pages, part.pages) : null;
  }

  /** The stage shows the open page of the open answer, and no hand is on it. */
  get settled() {
    const { library, answer, stage } = this.state;
    return Boolean(answer.local && library.words && stage.page?.id === library.page?.id && !stage.stroking);
  }

  /** Where the marks of the open answer come from, by page; none where it says that there is no answer. */
  marks() {
    const { answer } = this.state,
      { local } = answer;
    const all = local && !local.no_answer ? local.parts.flatMap((part) => Object.entries(part.pages)) : [];
    const marked = [...new Map(all.filter(([, mark]) => !isBlank(mark)))]; // a table has hundreds of marks on a page
    /** @type {Record<string, Origin>} */
    const origins = Object.fromEntries(marked.map(([id, mark]) => [id, answer.originOf(id, mark)]));
    return origins;
  }

  /** @param {Notice | null} content */
  notice(content) {
    const { notice } = this.rooms;
    notice.hidden = !content;
    if (!content) return;
    const { title, sentence, action } = content;
    const button = action && h('button', { class: 'g-button', on: { click: action[1] } }, action[0]);
    replace(notice, h('b', {}, title), sentence && h('span', {}, sentence), button);
  }

  render() {
    const { library, answer, work, queue, stage } = this.state,
      { local } = answer,
      { document, page } = library;
    const text = this.text(),
      marks = this.marks(),
      locked = work.lock !== null;
    if (local) library.note({ ...local, text });
    if (locked !== this.locked) {
      this.locked = locked;
      this.act.paint();
    }
    work.remember();
    this.panels.suggestions.follow();
    const pending = new Set(queue.items.map((item) => item.annotation));
    const chances = Object.fromEntries((local?.ranked ?? []).map((each) => [each.page_id, each.answered]));
    const { projects } = library,
      { user } = this.state.session;
    if (projects.length) showTabsFor(user.role === 'admin' || projects.some(({ role }) => role !== 'annotator'));
    this.panels.documentList.render({
      projects,
      project: library.project,
      documents: library.listed.rows,
      total: library.listed.total,
      query: library.listed.query,
      open: document?.id,
      asked: document?.annotations,
    });
    const beingRead = page !== null && this.state.wordMode.readAgain.busy.has(page.id);
    this.panels.strip.render({ document, page, marks, chances, mayReadAgain: this.state.session.reviewer, beingRead });
    this.panels.box.render({ document, asking: answer.asking, loading: library.networksLoading });
    this.renderWork();
    this.renderQuestions(pending);
    this.renderForm(pending);
    this.renderAnswer(text, marks, pending);
    this.renderToolbar(marks);
    const working = (local && !local.no_answer && !locked) || stage.tool === 'mend';
    this.rooms.stage.dataset.tool = working ? stage.tool : 'none';
    this.rooms.stage.dataset.refining = String(answer.refining);
    if (!document && library.listed.lines) this.welcome();
    this.renderSaved();
    this.root.dataset.ready = page && stage.page?.id === page.id ? page.id : '';
  }

  renderWork() {
    const { session, work } = this.state,
      { mode, desk, tasks, reviews } = work;
    this.panels.bar.render({
      mode,
      reviewer: session.reviewer,
      reviews: session.reviews,
      counts: tasks.counts,
      waiting: (mode === 'review' ? reviews.waiting : null) ?? tasks.counts?.to_review,
      desk,
      elsewhere: work.elsewhere,
    });
    this.root.dataset.desk = desk?.empty && !(mode === 'queue' && tasks.annotation) ? 'empty' : mode;
    this.panels.review.render({
      active: mode === 'review' && reviews.here,
      open: reviews.open,
      said: reviews.said,
      fixing: reviews.fixing,
      reasons: reviews.reasons.offered,
      busy: reviews.busy,
      look: reviews.here ? reviews.look : null,
      others: reviews.here ? reviews.others : [],
      warned: reviews.warned,
    });
    this.panels.suggestions.render();
  }

  /** @param {Set<string>} pending answers with edits that are not saved yet */
  renderQuestions(pending) {
    const { library, session, answer, verdicts } = this.state,
      { document } = library;
    this.panels.questionList.render({
      document,
      annotations: document?.annotations ?? [],
      annotation: answer.local?.id,
      pending,
      mine: (line) => session.alone || session.mine(line),
      reason: (line) => (line.status === 'rejected' ? (verdicts.open(line)?.reason ?? null) : null),
    });
  }

  /** @param {Set<string>} pending */
  renderForm(pending) {
    const { library, session, answer, work, formWork } = this.state,
      { document } = library,
      { form } = formWork;
    form.follow();
    this.panels.form.render({
      document,
      offered: work.mode !== 'review',
      shown: form.shown,
      reading: Boolean(document?.reading),
      fields: form.view?.fields ?? null,
      filling: form.filling,
      failure: form.failure,
      annotation: answer.local?.id,
      pending,
      locale: library.project?.settings.locale || undefined,
      reviewer: session.reviewer,
      submits: session.submits,
    });
  }

  /**
   * @param {string} text
   * @param {Record<string, Origin>} marks
   * @param {Set<string>} pending
   */
  renderAnswer(text, marks, pending) {
    const { library, session, answer, askMore, work, verdicts, gold, stage } = this.state,
      { document, page } = library;
    const { local, choices, chosen, refining } = answer,
      locked = work.lock !== null,
      waits = Boolean(local && pending.has(local.id));
    const open = this.settled && !locked && !refining && !local?.no_answer && !answer.markOn(page?.id).words.length;
    const offered = open ? wordsUnderPaint(stage) : [];
    this.offersWords = offered.length > 0;
    this.panels.guideline.render(document?.project_id, local?.question.id);
    this.panels.card.render({
      document,
      annotation: local,
      text,
      textOf: (place) => this.textOf(place) ?? '',
      ...tableCells(local, (place) => this.textOf(place), this.state.pages),
      page,
      disagreement: this.settled ? stage.disagree() : null,
      proposal: answer.proposal,
      choices,
      chosen,
      refining,
      under: offered.length,
      marked: Boolean(page && marks[page.id]),
      pending: waits,
      locked,
      removable: work.mode !== 'review' && Boolean(local && (session.reviewer || session.mine(local))),
      reviewing: work.mode === 'review',
      submits: session.submits,
      mine: !local || session.alone || session.mine(local),
      rejected: verdicts.open(local),
      gold: waits ? null : gold.of(local),
      expected: work.expected,
      further: askMore.running,
      pages: (document?.pages ?? []).map((each) => ({ ...each, origin: marks[each.id] })),
    });
  }

  /** @param {Record<string, Origin>} marks */
  renderToolbar(marks) {
    const { library, answer, work, stage, wordMode } = this.state,
      { document, page } = library,
      { local } = answer;
    const mending = stage.tool === 'mend' && page !== null;
    wordMode.doubts.render(mending ? stage.grid.doubtful.size : 0);
    this.panels.toolbar.render({
      tool: stage.tool,
      radius: stage.radius,
      mendable: page !== null,
      editable: Boolean(local && page && !local.no_answer && work.lock === null),
      marked: Boolean(page && marks[page.id]),
      ...(mending ? wordMode.can : answer.can),
      number: page?.number,
      pages: document?.pages.length ?? 0,
      scale: stage.view.scale,
    });
  }

  /** No document is open. */
  welcome() {
    const { library } = this.state;
    if (!library.project) {
      const sentence = 'Ask an admin of a project for an invitation link.';
      return this.notice({ title: 'You are not a member of any project', sentence });
    }
    if (this.act.uploading()) {
      return this.notice({
        title: 'Reading your documents…',
        sentence: 'The first one opens here as soon as it is read.',
      });
    }
    if (library.listed.total || library.listed.query) {
      return this.notice({ title: 'Choose a document', sentence: 'The first page opens here.' });
    }
    replace(
      this.rooms.notice,
      icon('upload', 40),
      h('b', {}, 'Start with a document'),
      h(
        'span',
        {},
        'Drop PDF files or scans anywhere in this window. Then ask a question: the answer is marked on the page.',
      ),
      h('button', { class: 'g-button g-primary', on: { click: () => this.act.upload() } }, 'Choose files'),
    );
    this.rooms.notice.hidden = false;
  }

  renderSaved() {
    const { queue, work } = this.state;
    this.panels.card.renderSaved({
      state: queue.state,
      number: queue.items.length,
      at: queue.savedAt,
      why: queue.why,
      lasting: queue.lasting,
      loggedOut: queue.loggedOut || changes.loggedOut.state,
      away: changes.connection.state === 'offline',
      fixing: work.reviews.fixing,
    });
  }
}
