// The form of one field. It is built when somebody opens it, and then only what depends on other parts is drawn anew.

import { h, redraw } from '../core/dom.js';
import { drawMarkdown } from '../core/markdown.js';
import { ChoicesPart } from './field_choices.js';
import { ColumnsPart } from './field_columns.js';
import { labelled, linesOf, selectInput, textArea, textInput, tickBox } from './field_inputs.js';
import { RulesPart } from './field_rules.js';
import { TYPES } from './field_words.js';
import { button, set } from './people_parts.js';

/** @import { FieldDefinition } from '../types' */
/** @import { DraftField } from './field_draft.js' */
/** @import { Labelled } from './field_inputs.js' */
/** @import { Problem } from './field_problems.js' */

/**
 * @typedef {object} FieldFormActs
 * @property {(change: Partial<FieldDefinition>) => unknown} change
 * @property {() => unknown} close
 */

const NAME_HINT = 'The key of the value in exports: small letters, digits and _.';
const QUESTION_HINT = 'Asked of the model, and shown to people.';
const CONFIDENCE_HINT = 'Values from this confidence on count without people. Empty: as in the project.';
/** @type {Record<'currency' | 'country', [label: string, type: string, hint: string]>} */
const DEFAULTS = {
  currency: ['Currency of amounts without one', 'currency', 'Three letters, as EUR. Empty: the papers name it.'],
  country: ['Country of numbers without one', 'phone', 'Two letters, as DE. Empty: the papers name it.'],
};

export class FieldForm {
  /**
   * @param {DraftField} field
   * @param {FieldFormActs} act
   * @param {HTMLElement | null} versions stands at the end
   */
  constructor(field, act, versions) {
    const { change } = act;
    this.name = textInput(field.name, (name) => change({ name: name.trim() }), {
      class: 'g-code',
      maxlength: '60',
      spellcheck: 'false',
    });
    const question = textInput(field.question, (text) => change({ question: text }), {
      dir: 'auto',
      maxlength: '1000',
    });
    const types = Object.entries(TYPES).map(([type, [title]]) => /** @type {const} */ ([type, title]));
    const type = selectInput(types, field.type, (value) =>
      change({ type: /** @type {FieldDefinition['type']} */ (value) }),
    );
    const guideline = textArea(field.guideline, (text) => change({ guideline: text }), { rows: '5', dir: 'auto' });
    const examples = textArea(field.examples.join('\n'), (text) => change({ examples: linesOf(text) }), {
      dir: 'auto',
      rows: '2',
    });
    const share = field.confidence === null ? '' : String(Math.round(1000 * field.confidence) / 10);
    const confidence = textInput(
      share,
      (text) => change({ confidence: text.trim() ? Number(text.replace(',', '.')) / 100 : null }),
      { inputmode: 'decimal', class: 'g-short' },
    );
    /** @param {'currency' | 'country'} part */
    const code = (part) =>
      labelled(
        DEFAULTS[part][0],
        textInput(field[part] ?? '', (text) => change({ [part]: text.trim().toUpperCase() || null }), {
          class: 'g-short',
          maxlength: '3',
        }),
        DEFAULTS[part][2],
      );
    /** @type {Record<string, Labelled>} */
    this.inputs = {
      question: labelled('Question', question, QUESTION_HINT),
      name: labelled('Name', this.name, NAME_HINT),
      type: labelled('Type', type, ' '),
      guideline: labelled(
        'Guideline',
        guideline,
        'Markdown. It stands beside the task of everybody who answers the question.',
      ),
      examples: labelled('Examples', examples, 'Values as papers print them, one a line.'),
      currency: code('currency'),
      country: code('country'),
      confidence: labelled('Confidence (%)', confidence, CONFIDENCE_HINT),
    };
    this.choices = new ChoicesPart((choices) => change({ choices }));
    this.columns = new ColumnsPart(field.id ? field.columns.map(({ name: key }) => key) : [], (columns) =>
      change({ columns }),
    );
    this.rules = new RulesPart((rules) => change({ rules }));
    this.preview = h('div', { class: 'g-guideline-preview', hidden: true });
    this.problem = h('p', { class: 'g-problem', role: 'status', hidden: true });
    this.issuer = tickBox('Issuer: the value says who issued the document', field.issuer, (issuer) =>
      change({ issuer }),
    );
    this.issuer.title = 'How an issuer prints dates and amounts can be remembered for its documents alone.';
    this.several = tickBox('Several values: a document may have more than one', field.several, (several) =>
      change({ several }),
    );
    const { question: asked, name, guideline: guide, ...rest } = this.inputs;
    this.root = h(
      'div',
      { class: 'g-field-form', role: 'group', 'aria-label': 'Field' },
      asked.root,
      h('div', { class: 'g-pair' }, name.root, rest.type.root),
      h(
        'div',
        { class: 'g-ticks' },
        tickBox('Required: every document must have a value', field.required, (required) => change({ required })),
        this.issuer,
        this.several,
      ),
      this.choices.root,
      this.columns.root,
      rest.currency.root,
      rest.country.root,
      guide.root,
      this.preview,
      rest.examples.root,
      this.rules.root,
      rest.confidence.root,
      versions,
      this.problem,
      h('div', { class: 'g-line' }, button('Close field', act.close)),
    );
  }

  focus() {
    this.inputs.question.control.focus();
  }

  /**
   * @param {DraftField} field
   * @param {readonly DraftField[]} fields the list
   * @param {readonly Problem[]} problems of all fields
   */
  render(field, fields, problems) {
    const own = problems.filter(({ key }) => key === field.key);
    /** @param {string} part */
    const at = (part) => own.find((each) => each.part === part)?.sentence ?? '';
    if (this.name.value.trim() !== field.name) this.name.value = field.name; // proposed from the question
    for (const [part, { say }] of Object.entries(this.inputs)) say(at(part));
    set(this.inputs.type.about, TYPES[field.type]?.[1] ?? '');
    this.inputs.currency.root.hidden = field.type !== DEFAULTS.currency[1];
    this.inputs.country.root.hidden = field.type !== DEFAULTS.country[1];
    this.issuer.hidden = field.type !== 'string' && !field.issuer;
    const table = field.type === 'table';
    this.several.hidden = this.inputs.examples.root.hidden = table;
    this.columns.root.hidden = !table;
    this.columns.render(field.columns, at);
    this.choices.root.hidden = field.type !== 'choice';
    this.choices.render(field.choices, at('choices'));
    const others = fields
      .filter((each) => each !== field && each.name)
      .map(({ name, type, columns }) => ({ name, type, columns }));
    this.rules.render(field, others, (place) => at(`rules.${place}`));
    this.preview.hidden = !field.guideline.trim();
    redraw(this.preview, field.guideline, () => [
      h('p', { class: 'g-hint' }, 'As it is shown:'),
      drawMarkdown(field.guideline),
    ]);
    const placed = new Set([...Object.keys(this.inputs), 'choices', 'columns']);
    const isPlaced = (/** @type {string} */ part) => placed.has(part) || /^(rules|columns)\./.test(part);
    set(this.problem, own.find(({ part }) => !isPlaced(part))?.sentence ?? '');
  }
}
