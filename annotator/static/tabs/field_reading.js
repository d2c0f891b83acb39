// How the papers of a project print values: their locale, and the conventions that people have picked.

import { patch, post, sentenceOf } from '../core/api.js';
import { h, redraw } from '../core/dom.js';
import { labelled } from './field_inputs.js';
import { button, row } from './people_parts.js';

/** @import { ProjectView } from '../types' */
/** @import { Toasts } from '../core/toast.js' */

/** Regions that print values in ways of their own; any other locale of CLDR can be typed. */
const COMMON =
  'ar-EG bg-BG bn-BD cs-CZ da-DK de-AT de-CH de-DE el-GR en-AU en-CA en-GB en-IE en-IN en-NZ en-US en-ZA es-AR es-ES ' +
  'es-MX et-EE fi-FI fr-BE fr-CA fr-CH fr-FR he-IL hi-IN hr-HR hu-HU id-ID it-CH it-IT ja-JP ko-KR lt-LT lv-LV nb-NO ' +
  'nl-BE nl-NL pl-PL pt-BR pt-PT ro-RO ru-RU sk-SK sl-SI sv-SE th-TH tr-TR uk-UA vi-VN zh-CN zh-TW';

/** @type {Record<string, (value: string) => string>} */
const WORDS = {
  decimal: (value) =>
    value === '.'
      ? 'A point separates decimals: 1.250 is one and a quarter.'
      : 'A comma separates decimals: 1,250 is one and a quarter.',
  date_order: (value) => `Dates of numbers are in the order ${orderOf(value)}.`,
  two_digit_years: (value) => `Years of two digits lie from ${value} to ${Number(value) + 99}.`,
  calendar: (value) => `Years are of the ${value} calendar.`,
  clock: (value) => `Times without am and pm are of ${value} hours.`,
  credit_sign: (value) => (value === '-' ? 'CR behind an amount lowers it.' : 'CR behind an amount raises it.'),
  leading_dash: (value) =>
    value === '-' ? 'A dash before an amount is a minus.' : 'A dash before the point stands for zero.',
  phone_country: (value) => `Phone numbers without a country are of ${regionOf(value)}.`,
};

/** @type {Record<string, (name: string, value: string) => string>} */
const WORDS_OF = {
  currency: (sign, value) => `“${sign}” stands for ${value}.`,
  country: (name, value) => `“${name}” is ${regionOf(value)}.`,
  choice: (text, value) => `“${text}” means ${value}.`,
  tick: (mark, value) => `“${mark}” means ${value}.`,
  month: (name, value) => `“${name}” is month ${value}.`,
};

/** @param {string} value */
const orderOf = (value) => [...value].map((sign) => ({ D: 'day', M: 'month', Y: 'year' })[sign] ?? sign).join(', ');

/** @param {string} code */
function regionOf(code) {
  try {
    return new Intl.DisplayNames('en', { type: 'region' }).of(code) ?? code;
  } catch {
    return code;
  }
}

/**
 * A convention in words.
 *
 * @param {string} name
 * @param {string} value
 */
export function conventionWords(name, value) {
  const at = name.indexOf(':');
  if (at > 0 && WORDS_OF[name.slice(0, at)]) return WORDS_OF[name.slice(0, at)](name.slice(at + 1), value);
  return WORDS[name]?.(value) ?? `${name}: ${value}`;
}

/**
 * A locale in words; "" where the browser does not know it.
 *
 * @param {string} tag
 */
export function localeName(tag) {
  try {
    return tag ? (new Intl.DisplayNames('en', { type: 'language' }).of(tag) ?? '') : '';
  } catch {
    return '';
  }
}

export class ReadingCard {
  /**
   * @param {Toasts} toasts
   * @param {(project: ProjectView) => void} changed
   */
  constructor(toasts, changed) {
    this.toasts = toasts;
    this.changed = changed;
    /** @type {ProjectView | null} */
    this.project = null;
    this.root = h('section', { class: 'g-field-reading' });
  }

