// Two versions of one answer, side by side: a person decides which one stays. Nothing is overwritten before that.

/** @import { OpenedAnswer, PageLine, Words } from '../types' */

import { h } from '../core/dom.js';
import { EMPTY_MARK, isBlank, sameMark } from '../state/marks.js';
import { frameAround, markPicture } from '../canvas/mark_picture.js';
import { openDialog } from '../core/dialog.js';

/**
 * One of the two versions; text: what it reads.
 *
 * @typedef {Pick<OpenedAnswer, 'no_answer' | 'pages'> & { text: string }} Version
 */

/** @param {Version} version */
function summary(version) {
  if (version.no_answer) return 'Not answered in this document';
  return version.text || 'No words marked';
}

// What the dialog says: of one's own edits, and of a reviewer's verdict on an answer that has moved on.
const WORDS = {
  revision: { mine: 'Your version, not saved yet', take: 'Use saved version', keep: 'Save my version' },
  verdict: { mine: 'Version that you reviewed', take: 'Review new version', keep: null },
  fixed: { mine: 'Your fix, not saved yet', take: 'Review new version', keep: 'Save my fix' },
};

/**
 * @param {HTMLElement} root takes the dialog
 * @param {object} conflict
 * @param {string} conflict.sentence of the server
 * @param {string} conflict.kind 'conflict': somebody else was faster; 'refused': the server does not take the edits
 * @param {keyof typeof WORDS} [conflict.of]
 * @param {PageLine} conflict.page the one to look at
 * @param {CanvasImageSource} conflict.image
 * @param {Words} conflict.words
 * @param {Version} conflict.mine
 * @param {Version & { who?: string, self?: boolean }} conflict.theirs
 * @param {() => unknown} conflict.keepMine
 * @param {() => unknown} conflict.takeTheirs
 * @param {() => void} [conflict.closed]
 * @returns {() => void} closes the dialog
 */
export function openConflict(
  root,
  { sentence, kind, of = 'revision', page, image, words, mine, theirs, keepMine, takeTheirs, closed },
) {
  const said = WORDS[of];
  /**
   * @param {string} title
   * @param {Version} version
   * @param {HTMLElement} mark
   */
  const side = (title, version, mark) =>
    h(
      'figure',
      { class: 'g-version' },
      h('figcaption', {}, h('b', {}, title), h('span', { dir: 'auto' }, summary(version))),
      mark,
    );
  const here = mine.pages[page.id] ?? EMPTY_MARK,
    there = theirs.pages[page.id] ?? EMPTY_MARK;
  const [left, right] = [markPicture(page, image, words, here), markPicture(page, image, words, there)];
  const shown = frameAround(page, [here, there]);
  for (const each of [left, right]) each.draw(shown);
  const alike = sameMark(here, there) && mine.no_answer === theirs.no_answer;
  return openDialog(root, {
    title:
      kind === 'conflict'
        ? theirs.self
          ? 'This answer was changed in another window'
          : 'This answer was changed by somebody else'
        : of === 'revision'
          ? 'The server refused an edit'
          : 'The server refused a review',
    wide: true,
    body: [
      h(
        'p',
        {},
        kind === 'conflict' ? null : `${sentence} `,
        said.keep
          ? 'Choose the version to keep. The history keeps the saved one in both cases.'
          : 'You reviewed an earlier version.',
        alike ? ' Both versions are the same on this page.' : null,
      ),
      h(
        'div',
        { class: 'g-versions' },
        side(said.mine, mine, left.canvas),
        side(
          kind === 'conflict' ? `Saved${theirs.self ? ' by you' : theirs.who ? ` by ${theirs.who}` : ''}` : 'Saved',
          theirs,
          right.canvas,
        ),
      ),
      h('p', { class: 'g-quiet' }, isBlank(here) && isBlank(there) ? null : `Page ${page.number}`),
    ],
    actions: [
      {
        label: kind === 'refused' && of !== 'revision' ? 'Discard review' : said.take,
        primary: !said.keep,
        run: takeTheirs,
      },
      ...(said.keep ? [{ label: said.keep, primary: true, run: keepMine }] : []),
    ],
    closed,
  });
}

/**
 * What the edits were made for (an answer, the words of a page) is not there, or not for this person: they wait until
 * somebody says otherwise.
 *
 * @param {HTMLElement} root takes the dialog
 * @param {object} gone
 * @param {string} gone.sentence of the server
 * @param {string} gone.what
 * @param {string} [gone.question]
 * @param {number} gone.number of edits that wait
 * @param {() => unknown} gone.again
 * @param {() => unknown} gone.giveUp
 */
export function openGone(root, { sentence, what, question, number, again, giveUp }) {
  return openDialog(root, {
    title: `This ${what} no longer exists`,
    body: [
      h('p', {}, sentence, question ? ` The question was: ${question}` : ''),
      h(
        'p',
        {},
        `${number === 1 ? 'One unsaved edit is' : `${number} unsaved edits are`} kept in this browser. Try again once you have access to it again, or discard ${number === 1 ? 'it' : 'them'}.`,
      ),
    ],
    actions: [
      { label: number === 1 ? 'Discard edit' : 'Discard edits', run: giveUp },
      { label: 'Try again', primary: true, run: again },
    ],
  });
}
