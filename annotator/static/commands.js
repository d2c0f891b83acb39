// What each command does: the keys of core/keyboard.js and the buttons of the toolbar call these by name.

import { hull } from './words/words.js';

/** @import { ReviewRequest } from './types' */
/** @import { Cursor } from './canvas/cursor.js' */
/** @import { Stage } from './canvas/stage.js' */
/** @import { DocumentList } from './panels/document_list.js' */
/** @import { QuestionBox } from './panels/question_box.js' */
/** @import { Suggestions } from './panels/suggestions.js' */
/** @import { OpenAnswer } from './state/answer.js' */
/** @import { AnswerValues } from './state/answer_values.js' */
/** @import { TableWork } from './state/table_work.js' */
/** @import { Library } from './state/library.js' */
/** @import { Navigation } from './state/navigation.js' */
/** @import { Session } from './state/session.js' */
/** @import { FormWork } from './tasks/form_work.js' */
/** @import { Mode, WorkMode } from './tasks/work_mode.js' */
/** @import { WordEditMode } from './words/word_edit_mode.js' */

/** @typedef {(event?: KeyboardEvent) => unknown} Command false leaves the key to the browser */

/**
 * @typedef {object} CommandParts
 * @property {Library} library
 * @property {Session} session
 * @property {OpenAnswer} answer
 * @property {AnswerValues} values
 * @property {TableWork} table
 * @property {Navigation} navigation
 * @property {WorkMode} work
 * @property {FormWork} formWork
 * @property {WordEditMode} wordMode
 * @property {Stage} stage
 * @property {Cursor} cursor
 * @property {QuestionBox} box
 * @property {Suggestions} suggestions
 * @property {DocumentList} documentList
 */

/**
 * @typedef {object} CommandPorts
 * @property {(step: () => unknown) => void} act runs what may fail, and says so
 * @property {() => void} changed
 * @property {() => void} draw at once
 * @property {(sentence: string) => void} tell
 * @property {() => boolean} takeWords takes the words under the paint, where that is what Enter does now
 * @property {() => void} correctText opens the line in which the text of a value is corrected
 * @property {() => void} upload
 * @property {() => void} help
 * @property {() => unknown} history
 * @property {() => unknown} skip asks why the task in hand cannot be answered
 * @property {(open?: boolean) => void} menu
 * @property {() => void} escape
 */

/**
 * @param {CommandParts} parts
 * @param {CommandPorts} ports
 */
