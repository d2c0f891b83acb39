// The values of the open answer: as their field reads them, with the readings of an ambiguous text, a line to correct
// the text, and further values.

import { h, redraw } from '../core/dom.js';
import { hint } from '../core/keyboard.js';
import { shownValue } from '../core/shown_value.js';
import { isBlankPart, viewOf } from '../state/parts.js';
import { isTable } from '../state/table.js';
import { TablePanel } from './table_panel.js';

/** @import { OpenedAnswer, ValueView } from '../types' */
/** @import { AnswerValues } from '../state/answer_values.js' */
/** @import { TableWork } from '../state/table_work.js' */
/** @import { CellView } from './table_cells.js' */

const MARK_ALONE = ['signature', 'region', 'table'];
const READING_KEYS = ['reading1', 'reading2', 'reading3'];

/**
 * @typedef {object} ValuesView
 * @property {OpenedAnswer} annotation
 * @property {boolean} locked
 * @property {(place: number) => string} text printed text of a value, as it is marked now
 * @property {(place: number) => ValueView | null} viewOf what the server says of a cell of a table
 * @property {(place: number) => CellView} cellOf a cell of a table
 */

export class ValuesPanel {
  correcting = false;

  /**
   * @param {AnswerValues} act
   * @param {() => unknown} changed draw anew
   * @param {TableWork} table
   */
  constructor(act, changed, table) {
    this.act = act;
    this.changed = changed;
    this.table = new TablePanel(table, act);
    this.list = h('div', { class: 'g-values', role: 'group', 'aria-label': 'Values of this answer' });
    this.reading = h('div', { class: 'g-value' });
    this.line = h('div', { class: 'g-value-line' });
    this.root = h('div', { class: 'g-part' }, this.list, this.table.root, this.reading, this.line);
  }

  /** Opens the line in which the text is corrected. */
  correct() {
    if (!this.table.root.hidden) return this.table.edit();
    this.correcting = true;
    this.changed();
  }

  /** @param {ValuesView} of */
  render(of) {
    const { annotation, locked, text } = of,
      { parts, place, field, no_answer: none } = annotation;
    const table = isTable(annotation) && !none;
    this.table.root.hidden = !table;
    this.list.hidden = table;
    if (table) return this.renderTable(of);
    this.root.hidden = none || (!field && parts.length < 2);
    if (this.root.hidden) {
      this.correcting = false;
      return;
    }
    const values = annotation.values ?? [],
      view = viewOf(parts, values, place);
    const lines = parts.map((part, at) => ({
      text: isBlankPart(part) ? 'Nothing is marked yet' : (viewOf(parts, values, at)?.text ?? text(at)) || 'No words',
      blank: isBlankPart(part),
    }));
    const several = parts.length > 1 || Boolean(field?.several);
    redraw(this.list, [several, place, locked, lines.map((line) => line.text), hint('addValue')], () =>
      several ? this.drawList(lines, place, locked) : null,
    );
    redraw(this.reading, [view, field?.type, locked, READING_KEYS.map(hint), isBlankPart(parts[place])], () =>
      view && field && !isBlankPart(parts[place]) ? this.drawReading(view, field.type, locked) : null,
    );
    const correctable = Boolean(view) && !locked && !MARK_ALONE.includes(field?.type ?? '');
    if (!correctable) this.correcting = false;
    redraw(this.line, [correctable, this.correcting, view?.corrected, view?.printed, hint('correctText'), place], () =>
      correctable && view ? this.drawLine(view) : null,
    );
  }

  /** @param {ValuesView} of */
  renderTable({ annotation, locked, viewOf: view, cellOf }) {
    const { parts, place, field } = annotation,
      part = parts[place];
    this.root.hidden = this.correcting = false;
    this.table.render({ locked, cellOf });
    const type = field?.columns?.find(({ name }) => name === part.cell?.column)?.type ?? 'string',
      said = part.cell && !isBlankPart(part) ? view(place) : null;
    redraw(this.reading, [said, type, locked, READING_KEYS.map(hint)], () =>
      said ? this.drawReading(said, type, locked) : null,
    );
    const doubt = said || isBlankPart(part) ? '' : cellOf(place).reason;
    redraw(this.line, [said?.text, said?.printed, said?.corrected, doubt, locked, hint('correctText')], () => [
      doubt ? h('p', { class: 'g-differs' }, doubt) : null,
      said && !locked ? this.drawLine(said) : null,
    ]);
  }

