// The cell in hand beside the table: the page with its mark, the value, and what can be done with it.

import { frameAround, markPicture } from '../canvas/mark_picture.js';
import { sentenceOf } from '../core/api.js';
import { h, redraw, replace } from '../core/dom.js';
import { icon } from '../core/icons.js';
import { hint } from '../core/keyboard.js';
import { signs } from '../core/keymap.js';
import { ValuesPanel } from '../panels/answer_values.js';
import { rowsText, tableCells } from '../panels/table_cells.js';
import { isTable, tableRows } from '../state/table.js';
import { button } from './people_parts.js';
import { placeOf, statesOf, wordsOf } from './answer_table_words.js';

/** @import { StoredField, TableRow } from '../types' */
/** @import { CellDesk } from './answer_cell_desk.js' */

/**
 * @typedef {object} PanelActs
 * @property {() => void} close
 * @property {() => void} back the focus goes back to the cell
 * @property {(step: () => unknown) => unknown} act runs what may fail, and says so
 */

/**
 * @typedef {object} PanelView
 * @property {StoredField | undefined} field of the cell in hand
 * @property {TableRow | undefined} row of the cell, with what was saved here
 */

export class CellPanel {
  /** @type {PanelView} */
  shown = { field: undefined, row: undefined };
  /** @type {ValuesPanel | null} once it is known who is at work */
  values = null;

  /**
   * @param {CellDesk} desk
   * @param {PanelActs} act
   */
  constructor(desk, act) {
    this.desk = desk;
    this.act = act;
    this.title = h('h2', { dir: 'auto' });
    this.name = h('span', { class: 'g-cell-name', dir: 'auto' });
    this.text = h('p', { class: 'g-cell-text', dir: 'auto' });
    this.states = h('p', { class: 'g-cell-states' });
    this.picture = h('div', { class: 'g-cell-picture' });
    this.note = h('p', { class: 'g-cell-note', role: 'status' });
    this.body = h('div', { class: 'g-cell-value' });
    this.halt = h('div', { class: 'g-cell-halt', role: 'alert' });
    this.acts = h('div', { class: 'g-cell-acts' });
    this.line = h('p', { class: 'g-cell-saved', role: 'status' });
    this.root = h(
      'section',
      { class: 'g-cell', 'aria-label': 'Cell', hidden: true, on: { keydown: (event) => this.key(event) } },
      h(
        'header',
        {},
        h('div', {}, this.title, this.name),
        h(
          'button',
          { type: 'button', class: 'g-icon-button', 'aria-label': 'Close', on: { click: () => act.close() } },
          icon('cross'),
        ),
      ),
      this.halt,
      this.picture,
      this.text,
      this.states,
      this.body,
      this.note,
      this.acts,
      this.line,
    );
  }

  /** Whether somebody writes a text here. */
  get writing() {
    return this.values?.correcting ?? false;
  }

  /** Opens the line in which the text is corrected, where there is a text. */
  correct() {
    const { answer } = this.desk;
    if (!answer?.local || answer.on.locked()) return;
    this.values?.correct();
  }

  /** What was typed is saved: somebody goes on to another cell. */
  commit() {
    const input = this.body.querySelector('textarea');
    if (this.writing && input) this.desk.values?.correct(input.value);
    if (this.values) this.values.correcting = false;
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    if (event.key !== 'Escape' || event.defaultPrevented || event.target instanceof HTMLTextAreaElement) return;
    event.preventDefault();
    event.stopPropagation();
    this.act.back();
  }

