// The answer that is open, as this window holds it: its values, their marks, and what the model proposes. Nothing here
// saves.

import { EMPTY_MARK, isBlank, origin, sameMark } from './marks.js';
import { EMPTY_PART } from './parts.js';
import { isTable } from './table.js';

/** @import { AnswerPart, Cell, DocumentWithQuestions, Mark, OpenedAnswer, PageLine, Proposal } from '../types' */
/** @import { Library } from './library.js' */
/** @import { Session } from './session.js' */

/**
 * Where the work is done: what is open, and whether this person's answers are only submitted.
 *
 * @typedef {object} Place
 * @property {DocumentWithQuestions | null} document
 * @property {PageLine | null} page
 * @property {boolean} submits
 */

/**
 * The place as the library and the session have it at any moment.
 *
 * @param {Pick<Library, 'document' | 'page'>} library
 * @param {Pick<Session, 'submits'>} session
 * @returns {Readonly<Place>}
 */
export const placeOf = (library, session) => ({
  get document() {
    return library.document;
  },
  get page() {
    return library.page;
  },
  get submits() {
    return session.submits;
  },
});

export class HeldAnswer {
  /** @type {OpenedAnswer | null} */
  local = null;
  judged = false; // whether somebody has saved or decided the open answer before: what the model drew is theirs, then
  /** @type {Set<string>} pages whose mark a person has changed since the answer was opened */
  touched = new Set();

  /** @type {Map<string, Set<string>>} by answer: words of the rows of its table that the person deleted here */
  deletedOf = new Map();

  /** @param {Place} place */
  constructor(place) {
    this.place = place;
  }

  /** @param {string | undefined} page */
  markOn(page) {
    return this.local?.pages[page ?? ''] ?? EMPTY_MARK;
  }

  /**
   * @param {string} page
   * @param {Mark} mark
   */
  originOf(page, mark) {
    return origin(mark, this.local?.predictions.filter((each) => each.page_id === page) ?? []);
  }

  /**
   * Whether a mark is the model's, and nobody has changed or accepted it.
   *
   * @param {string} page
   * @param {Mark} mark
   */
  isProposal(page, mark) {
    if (!this.local || this.judged || this.touched.has(page) || isBlank(mark)) return false;
    return !mark.points.length && !mark.boxes.length && this.originOf(page, mark) === 'model';
  }

  /**
   * The other pages on which a proposal stands that nobody has touched: the first mark by hand replaces it.
   *
   * @param {string} page
   */
  proposedBeside(page) {
    return Object.entries(this.local?.pages ?? {})
      .filter(([other, mark]) => other !== page && this.isProposal(other, mark))
      .map(([other]) => other);
  }

  get proposal() {
    if (!this.local) return null;
    return this.local.proposals[this.place.page?.id ?? ''] ?? this.local.proposal;
  }

  /**
   * What the digits choose from: the proposal, then what else the model thought of. Where the page prints the key more
   * than once, these are the values at all its places.
   */
  get choices() {
    const { proposal } = this;
    if (!proposal || isTable(this.local)) return [];
    const others = proposal.candidates.filter((each) => !sameMark(each, proposal));
    return [proposal, ...others].filter((each) => !isBlank(each)).slice(0, proposal.repeated ? 9 : 3);
  }

  get chosen() {
    const mark = this.markOn(this.proposal?.page_id);
    return this.choices.findIndex((each) => sameMark(mark, each));
  }

  /** @param {Proposal} proposal */
  learn(proposal) {
    if (!this.local) return;
    this.local.proposals[proposal.page_id] = proposal;
    const candidates = proposal.candidates.map((each) => ({ ...each, page_id: proposal.page_id }));
    this.local.predictions.push(proposal, ...candidates, ...(proposal.cells ?? []));
  }

  /** What a person said of the text of the value in hand. */
  get correction() {
    return this.local?.parts[this.local.place]?.correction ?? null;
  }

  /** The parts as the server has them: without the empty cell in hand. */
  get storedParts() {
    return (this.local?.parts ?? []).filter((part) => !part.fresh);
  }

  /**
   * The cell in hand, where the answer is a table; the first one where it has none.
   *
   * @returns {Cell | null}
   */
  get cell() {
    const { local } = this,
      part = local?.parts[local.place];
    if (!local || !part || !isTable(local)) return null;
    const [first] = local.field?.columns ?? [];
    return part.cell ?? { row: 0, column: first.name };
  }

  /** Words of the rows that the person has deleted in this window, as of `wordsOf`; an undo puts some back. */
  get deletedWords() {
    return this.deletedOf.get(this.local?.id ?? '') ?? new Set();
  }

  /**
   * The value in hand is another from now on.
   *
   * @param {AnswerPart} part
   */
  setPart(part) {
    const { local } = this;
    if (!local) return;
    local.parts = local.parts.map((each, place) => (place === local.place ? part : each));
    local.pages = part.pages;
  }

  /**
   * @param {AnswerPart[]} parts
   * @param {number} place the one in hand
   */
  setParts(parts, place) {
    const { local } = this;
    if (!local) return;
    local.parts = parts.length ? parts : [EMPTY_PART];
    local.place = Math.max(0, Math.min(place, local.parts.length - 1));
    local.pages = local.parts[local.place].pages;
  }

  bestPage() {
    const marked = this.place.document?.pages.find((page) => !isBlank(this.markOn(page.id)));
    return marked?.id ?? this.local?.proposal?.page_id ?? this.place.page?.id;
  }

  /**
   * @param {string[]} ids
   * @returns {string} such as “page 3” or “pages 3 and 5”
   */
  namePages(ids) {
    const numbers = (this.place.document?.pages ?? []).filter(({ id }) => ids.includes(id)).map(({ number }) => number);
    const list = new Intl.ListFormat('en').format(numbers.map(String));
    return `${numbers.length === 1 ? 'page' : 'pages'} ${list}`;
  }
}
