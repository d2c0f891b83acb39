// The panels around the page, and what their buttons do.

import { h } from '../core/dom.js';
import { QueueBar } from '../tasks/queue_bar.js';
import { ReviewPanel } from '../tasks/review_panel.js';
import { AnswerCard } from './answer_card.js';
import { DocumentList } from './document_list.js';
import { renameDocument } from './document_renaming.js';
import { FormPanel } from './form_panel.js';
import { Guideline } from './guideline.js';
import { PageStrip } from './page_strip.js';
import { QuestionBox } from './question_box.js';
import { QuestionList } from './question_list.js';
import { Suggestions } from './suggestions.js';
import { Toolbar } from './toolbar.js';

/** @import { Action } from '../types' */
/** @import { Commands } from '../commands.js' */
/** @import { AskMore } from '../state/ask_more.js' */
/** @import { OpenAnswer } from '../state/answer.js' */
/** @import { AnswerValues } from '../state/answer_values.js' */
/** @import { TableWork } from '../state/table_work.js' */
/** @import { Library } from '../state/library.js' */
/** @import { Navigation } from '../state/navigation.js' */
/** @import { Session } from '../state/session.js' */
/** @import { IncomingPages } from '../sync/incoming_pages.js' */
/** @import { GoldAnswers } from '../tasks/gold_answer.js' */
/** @import { FormWork } from '../tasks/form_work.js' */
/** @import { WorkMode } from '../tasks/work_mode.js' */
/** @import { Rooms } from './layout.js' */
/** @import { Panels } from './render_panels.js' */

/**
 * @typedef {object} PanelParts
 * @property {Library} library
 * @property {Session} session
 * @property {OpenAnswer} answer
 * @property {AnswerValues} values
 * @property {TableWork} table
 * @property {AskMore} askMore
 * @property {WorkMode} work
 * @property {FormWork} formWork
 * @property {GoldAnswers} gold
 * @property {Navigation} navigation
 * @property {IncomingPages} incoming
 */

/**
 * @typedef {object} PanelPorts
 * @property {(step: () => unknown) => void} act runs what may fail, and says so
 * @property {() => void} changed
 * @property {HTMLElement} root takes dialogs
 * @property {(sentence: string, action?: Action | null) => void} tell
 * @property {(error: unknown) => void} error
 * @property {() => Commands} commands
 * @property {() => unknown} compare
 * @property {() => unknown} editStandard
 * @property {() => unknown} skipped shows the tasks that people skipped
 * @property {() => void} upload
 * @property {() => void} takeWords
 */

/**
 * @param {Rooms} rooms
 * @param {PanelParts} parts
 * @param {PanelPorts} ports
 * @returns {Panels}
 */
export function makePanels(rooms, parts, ports) {
  const { library, session, answer, values, table, askMore, work, formWork, gold, navigation, incoming } = parts;
  const { act, changed, commands } = ports;
  const rename = (/** @type {{ id: string, name: string } | null} */ document) =>
    document && renameDocument(document, { library, session }, ports);
  const toolbar = new Toolbar(rooms.toolbar, rooms.stage, (name, value) => {
    if (name === 'radius') commands().radius(Number(value));
    else commands()[/** @type {Exclude<keyof Commands, 'radius'>} */ (name)]();
  });
  const documentList = new DocumentList(rooms.documents, {
    open: (id) => act(() => formWork.document(id)),
    upload: () => ports.upload(),
    search: (text) => act(() => library.listed.search(text)),
    more: () => library.listed.more().catch(() => {}), // the next turn of the wheel tries again
    project: (id) => act(() => navigation.project(id)),
    rename,
  });
  const strip = new PageStrip(rooms.strip, {
    open: (id) => act(() => navigation.page(id)),
    stop: () => act(() => incoming.ask('stop')),
    resume: () => act(() => incoming.ask('resume')),
    again: () => commands().readAgain(),
    turn: () => commands().turnPage(),
    rename: () => rename(library.document),
  });
  const box = new QuestionBox(rooms.ask, {
    ask: (text, whole) => {
      suggestions.remember(text);
      act(() => navigation.ask(text, whole));
    },
    accept: () => commands().accept(),
  });
  const card = new AnswerCard(rooms.answer, {
    accept: () => commands().accept(),
    next: () => commands().next(),
    noAnswer: () => answer.noAnswer(),
    history: () => commands().history(),
    remove: () => act(() => navigation.remove()),
    own: () => act(() => answer.local && navigation.ask(answer.local.question.text, true)),
    askMore: (all) => act(() => askMore.ask(all)),
    stop: () => askMore.stop(),
    changed,
    candidate: (at) => answer.candidate(at),
    page: (id) => act(() => navigation.page(id)),
    askHere: () => answer.refinement.askHere(),
    compare: () => act(() => ports.compare()),
    takeWords: () => ports.takeWords(),
    gold: (before, known) => act(() => gold.choose(before, known)),
    values,
    table,
  });
  const guideline = new Guideline(changed);
  card.parts.head.after(guideline.root);
  const questionList = new QuestionList(rooms.questions, (id) => act(() => navigation.annotation(id)));
  const form = new FormPanel(rooms.form, {
    toggle: () => formWork.toggle(),
    open: (annotation) => formWork.open(annotation),
    accept: (field) => act(() => formWork.accept(field)),
    acceptAll: () => formWork.acceptAll(),
    again: () => formWork.form.again(),
  });
  const bar = new QueueBar(rooms.desk, {
    mode: (name) => act(() => work.enter(name)),
    next: () => act(() => work.desk?.next()),
    back: () => act(() => work.desk?.show()),
    again: () => act(() => work.again()),
    edit: () => act(() => ports.editStandard()),
    skip: () => commands().skip(),
    skipped: () => act(() => ports.skipped()),
  });
  const room = h('div', { class: 'g-review', hidden: true });
  card.actions.after(room);
  const review = new ReviewPanel(room, {
    say: (part, value) => work.reviews.say(part, value),
    accept: () => work.judge('accepted'),
    reject: () => work.judge('rejected'),
    fix: () => work.reviews.fix(),
    sendFix: () => work.judge('fixed'),
    giveUpFix: () => work.reviews.giveUpFix(),
    takeModel: () => work.reviews.takeModel(),
    next: () => act(() => work.reviews.next()),
  });
  const suggestions = new Suggestions(rooms.suggestions, box.field, library, session, {
    ask: (text) => act(() => navigation.ask(text, true)),
    asked: (annotation, first) => {
      library.note({ ...annotation, no_answer: annotation.state.no_answer });
      if (first && !answer.local) act(() => navigation.annotation(annotation.id));
      changed();
    },
    edit: () => act(() => ports.editStandard()),
    answering: () => answer.local?.question.text ?? null,
    tell: ports.tell,
    error: ports.error,
  });
  return { toolbar, documentList, strip, box, card, questionList, form, bar, review, suggestions, guideline };
}