  /** @param {PanelView} shown */
  render(shown = this.shown) {
    this.shown = shown;
    const { desk } = this,
      { place, answer } = desk,
      { field, row } = shown;
    this.root.hidden = !place || !field;
    if (!place || !field) return;
    const local = answer?.local ?? null,
      cell = row?.cells[place.field];
    this.root.setAttribute('aria-label', `Cell: ${place.field}, ${place.name}`);
    redraw(this.title, place.field, () => place.field);
    redraw(this.name, place.name, () => place.name);
    const states = cell ? statesOf(cell, field) : [];
    const { text } = wordsOf(cell, field, []);
    redraw(this.text, text, () => text);
    const rules = (row?.rules ?? []).filter((each) => each.field === place.field);
    redraw(this.states, [states, rules], () => [
      states.map((state) => h('span', { dataset: { look: state.look } }, icon(state.sign, 14), state.words)),
      rules.map(({ sentence }) => h('span', { class: 'g-cell-rule' }, sentence)),
    ]);
    this.renderPicture();
    this.renderValues();
    redraw(this.note, [this.noteWords()], () => this.noteWords());
    this.renderHalt();
    this.renderActs();
    redraw(this.line, this.savedWords(), () => this.savedWords());
    this.root.dataset.several = String((local?.parts.length ?? 0) > 1);
    this.root.ariaBusy = String(desk.loading || Boolean(answer?.asking));
    this.root.dataset.ready = desk.loading || desk.failure ? '' : `${local?.id ?? ''} ${local?.head ?? ''}`;
  }

  renderPicture() {
    const { sight, open, answer } = this.desk,
      { page, document } = open;
    const mark = answer?.local && !answer.local.no_answer && page ? answer.markOn(page.id) : null;
    redraw(this.picture, [sight && page?.id, page?.image, mark?.mask, mark?.words, this.desk.loading], () => {
      if (!sight || !page || this.desk.loading) return h('div', { class: 'g-cell-blank' });
      const shown = mark ?? { words: [], mask: { box: [0, 0, 0, 0], counts: [] }, points: [], boxes: [] };
      const origin = mark && answer ? answer.originOf(page.id, mark) : 'person';
      const { canvas, draw } = markPicture(page, sight.image, sight.words, shown, origin);
      draw(frameAround(page, [shown]));
      return [canvas, h('small', {}, `Page ${page.number} of ${document?.pages.length ?? 1}`)];
    });
  }

  renderValues() {
    const { desk } = this,
      { answer, values } = desk,
      local = answer?.local;
    if (!this.values && values && desk.table) {
      const redrawn = () => {
        this.render();
        if (!this.writing) this.act.back();
      };
      this.values = new ValuesPanel(values, redrawn, desk.table);
      replace(this.body, this.values.root);
    }
    this.body.hidden = !local || desk.loading;
    if (local && answer) {
      const text = (/** @type {number} */ place) => desk.textOf(place);
      this.values?.render({
        ...{ annotation: local, locked: answer.lock !== null, text },
        ...tableCells(local, text, desk.pages),
      });
    }
  }

  noteWords() {
    const { desk } = this,
      { answer, place } = desk;
    if (desk.failure) return sentenceOf(desk.failure);
    if (desk.loading) return 'Loading…';
    if (answer?.asking) return 'The model answers…';
    if (!answer?.local) {
      return place?.cell?.status
        ? 'The model has answered this, and no person. Answer the cell to correct or accept it.'
        : 'Nobody has answered this yet.';
    }
    if (answer.local.no_answer) return 'Not in the document.';
    if (answer.lock) return answer.lock;
    return answer.blank ? 'Nothing is marked. Open the page to mark the answer.' : '';
  }