  /**
   * @param {{ text: string, blank: boolean }[]} lines
   * @param {number} place
   * @param {boolean} locked
   */
  drawList(lines, place, locked) {
    const rows = lines.map((line, at) =>
      h(
        'button',
        {
          class: `g-candidate g-value-row${line.blank ? ' g-none' : ''}`,
          'aria-pressed': String(at === place),
          title: `Value ${at + 1} of ${lines.length}   ${hint('nextValue')}`,
          on: { click: () => this.act.choose(at) },
        },
        h('small', { class: 'g-value-number' }, `${at + 1}.`),
        h('span', {}, h('bdi', { dir: 'auto' }, line.text)),
      ),
    );
    const add = h(
      'button',
      {
        class: 'g-link',
        title: `A further value of this field   ${hint('addValue')}`,
        on: { click: () => this.act.add() },
      },
      'Add a value',
      h('kbd', {}, hint('addValue')),
    );
    const remove = h(
      'button',
      {
        class: 'g-link',
        title: `Remove the value in hand   ${hint('removeValue')}`,
        on: { click: () => this.act.remove() },
      },
      `Remove value ${place + 1}`,
    );
    return [...rows, locked ? null : h('div', { class: 'g-value-acts' }, add, lines.length > 1 ? remove : null)];
  }

  /**
   * @param {ValueView} view
   * @param {string} type
   * @param {boolean} locked
   */
  drawReading(view, type, locked) {
    if (view.readings.length) {
      return [
        h('p', { class: 'g-quiet' }, 'The text may mean:'),
        ...view.readings.map((reading, at) =>
          h(
            'button',
            { class: 'g-candidate', disabled: locked, on: { click: () => this.act.pick(at) } },
            h('kbd', {}, hint(READING_KEYS[at] ?? '')),
            h('span', {}, h('bdi', {}, shownValue(reading.value, type)), h('small', {}, reading.words)),
          ),
        ),
      ];
    }
    if (view.reason && !MARK_ALONE.includes(type)) return h('p', { class: 'g-differs' }, view.reason);
    if (view.value === null || view.value === undefined || MARK_ALONE.includes(type)) return null;
    const shown = shownValue(view.value, type);
    if (shown === view.text && !view.corrected) return null;
    return h(
      'p',
      { class: 'g-value-shown' },
      h('span', { class: 'g-quiet' }, 'Value'),
      h('b', { dir: 'auto' }, shown),
      view.rule === 'person' ? h('small', {}, 'picked by a person') : null,
    );
  }

  /** @param {ValueView} view */
  drawLine(view) {
    if (!this.correcting) {
      return [
        view.text !== view.printed
          ? h('p', { class: 'g-quiet' }, 'Read on the page as ', h('bdi', { dir: 'auto' }, view.printed || 'nothing'))
          : null,
        h(
          'div',
          { class: 'g-value-acts' },
          h(
            'button',
            { class: 'g-link', on: { click: () => this.correct() } },
            'Correct the text',
            h('kbd', {}, hint('correctText')),
          ),
          view.corrected
            ? h(
                'button',
                { class: 'g-link', on: { click: () => this.act.say(null, 'text') } },
                'Take the correction back',
              )
            : null,
        ),
      ];
    }
    const rows = Math.min(6, view.text.split('\n').length);
    const input = h('textarea', {
      class: 'g-input',
      rows,
      dir: 'auto',
      'aria-label': 'Text of the value',
      maxlength: 2000,
    });
    input.value = view.text;
    const end = () => {
      this.correcting = false;
      this.changed();
    };
    const save = () => {
      this.act.correct(input.value);
      end();
    };
    input.addEventListener('keydown', (event) => {
      event.stopPropagation(); // the page's own keys rest while somebody writes
      if (event.key === 'Enter' && !event.shiftKey) {
        event.preventDefault();
        save();
      } else if (event.key === 'Escape') end();
    });
    requestAnimationFrame(() => (input.focus(), input.select()));
    return [
      input,
      h(
        'div',
        { class: 'g-value-acts' },
        h('button', { class: 'g-button g-primary', on: { click: save } }, 'Save the text', h('kbd', {}, 'Enter')),
        h('button', { class: 'g-button', on: { click: end } }, 'Cancel'),
      ),
    ];
  }
}