  /** @param {ProjectView} project */
  render(project) {
    this.project = project;
    const { locale, conventions, issuer_conventions: issuers } = project.settings;
    redraw(this.root, [project.id, project.role, locale, conventions, issuers], () => [
      h('h3', {}, 'How the papers print values'),
      this.drawLocale(project.role === 'admin', locale),
      h('h4', {}, 'Conventions that people picked'),
      this.drawConventions(conventions, issuers),
    ]);
  }

  /**
   * @param {boolean} edits
   * @param {string} locale
   */
  drawLocale(edits, locale) {
    const known = locale ? `${locale}: ${localeName(locale) || 'a locale of CLDR'}` : 'Not set';
    if (!edits) return h('p', {}, `Locale: ${known}. An admin of the project sets it.`);
    const input = h('input', {
      type: 'text',
      value: locale,
      list: 'g-locales',
      maxlength: 35,
      placeholder: 'Not set, such as de-CH',
      autocomplete: 'off',
      spellcheck: 'false',
    });
    const line = labelled(
      'Locale',
      input,
      'It decides 1.250 and 03/04/26 where the text itself does not. Leave it empty for papers of many countries.',
    );
    const save = button('Save locale', () => this.saveLocale(input.value.trim(), line.say));
    const options = COMMON.split(' ').map((tag) => h('option', { value: tag }, localeName(tag)));
    return [line.root, h('datalist', { id: 'g-locales' }, options), save];
  }

  /**
   * @param {Record<string, string>} conventions
   * @param {Record<string, Record<string, string>>} issuers
   */
  drawConventions(conventions, issuers) {
    const names = Object.keys(conventions).sort(),
      ofIssuers = Object.entries(issuers).sort(([one], [other]) => one.localeCompare(other));
    if (!names.length && !ofIssuers.length) {
      return h(
        'p',
        { class: 'g-none' },
        'None yet. A reading that somebody picks for an ambiguous value is remembered here.',
      );
    }
    return h(
      'ul',
      { class: 'g-rows' },
      names.map((name) => this.drawConvention(name, conventions[name], null)),
      ofIssuers.map(([issuer, own]) =>
        Object.entries(own).map(([name, value]) => this.drawConvention(name, value, issuer)),
      ),
    );
  }

  /**
   * @param {string} name
   * @param {string} value
   * @param {string | null} issuer null: of the project
   */
  drawConvention(name, value, issuer) {
    const forget = button('Forget', () => this.forget(name, value, issuer));
    return row(conventionWords(name, value), issuer === null ? name : `Only of ${issuer}`, forget);
  }

  /**
   * @param {string} locale
   * @param {(sentence: string) => void} say
   */
  async saveLocale(locale, say) {
    const { project } = this;
    if (!project) return;
    try {
      const settings = await patch('/projects/{project_id}/settings', { project_id: project.id }, { locale });
      say('');
      this.changed({ ...project, settings });
      this.toasts.show(
        locale ? `Values are read as in ${localeName(locale) || locale}.` : 'The locale is not set any more.',
      );
    } catch (error) {
      say(sentenceOf(error));
    }
  }

  /**
   * @param {string} name
   * @param {string} value
   * @param {string | null} issuer
   */
  async forget(name, value, issuer) {
    const { project } = this;
    if (!project) return;
    const put = async (/** @type {string | null} */ wanted) => {
      try {
        const change = { convention: { [name]: wanted }, issuer };
        const answer = await post('/projects/{project_id}/conventions', { project_id: project.id }, change);
        const { conventions, issuers: issuer_conventions } = answer,
          current = this.project ?? project;
        this.changed({ ...current, settings: { ...current.settings, conventions, issuer_conventions } });
        return true;
      } catch (error) {
        this.toasts.error(error);
        return false;
      }
    };
    if (await put(null))
      this.toasts.show('The convention is forgotten.', 'info', { label: 'Undo', run: () => put(value) });
  }
}