export function makeCommands(parts, ports) {
  const { library, session, answer, values, table, navigation, work, formWork, wordMode, stage, cursor } = parts,
    { act } = ports;

  const page = (/** @type {number} */ step) => {
    const next = library.neighbour(step);
    if (next) act(() => navigation.page(next.id));
  };
  const question = (/** @type {number} */ step) => {
    const lines = library.document?.annotations ?? [];
    const at = lines.findIndex((each) => each.id === answer.local?.id);
    const line = lines[at < 0 ? 0 : at + step];
    if (line) act(() => navigation.annotation(line.id));
  };
  // From the page, Tab leads to the form; anywhere else it is the browser's.
  const fieldStep = (/** @type {number} */ step) => {
    const { activeElement } = document;
    return (activeElement === stage.canvas || activeElement === document.body) && formWork.walk(step);
  };
  // The form hides the question box. In queue and review there is none.
  const ask = () => {
    if (formWork.active && work.mode === 'free') {
      formWork.toggle();
      ports.draw();
    }
    parts.box.focus();
  };
  const tool = (/** @type {string} */ name) => () => {
    if (!wordMode.leave()) return;
    stage.setTool(name);
    ports.changed();
  };
  // Without a table, its keys are the browser's.
  const inTable = (/** @type {() => unknown} */ run) => () => (table.open ? run() : false);
  const nextDoubtful = () => {
    if (!stage.grid.doubtful.size) return ports.tell('No word of this page was read with low confidence.');
    if (stage.tool !== 'mend') tool('mend')();
    wordMode.nextDoubtful();
  };
  const enter = (/** @type {Mode} */ mode) => act(() => work.enter(work.mode === mode ? 'free' : mode));
  const judge = (/** @type {ReviewRequest['verdict']} */ verdict) => work.judge(verdict);
  const radius = (/** @type {number} */ wanted) => {
    stage.setRadius(wanted);
    ports.changed();
  };
  const step = (/** @type {boolean} */ back) => (stage.tool === 'mend' ? wordMode : answer).step(back);

  const zoomMark = () => {
    if (!stage.page || !stage.grid) return;
    const { box } = answer.markOn(stage.page.id).mask,
      word = stage.cursor?.word;
    const under = word === undefined ? undefined : stage.grid.boxes[word];
    const marked = box[2] > box[0] ? box : under;
    const wanted = stage.chosen.size ? hull(stage.grid.boxesOf([...stage.chosen])) : marked;
    if (wanted) stage.frame(wanted);
    else ports.tell('Nothing is marked on this page.');
  };

  return {
    word: tool('word'),
    box: tool('box'),
    brush: tool('brush'),
    eraser: tool('eraser'),
    plus: tool('plus'),
    minus: tool('minus'),
    mend: tool('mend'),
    ask,
    /** @type {Command} */
    accept: (event) => {
      if (event && (wordMode.here() || ports.takeWords())) return;
      const field = formWork.active ? formWork.current : null;
      return field ? act(() => formWork.accept(field)) : work.accept();
    },
    form: () => formWork.toggle(),
    formNext: () => fieldStep(1),
    formPrevious: () => fieldStep(-1),
    formAcceptAll: () => formWork.acceptAll(),
    next: () => act(() => work.next()),
    skip: () => act(() => ports.skip()),
    standard: () => parts.suggestions.arm(),
    history: () => act(() => ports.history()),
    queue: () => enter('queue'),
    review: () => session.reviews && enter('review'),
    reviewAccept: () => judge('accepted'),
    reviewReject: () => judge('rejected'),
    reviewFix: () => work.reviews.fix(),
    reviewQuality: () => work.reviews.turn('quality'),
    reviewComplete: () => work.reviews.turn('completeness'),
    candidate1: () => answer.candidate(0),
    candidate2: () => answer.candidate(1),
    candidate3: () => answer.candidate(2),
    candidate4: () => answer.candidate(3),
    candidate5: () => answer.candidate(4),
    candidate6: () => answer.candidate(5),
    candidate7: () => answer.candidate(6),
    candidate8: () => answer.candidate(7),
    candidate9: () => answer.candidate(8),
    reading1: () => values.pick(0),
    reading2: () => values.pick(1),
    reading3: () => values.pick(2),
    correctText: () => (table.open || values.view) && ports.correctText(),
    addValue: () => (table.open ? table.addRow() : values.add()),
    removeValue: () => (table.open ? table.deleteRow() : values.remove()),
    nextValue: () => values.step(1),
    previousValue: () => values.step(-1),
    tableAdd: inTable(() => table.addRow()),
    tableDelete: inTable(() => table.deleteRow()),
    tableMerge: inTable(() => table.mergeRow()),
    tableSplit: inTable(() => table.splitRow()),
    tableLeft: inTable(() => table.moveCell(0, -1)),
    tableRight: inTable(() => table.moveCell(0, 1)),
    tableUp: inTable(() => table.moveCell(-1, 0)),
    tableDown: inTable(() => table.moveCell(1, 0)),
    proposeRows: inTable(() => void table.propose()),
    noAnswer: () => answer.noAnswer(),
    questionUp: () => question(-1),
    questionDown: () => question(1),
    thinner: () => radius(stage.radius - 2),
    thicker: () => radius(stage.radius + 2),
    radius,
    undo: () => step(true),
    redo: () => step(false),
    clear: () => {
      if (stage.tool === 'mend') return wordMode.editor.remove();
      return table.open ? table.clearCell() : answer.clear();
    },
    nextDoubtful,
    mergeWords: () => stage.tool === 'mend' && wordMode.editor.merge(),
    zoomMark,
    /** @type {Command} */
    cursor: (event) => event && cursor.move(event),
    zoomIn: () => stage.zoom(1.25),
    zoomOut: () => stage.zoom(0.8),
    fit: () => stage.fit(),
    pageUp: () => page(-1),
    pageDown: () => page(1),
    turnPage: () => act(() => wordMode.leave() && wordMode.readAgain.turn(90)),
    readAgain: () => act(() => wordMode.readAgain.page()),
    documents: () => {
      ports.menu(true);
      parts.documentList.search.focus();
    },
    upload: () => ports.upload(),
    help: () => ports.help(),
    menu: () => ports.menu(),
    escape: () => ports.escape(),
  };
}

/** @typedef {ReturnType<typeof makeCommands>} Commands */
