// Editing in the table: the cell that has the focus, beside the page with its mark. Holds the grid, the desk of the
// cell and its panel together.

import { h } from '../core/dom.js';
import { keymap } from '../core/keyboard.js';
import { Toasts } from '../core/toast.js';
import { CellDesk } from './answer_cell_desk.js';
import { CellPanel } from './answer_cell_panel.js';
import { LatestCells } from './answer_table_latest.js';

/** @import { Place } from './answer_cell_desk.js' */
/** @import { LatestCell } from './answer_table_latest.js' */
/** @import { AnswerGrid } from './answer_table_grid.js' */

/** @type {Record<string, number>} */
const READINGS = { reading1: 0, reading2: 1, reading3: 2 };

export class CellEditor {
  latest = new LatestCells();
  /** @type {(() => void)[]} who waits until nobody writes */
  waiting = [];
  wantsText = false; // the text is to be corrected as soon as the answer is there

  /** @param {() => AnswerGrid} grid */
  constructor(grid) {
    this.grid = grid;
    this.desk = new CellDesk({
      changed: () => this.render(),
      tell: (sentence, ...actions) => this.toasts.show(sentence, actions.length ? 'undo' : 'info', ...actions),
      error: (error) => this.toasts.error(error),
      latest: (place, cell) => this.put(place, cell),
      show: (place) => this.show(place),
      free: () => new Promise((free) => (this.panel.writing ? this.waiting.push(free) : free())),
    });
    this.panel = new CellPanel(this.desk, {
      close: () => this.close(),
      back: () => this.grid().refocus(),
      act: (step) => this.act(step),
    });
    this.root = h('div', { class: 'g-cell-room' }, this.panel.root);
    this.toasts = new Toasts(this.root);
  }

  destroy() {
    this.desk.destroy();
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

  get open() {
    return this.desk.place !== null;
  }

  /**
   * @param {number} at row
   * @param {number} column
   * @returns {Place | null}
   */
  placeAt(at, column) {
    const { rows, columns, project } = this.grid(),
      row = rows[at],
      field = columns[column - 1];
    if (!row || !field) return null;
    const { document_id: document, name } = row;
    const cell = this.latest.of(row).cells[field.name] ?? null;
    return { project, document, name, field: field.name, question: field.question, cell };
  }

  /**
   * A cell of a field has the focus; where the panel is open, it follows.
   *
   * @param {number} at row
   * @param {number} column
   */
  held(at, column) {
    if (this.open) this.look(at, column);
  }

  /**
   * @param {number} at row
   * @param {number} column
   */
  look(at, column) {
    const place = this.placeAt(at, column),
      { place: before } = this.desk;
    if (!place) return;
    if (before?.document === place.document && before.field === place.field && !this.desk.failure) return;
    this.panel.commit();
    this.wantsText = false;
    void this.act(() => this.desk.look(place));
    this.panel.root.scrollIntoView({ block: 'nearest' });
  }

  /**
   * @param {number} at row
   * @param {number} column
   */
  edit(at, column) {
    this.look(at, column);
    const { answer, loading } = this.desk;
    if (loading) this.wantsText = true;
    else if (!answer?.local || answer.lock) void this.act(() => this.desk.ask());
    else this.panel.correct();
  }

  /** @param {Place} place */
  show(place) {
    const grid = this.grid();
    const at = grid.places.get(place.document) ?? -1,
      column = grid.columns.findIndex(({ name }) => name === place.field) + 1;
    this.panel.commit();
    this.desk.place = place; // the focus that follows looks at nothing else
    if (at >= 0 && column) grid.focus(at, column);
  }

  /** The rows of another project come. */
  leave() {
    this.panel.commit();
    this.desk.close();
  }

  close() {
    this.leave();
    this.grid().refocus();
  }

  /**
   * @param {KeyboardEvent} event in a cell of a field
   * @returns {boolean} whether it was one of the cell in hand
   */
  key(event) {
    const { desk } = this,
      { answer, values } = desk;
    if (!this.open) return false;
    if (event.key === 'Escape') return (this.close(), true);
    const name = keymap.commandOf(event) ?? '';
    if (name === 'undo') return (void this.act(() => desk.undo()), true);
    if (!answer?.local || desk.loading || !values) return false;
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) {
      if (answer.mine(answer.local) && !answer.decided) answer.accept();
      return true;
    }
    if (name in READINGS) return Boolean(values.view?.readings[READINGS[name]]) && (values.pick(READINGS[name]), true);
    if (name === 'correctText') return (this.panel.correct(), true);
    if (name === 'noAnswer') return (answer.noAnswer(), true);
    if (name === 'clear') return !answer.blank && (answer.clearValue(), true);
    if (name === 'nextValue') return (values.step(1), true);
    if (name === 'previousValue') return (values.step(-1), true);
    return false;
  }

  /**
   * @param {Place} place
   * @param {LatestCell} cell
   */
  put({ document, field }, cell) {
    const grid = this.grid(),
      row = grid.rows[grid.places.get(document) ?? -1];
    this.latest.put(document, field, row?.cells[field] ?? null, cell);
    grid.draw();
  }

  /** Answers have changed on the server. */
  refresh() {
    if (this.panel.writing) return;
    const { place, answer, loading } = this.desk;
    const row = place && this.grid().rows[this.grid().places.get(place.document) ?? -1],
      cell = row?.cells[place?.field ?? ''];
    const came = place && !answer?.local && !answer?.asking && !loading && cell?.annotation_id;
    void this.act(() => (came ? this.desk.look({ ...place, cell }) : this.desk.refresh()));
  }

  render() {
    const { desk } = this,
      { place } = desk,
      grid = this.grid();
    const at = place ? grid.places.get(place.document) : undefined;
    const row = at === undefined ? undefined : this.latest.of(grid.rows[at]);
    this.panel.render({ field: grid.columns.find(({ name }) => name === place?.field), row });
    this.root.hidden = !this.open;
    if (!this.panel.writing) for (const free of this.waiting.splice(0)) free();
    if (!this.wantsText || desk.loading) return;
    this.wantsText = false;
    if (desk.failure) return;
    if (!desk.answer?.local || desk.answer.lock) return; // the panel offers to answer the cell
    this.panel.correct();
  }
}
