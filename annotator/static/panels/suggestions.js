// What can be asked of the open document: standard questions not asked yet, recent ones while typing, one's own before
// these.

import { get, post } from '../core/api.js';
import { h, redraw, replace } from '../core/dom.js';
import { count } from '../core/text.js';
import { icon } from '../core/icons.js';
import { hint, typing } from '../core/keyboard.js';
import { remember, remembered } from '../core/storage.js';

/** @import { Askable, AnnotationView, Recent } from '../types' */
/** @import { Library } from '../state/library.js' */
/** @import { Session } from '../state/session.js' */

/**
 * @typedef {object} SuggestionActs
 * @property {(text: string) => void} ask
 * @property {(annotation: AnnotationView, first: boolean) => void} asked one of many that are asked at once is answered
 * @property {() => void} edit the standard questions
 * @property {() => string | null} answering the question whose answer is open, which needs the room
 * @property {(sentence: string) => void} tell
 * @property {(error: unknown) => void} error
 */

const SHOWN = 5,
  BESIDE = 2; // standard questions before "more"; beside an open answer, which needs the room
const LISTED = 8; // suggestions while typing
const REMEMBERED = 50; // questions of the history
const CHORD = 5_000; // milliseconds that S waits for its digit

export class Suggestions {
  /** @type {Askable[]} */
  standard = [];
  /** @type {Recent[]} */
  recent = [];
  /** @type {{ done: number, number: number, stop: boolean } | null} while all are being asked */
  all = null;
  /** @type {{ text: string, note: string }[]} */
  matches = [];
  at = -1; // the chosen one of matches
  /** @type {number | null} place in the history, while one walks through it */
  back = null;
  wide = false;
  /** @type {string | null} the document and project that the questions are of */
  shown = null;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  timer = undefined;

  /**
   * @param {HTMLElement} root
   * @param {HTMLTextAreaElement} field the question's
   * @param {Library} library
   * @param {Session} session
   * @param {SuggestionActs} act
   */
  constructor(root, field, library, session, act) {
    this.root = root;
    this.field = field;
    this.library = library;
    this.session = session;
    this.act = act;
    this.room = h('div', { class: 'g-suggestions' });
    this.list = h('ul', {
      class: 'g-matches',
      id: 'g-matches',
      role: 'listbox',
      'aria-label': 'Questions asked before',
      hidden: true,
    });
    field.closest('.g-question-box')?.append(this.list);
    root.append(this.room);
    const roles = {
      'aria-haspopup': 'listbox', // a field of several lines cannot be a combobox
      'aria-controls': 'g-matches',
      'aria-autocomplete': 'list',
    };
    for (const [name, value] of Object.entries(roles)) field.setAttribute(name, value);
    field.addEventListener('keydown', (event) => this.taken(event), { capture: true });
    field.addEventListener('input', () => {
      this.back = null;
      this.match();
    });
    field.addEventListener('blur', () => this.close());
    this.chord = (/** @type {KeyboardEvent} */ event) => this.digit(event);
    this.elsewhere = () => this.disarm(); // a hand that goes to the mouse means something else
  }

  /** Loads where another document is open now. */
  follow() {
    const { project, document } = this.library,
      wanted = `${project?.id} ${document?.id}`;
    if (this.shown === wanted) return;
    this.shown = wanted;
    this.standard = [];
    this.recent = [];
    this.load();
  }

  /** What the server knows for the open document. Fails silently: one can ask without suggestions. */
  async load() {
    const { project, document } = this.library;
    if (!project) return;
    const answer = await get('/projects/{project_id}/questions', {
      project_id: project.id,
      document_id: document?.id,
    }).catch(() => null);
    if (!answer || project !== this.library.project || document !== this.library.document) return;
    const text = this.act.answering(),
      stood = this.standard.some((each) => each.text === text);
    Object.assign(this, answer);
    if (text && stood && !this.standard.some((each) => each.text === text))
      this.act.tell(`“${text}” is no longer a standard question. Your answer stays; others are not asked it any more.`);
    this.render();
    // Somebody was faster.
    if (document && this.field === globalThis.document.activeElement && this.back === null) this.match();
  }

  /** What this person has asked of the open document. */
  get asked() {
    return new Set(
      (this.library.document?.annotations ?? [])
        .filter((each) => this.session.mine(each))
        .map((each) => each.question.text),
    );
  }

  /** What others have answered about the open document, as far as this person may see it. */
  get answered() {
    const counts = ['submitted', 'accepted', 'fixed'];
    const lines = this.library.document?.annotations ?? [];
    return new Set(lines.filter((line) => counts.includes(line.status)).map((line) => line.question.text));
  }

