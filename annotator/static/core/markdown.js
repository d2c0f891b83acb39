// Guidelines in Markdown: headings, paragraphs, lists, quotations, code, bold, italics and links. The text becomes
// elements one by one and never HTML, so nothing that people write is run. Anything else stays as it was written.

import { h } from './dom.js';

/** @import { Child } from '../types' */

/**
 * A part of a line: plain text, code, or a mark around further parts.
 *
 * @typedef {string | { code: string } | { strong: Span[] } | { em: Span[] } | { link: string, to: string }} Span
 */

/**
 * A block of a text.
 *
 * @typedef {{ kind: 'heading', level: number, spans: Span[] } | { kind: 'text', spans: Span[] }
 *   | { kind: 'code', text: string } | { kind: 'rule' } | { kind: 'quote', blocks: Block[] }
 *   | { kind: 'list', ordered: boolean, first: number, items: Block[][] }} Block
 */

const DEEPEST = 6; // lists and quotations in each other; deeper ones are text
const FENCE = /^ {0,3}```/;
const HEADING = /^ {0,3}(#{1,6})\s+(.*?)\s*#*\s*$/;
const RULE = /^ {0,3}([-*_])(?:\s*\1){2,}\s*$/;
const QUOTE = /^ {0,3}> ?/;
const ITEM = /^( {0,3})([-*+]|(\d{1,9})[.)])(\s+)/;
const SAFE = /^(?:https?:\/\/|mailto:)/i; // a link anywhere else, as to a script, stays text

/**
 * The blocks of a text.
 *
 * @param {string} text
 * @returns {Block[]}
 */
export const blocksOf = (text) => readBlocks(text.replaceAll('\t', '    ').split(/\r\n?|\n/), 0);

/**
 * @param {string[]} lines
 * @param {number} depth
 * @returns {Block[]}
 */
function readBlocks(lines, depth) {
  /** @type {Block[]} */
  const blocks = [];
  let at = 0;
  while (at < lines.length) {
    const line = lines[at];
    const heading = HEADING.exec(line);
    if (!line.trim()) at++;
    else if (FENCE.test(line)) {
      const end = lines.findIndex((each, below) => below > at && FENCE.test(each));
      const last = end < 0 ? lines.length : end;
      blocks.push({ kind: 'code', text: lines.slice(at + 1, last).join('\n') });
      at = last + 1;
    } else if (heading) {
      blocks.push({ kind: 'heading', level: heading[1].length, spans: spansOf(heading[2]) });
      at++;
    } else if (RULE.test(line)) {
      blocks.push({ kind: 'rule' });
      at++;
    } else if (QUOTE.test(line) && depth < DEEPEST) {
      const end = endOf(lines, at, (each) => QUOTE.test(each));
      const inner = lines.slice(at, end).map((each) => each.replace(QUOTE, ''));
      blocks.push({ kind: 'quote', blocks: readBlocks(inner, depth + 1) });
      at = end;
    } else if (ITEM.test(line) && depth < DEEPEST) at = readList(lines, at, depth, blocks);
    else {
      const end = endOf(lines, at + 1, (each) => each.trim() !== '' && !begins(each));
      blocks.push({
        kind: 'text',
        spans: spansOf(
          lines
            .slice(at, end)
            .map((each) => each.trim())
            .join('\n'),
        ),
      });
      at = end;
    }
  }
  return blocks;
}

/** @param {string} line whether it ends a paragraph above it */
const begins = (line) => [FENCE, HEADING, RULE, QUOTE, ITEM].some((pattern) => pattern.test(line));

/**
 * @param {string[]} lines
 * @param {number} from
 * @param {(line: string) => boolean} holds
 */
function endOf(lines, from, holds) {
  let end = from;
  while (end < lines.length && holds(lines[end])) end++;
  return end;
}

/**
 * Reads a list with its items; returns the line behind it.
 *
 * @param {string[]} lines
 * @param {number} from
 * @param {number} depth
 * @param {Block[]} blocks
 */
function readList(lines, from, depth, blocks) {
  const [, , , number] = ITEM.exec(lines[from]) ?? [];
  const ordered = number !== undefined;
  /** @type {Block[][]} */
  const items = [];
  let at = from;
  while (at < lines.length) {
    const begun = ITEM.exec(lines[at]);
    if (!begun || (begun[3] !== undefined) !== ordered || RULE.test(lines[at])) break;
    const width = begun[0].length,
      inner = [lines[at].slice(width)];
    at++;
    while (at < lines.length) {
      const line = lines[at],
        indent = line.length - line.trimStart().length;
      const blank = !line.trim();
      const goesOn = blank ? isIndented(lines[at + 1], width) : indent >= Math.min(width, 2) || !begins(line);
      if (!goesOn) break;
      inner.push(line.slice(Math.min(indent, width)));
      at++;
      if (!blank && indent < Math.min(width, 2) && !lines[at - 2].trim()) break;
    }
    items.push(readBlocks(inner, depth + 1));
    const next = endOf(lines, at, (line) => !line.trim());
    if (next < lines.length && ITEM.test(lines[next])) at = next;
  }
  blocks.push({ kind: 'list', ordered, first: Number(number ?? 1), items });
  return at;
}

/**
 * @param {string | undefined} line
 * @param {number} width
 */
const isIndented = (line, width) => line !== undefined && line.trim() !== '' && /^ {2}/.test(line.slice(0, width));

// In this order: escaped, code, link, strong (twice), emphasis (twice), a bare address.
const SPAN = new RegExp(
  [
    /\\([\\`*_[\]()#>+.!-])/,
    /`([^`\n]+)`/,
    /\[([^[\]\n]{1,500})\]\(([^()\s]{1,2000})\)/,
    /\*\*(?=\S)([^\n]*?\S)\*\*/,
    /__(?=\S)([^\n]*?\S)__(?!\w)/,
    /\*(?=[^\s*])([^*\n]*?[^\s*])\*/,
    /(?<!\w)_(?=[^\s_])([^_\n]*?[^\s_])_(?!\w)/,
    /<?(https?:\/\/[^\s<>"]+[^\s<>".,;:!?)])>?/,
  ]
    .map(({ source }) => source)
    .join('|'),
  'g',
);

/**
 * The parts of a line.
 *
 * @param {string} text
 * @param {number} [depth]
 * @returns {Span[]}
 */
export function spansOf(text, depth = 0) {
  if (depth > DEEPEST) return text ? [text] : [];
  /** @type {Span[]} */
  const spans = [];
  let from = 0;
  for (const match of text.matchAll(SPAN)) {
    const [whole, escaped, code, label, to, star, line, slant, under, address] = match;
    const strong = star ?? line,
      em = slant ?? under;
    if (match.index > from) spans.push(text.slice(from, match.index));
    from = match.index + whole.length;
    if (escaped) spans.push(escaped);
    else if (code) spans.push({ code });
    else if (label) spans.push(SAFE.test(to) ? { link: label, to } : whole);
    else if (strong) spans.push({ strong: spansOf(strong, depth + 1) });
    else if (em) spans.push({ em: spansOf(em, depth + 1) });
    else spans.push({ link: address, to: address });
  }
  if (from < text.length) spans.push(text.slice(from));
  return spans;
}

/**
 * A text in Markdown as elements.
 *
 * @param {string} text
 */
export const drawMarkdown = (text) => h('div', { class: 'g-markdown', dir: 'auto' }, blocksOf(text).map(drawBlock));

/**
 * @param {Block} block
 * @returns {Child}
 */
function drawBlock(block) {
  if (block.kind === 'rule') return h('hr');
  if (block.kind === 'code') return h('pre', {}, h('code', {}, block.text));
  if (block.kind === 'quote') return h('blockquote', {}, block.blocks.map(drawBlock));
  if (block.kind === 'text') return h('p', {}, block.spans.map(drawSpan));
  // The page has headings of its own: those of a text stand below them.
  if (block.kind === 'heading') return h(block.level === 1 ? 'h4' : 'h5', {}, block.spans.map(drawSpan));
  const items = block.items.map((item) => h('li', {}, item.length === 1 ? drawInner(item[0]) : item.map(drawBlock)));
  return block.ordered ? h('ol', { start: block.first }, items) : h('ul', {}, items);
}

/** @param {Block} block alone in an item, so that no paragraph is needed */
const drawInner = (block) => (block.kind === 'text' ? block.spans.map(drawSpan) : drawBlock(block));

/**
 * @param {Span} span
 * @returns {Child}
 */
function drawSpan(span) {
  if (typeof span === 'string') return span;
  if ('code' in span) return h('code', {}, span.code);
  if ('strong' in span) return h('strong', {}, span.strong.map(drawSpan));
  if ('em' in span) return h('em', {}, span.em.map(drawSpan));
  return h('a', { href: span.to, target: '_blank', rel: 'noopener noreferrer' }, span.link);
}