  renderHalt() {
    const { desk } = this,
      { halt } = desk;
    const mine = this.mineWords();
    redraw(this.halt, halt && [halt.id, halt.kind, halt.sentence, halt.here, mine, halt.current?.head], () => {
      if (!halt) return null;
      if (!halt.here) {
        const name = desk.places.get(halt.id)?.name ?? 'another document';
        return [
          h('p', {}, `A change in ${name} was not saved. `),
          button('Show it', () => this.act.act(() => desk.showHalted())),
        ];
      }
      const { current } = halt;
      const who = current && (current.editor ?? current.author).name;
      const said = current?.values ?? [];
      const texts = isTable(current)
        ? rowsText(new Set(said.map(({ cell }) => cell?.row)).size)
        : said.map(({ text }) => text).join(' · ');
      const theirs = current?.state.no_answer ? 'Not in the document' : texts || current?.text || 'Nothing marked';
      return [
        h('p', {}, current ? `${who} has changed this answer meanwhile.` : halt.sentence),
        h('dl', {}, [
          h('dt', {}, 'Your version'),
          h('dd', { dir: 'auto' }, mine),
          current && [h('dt', {}, `Saved by ${who}`), h('dd', { dir: 'auto' }, theirs)],
        ]),
        h(
          'div',
          { class: 'g-cell-acts' },
          button(current ? 'Save my version' : 'Try again', () => this.act.act(() => desk.keepMine()), 'g-first'),
          button(current ? 'Use saved version' : 'Discard my version', () => this.act.act(() => desk.takeTheirs())),
        ),
      ];
    });
  }

  mineWords() {
    const local = this.desk.answer?.local;
    if (!local) return '';
    if (local.no_answer) return 'Not in the document';
    if (isTable(local)) return rowsText(tableRows(local.parts).length);
    const texts = local.parts.map(({ correction }, at) => correction?.text ?? this.desk.textOf(at));
    return texts.filter(Boolean).join(' · ') || 'Nothing marked';
  }

  renderActs() {
    const { desk } = this,
      { answer, place } = desk,
      local = answer?.local ?? null;
    const idle = !desk.loading && !desk.failure && !answer?.asking;
    const asks = idle && (!local || answer?.lock !== null);
    const acts = idle && local !== null && answer?.lock === null;
    const own = acts && answer.mine(local);
    const view = [
      ...[idle, asks, acts, own, local?.status, local?.no_answer, answer?.blank, answer?.decided, desk.steps.length],
      ...[place?.document, place?.field, local?.id, desk.open.page?.id, hint('noAnswer'), hint('undo')],
    ];
    redraw(this.acts, view, () => {
      const key = (/** @type {string} */ text) => h('kbd', {}, text);
      const act = (
        /** @type {string} */ label,
        /** @type {string} */ keys,
        /** @type {() => unknown} */ run,
        kind = '',
      ) => {
        const made = button(label, () => this.act.act(run), kind);
        if (keys) made.append(key(keys));
        return made;
      };
      const link = h('a', { class: 'g-act', href: this.address }, 'Open the page');
      return [
        asks && act('Answer the cell', 'Enter', () => desk.ask(), 'g-first'),
        own &&
          !answer.decided &&
          !answer.blank &&
          act('Accept', signs('Mod+Enter').join(' '), () => answer.accept(), 'g-first'),
        acts &&
          act(local.no_answer ? 'It is in the document' : 'Not in the document', hint('noAnswer'), () =>
            answer.noAnswer(),
          ),
        acts && !answer.blank && !local.no_answer && act('Clear', hint('clear'), () => answer.clearValue()),
        desk.steps.length > 0 && act('Undo', hint('undo'), () => desk.undo()),
        link,
      ];
    });
  }

  /** The document at the answer, to mark it anew. */
  get address() {
    const { place, answer, open } = this.desk,
      local = answer?.local;
    if (!place) return '#';
    const cell = {
      annotation_id: local?.id ?? place.cell?.annotation_id ?? null,
      page_id: open.page?.id ?? place.cell?.page_id ?? null,
    };
    return placeOf(place.project, place.document, cell);
  }

  savedWords() {
    const { queue } = this.desk;
    if (!queue) return '';
    if (queue.state === 'offline')
      return queue.why ?? 'Not saved yet: the server cannot be reached. It is tried again.';
    if (queue.state === 'saving') return 'Saving…';
    return queue.savedAt && queue.state === 'saved' ? 'Saved' : '';
  }
}