  /** The standard questions that the document lacks. */
  get left() {
    const asked = new Set([...this.asked, ...this.answered]);
    return this.standard.filter((each) => !each.annotation_id && !asked.has(each.text));
  }

  // --- asking

  /** @param {string} text */
  ask(text) {
    this.close();
    this.act.ask(text);
  }

  /** One after the other; the first one is shown, the others wait in the list of questions. */
  async askAll() {
    const { document } = this.library,
      questions = this.left;
    if (this.all || !document || !questions.length) return;
    const all = { done: 0, number: questions.length, stop: false };
    this.all = all;
    this.render();
    try {
      for (const { text } of questions) {
        if (all.stop || this.library.document !== document) break;
        const annotation = await post('/documents/{document_id}/ask', { document_id: document.id }, { question: text });
        all.done++;
        this.act.asked(annotation, all.done === 1);
        this.render();
      }
    } catch (error) {
      this.act.error(error);
    } finally {
      this.all = null;
      this.render();
    }
  }

  /** S, then the digit of a standard question, or Enter for all of them. */
  arm() {
    if (!this.left.length || this.root.hidden)
      return this.act.tell(
        this.standard.length
          ? 'All standard questions have been asked about this document.'
          : 'This project has no standard questions.',
      );
    this.root.dataset.armed = 'on';
    document.addEventListener('keydown', this.chord, { capture: true });
    document.addEventListener('pointerdown', this.elsewhere, { capture: true });
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.disarm(), CHORD);
  }

  disarm() {
    clearTimeout(this.timer);
    delete this.root.dataset.armed;
    document.removeEventListener('keydown', this.chord, { capture: true });
    document.removeEventListener('pointerdown', this.elsewhere, { capture: true });
  }

  /** @param {KeyboardEvent} event */
  digit(event) {
    if (['Shift', 'Control', 'Alt', 'Meta'].includes(event.key)) return;
    this.disarm();
    if (event.ctrlKey || event.metaKey || event.altKey || typing(event.target)) return;
    const chosen = /^[1-9]$/.test(event.key) ? this.left[Number(event.key) - 1] : null;
    if (!chosen && event.key !== 'Enter') return;
    event.preventDefault();
    event.stopImmediatePropagation();
    if (chosen) this.ask(chosen.text);
    else this.askAll();
  }

  // --- while typing

  /** @param {KeyboardEvent} event */
  taken(event) {
    if (!this.key(event)) return;
    event.preventDefault();
    event.stopImmediatePropagation();
  }

  /**
   * Whether the key was for the list or the history.
   *
   * @param {KeyboardEvent} event
   * @returns {boolean}
   */
  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return false;
    const open = !this.list.hidden,
      { value } = this.field;
    if (open && event.key === 'Escape') return (this.close(), true);
    if (open && event.key === 'Enter' && this.at >= 0) return (this.ask(this.matches[this.at].text), true);
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    if (!step || event.shiftKey) return false;
    if (this.back !== null || (!value && step < 0)) return (this.walk(step), true);
    if (!open) return false;
    this.at = Math.min(this.matches.length - 1, Math.max(-1, this.at + step));
    this.choose();
    return true;
  }

  match() {
    const wanted = this.field.value.trim().toLowerCase(),
      { asked } = this;
    const known = [
      ...this.left.map((each) => ({ text: each.text, note: 'standard' })),
      ...this.recent
        .filter((each) => !asked.has(each.text))
        .map((each) => ({ text: each.text, note: count(each.times, 'document') })),
    ];
    this.matches = wanted
      ? known
          .filter((each) => each.text.toLowerCase().includes(wanted) && each.text.toLowerCase() !== wanted)
          .slice(0, LISTED)
      : [];
    this.at = -1;
    replace(
      this.list,
      this.matches.map((each, at) =>
        h(
          'li',
          {
            class: 'g-match',
            id: `g-match-${at}`,
            role: 'option',
            'aria-selected': 'false',
            title: each.text,
            on: { pointerdown: (event) => event.preventDefault(), click: () => this.ask(each.text) },
          },
          h('span', { dir: 'auto' }, highlit(each.text, wanted)),
          h('i', {}, each.note),
        ),
      ),
    );
    this.list.hidden = !this.matches.length;
    this.choose();
  }

  choose() {
    [...this.list.children].forEach((each, at) => each.setAttribute('aria-selected', String(at === this.at)));
    this.list.children[this.at]?.scrollIntoView({ block: 'nearest' });
    if (this.at < 0) this.field.removeAttribute('aria-activedescendant');
    else this.field.setAttribute('aria-activedescendant', `g-match-${this.at}`);
  }

  close() {
    this.matches = [];
    this.at = -1;
    this.list.hidden = true;
    this.choose();
  }

  // --- history: what this person asked in this project, newest last, in this browser

  get place() {
    return `glossator.asked.${this.session.user.id}.${this.library.project?.id}`;
  }

  /** @returns {string[]} */
  get history() {
    return remembered('local', this.place) ?? [];
  }

  /** @param {string} text */
  remember(text) {
    this.back = null;
    const kept = [...this.history.filter((each) => each !== text), text].slice(-REMEMBERED);
    remember('local', this.place, kept);
  }

  /** @param {number} step */
  walk(step) {
    const { history } = this;
    this.close();
    if (!history.length) return;
    const at = Math.max(0, (this.back ?? history.length) + step);
    this.back = at >= history.length ? null : at;
    this.field.value = history[at] ?? '';
    this.field.dispatchEvent(new Event('glossator:filled'));
    this.field.setSelectionRange(this.field.value.length, this.field.value.length);
  }

  // --- drawing

  render() {
    const { left, all } = this,
      { document } = this.library;
    this.root.hidden = !document || !(this.standard.length || this.session.reviewer);
    if (this.root.hidden) return;
    const few = this.act.answering() ? BESIDE : SHOWN,
      reviewer = this.session.reviewer;
    redraw(this.room, [left, all, this.wide, few, this.standard.length, reviewer], () =>
      this.content(left, few, reviewer),
    );
  }

  /**
   * @param {Askable[]} left
   * @param {number} few
   * @param {boolean} reviewer
   */
  content(left, few, reviewer) {
    const { all } = this,
      shown = this.wide ? left : left.slice(0, few);
    const head = all
      ? [
          h('span', { class: 'g-quiet' }, `Asking ${Math.min(all.done + 1, all.number)} of ${all.number}`),
          h('span', { class: 'g-bar' }, h('i', { style: `width: ${(100 * all.done) / all.number}%` })),
          h(
            'button',
            { class: 'g-link', disabled: all.stop, on: { click: () => ((all.stop = true), this.render()) } },
            all.stop ? 'Stopping…' : 'Stop',
          ),
        ]
      : [
          h('span', { class: 'g-quiet' }, title(this.standard.length, left.length)),
          reviewer &&
            h(
              'button',
              {
                class: 'g-icon-button g-small',
                title: 'Standard questions of this project',
                'aria-label': 'Standard questions of this project',
                on: { click: () => this.act.edit() },
              },
              icon('pencil', 14),
            ),
          left.length > 1 &&
            h(
              'button',
              {
                class: 'g-link g-all',
                title: `Ask all standard questions   ${hint('standard')}, then Enter`,
                on: { click: () => this.askAll() },
              },
              'Ask all',
            ),
        ];
    return [
      h('div', { class: 'g-suggestions-head' }, head),
      left.length
        ? h(
            'div',
            { class: 'g-standard', role: 'group', 'aria-label': 'Standard questions' },
            shown.map((each, at) => this.chip(each, at)),
            left.length > few &&
              h(
                'button',
                { class: 'g-link', on: { click: () => ((this.wide = !this.wide), this.render()) } },
                this.wide ? 'Fewer' : `${left.length - few} more`,
              ),
          )
        : null,
    ];
  }

  /**
   * @param {Askable} each
   * @param {number} at
   */
  chip(each, at) {
    return h(
      'button',
      {
        class: 'g-suggestion',
        disabled: this.all !== null,
        title: `${each.text}${at < 9 ? `   ${hint('standard')}, then ${at + 1}` : ''}`,
        on: { click: () => this.ask(each.text) },
      },
      at < 9 ? h('kbd', {}, String(at + 1)) : null,
      h('span', { dir: 'auto' }, each.text),
    );
  }
}

/**
 * @param {number} standard
 * @param {number} left
 */
const title = (standard, left) =>
  !standard
    ? 'No standard questions yet'
    : left
      ? `Standard questions · ${left} not asked yet`
      : 'All standard questions asked';

/**
 * The typed part of a suggestion stands out.
 *
 * @param {string} text
 * @param {string} wanted
 */
function highlit(text, wanted) {
  const at = text.toLowerCase().indexOf(wanted);
  return [text.slice(0, at), h('b', {}, text.slice(at, at + wanted.length)), text.slice(at + wanted.length)];
}
