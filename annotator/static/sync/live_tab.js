// When a tab fetches its content: when it first comes into sight, and afterwards when something that it shows has
// changed. Out of sight, or in a hidden window, it only remembers that it is stale.

import { changes } from './changes.js';

// Between the end of one refresh and the next that a change asks for: a busy project must not keep a tab fetching.
const PAUSE_MILLISECONDS = 500;
const GATHER_MILLISECONDS = 30; // changes that were made together are told one by one

/** @import { Told, Topic } from './changes.js' */

/**
 * What a tab shows, and how it is fetched.
 *
 * @typedef {object} Content
 * @property {readonly Topic[]} topics topics of the stream that concern it
 * @property {() => string | null} shown id of the project that it shows; null: none yet
 * @property {() => string | null} wanted id of the project that it ought to show
 * @property {(heard: Set<string>) => Promise<boolean | void>} fetch fetches and draws; `heard`: topics that have
 * changed
 *   since. Resolves to false where it could not be fetched.
 */

/**
 * The part of the browser that is needed; each returns a function that ends it.
 *
 * @typedef {object} LivePorts
 * @property {(topics: Topic[], heard: (told: Told) => void) => () => void} follow
 * @property {() => boolean} live whether the stream of changes stands
 * @property {(panel: Element, seen: (inSight: boolean) => void) => () => void} sight
 * @property {() => boolean} hidden whether the window is out of sight
 * @property {(look: () => void) => () => void} unhide
 */

/** @type {LivePorts} */
const BROWSER = {
  follow: (topics, heard) => changes.follow(topics, heard),
  live: () => changes.connection.state === 'live',
  sight(panel, seen) {
    const observer = new IntersectionObserver((entries) => seen(Boolean(entries.at(-1)?.isIntersecting)));
    observer.observe(panel);
    return () => observer.disconnect();
  },
  hidden: () => document.hidden,
  unhide(look) {
    document.addEventListener('visibilitychange', look);
    return () => document.removeEventListener('visibilitychange', look);
  },
};

// Topics that concern every project's tab: which projects there are, and who may see them.
/** @type {readonly Topic[]} */
export const EVERYWHERE = ['projects', 'members'];

export class LiveTab {
  /**
   * @param {Element} panel what counts as in sight: the tab's panel
   * @param {Content} content
   * @param {LivePorts} [ports]
   */
  constructor(panel, content, ports = BROWSER) {
    this.content = content;
    this.ports = ports;
    this.inSight = false;
    this.stale = true;
    this.fetching = false;
    this.again = false; // asked for by a person while one was on its way
    this.failed = false; // tried again when the tab is opened, or after the next change: not for ever
    /** @type {Set<string>} */
    this.heard = new Set();
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.timer = undefined;
    const topics = [...new Set([...content.topics, ...EVERYWHERE])];
    // What changes from now on is heard, also while the first content is on its way.
    this.ends = [
      ports.follow(topics, (told) => this.hear(told)),
      ports.sight(panel, (inSight) => this.seen(inSight)),
      ports.unhide(() => this.look()),
    ];
  }

  destroy() {
    for (const end of this.ends) end();
    clearTimeout(this.timer);
  }

  /** @param {boolean} inSight */
  seen(inSight) {
    this.inSight = inSight;
    this.retry();
  }

  /** What failed may go now. */
  retry() {
    this.stale ||= this.failed;
    this.look();
  }

  /** @param {Told} told */
  hear(told) {
    const here = [this.content.shown(), this.content.wanted()];
    if (!told.all && told.project_id && !EVERYWHERE.includes(told.topic) && !here.includes(told.project_id)) return;
    this.heard.add(told.all ? 'all' : told.topic);
    this.stale = true;
    if (!this.fetching) this.timer ??= setTimeout(() => this.rested(), GATHER_MILLISECONDS);
  }

  rested() {
    this.timer = undefined;
    if (this.stale) this.look();
  }

  // Fetches what is stale, if anybody can see it.
  look() {
    const another = this.content.wanted() !== this.content.shown();
    if (this.inSight && !this.fetching && !this.ports.hidden() && (this.stale || another)) this.refresh();
  }

  // Something was done here. The stream tells of it; where it does not stand, the tab is fetched again at once.
  async acted() {
    if (!this.ports.live()) await this.refresh();
  }

  // One refresh is on its way at a time; what is asked for meanwhile is one more after it.
  /** @returns {Promise<void>} */
  async refresh() {
    this.again = this.fetching;
    if (this.fetching) return;
    clearTimeout(this.timer);
    this.timer = undefined;
    this.fetching = true;
    this.stale = false;
    const { heard } = this;
    this.heard = new Set();
    const wanted = this.content.wanted();
    this.failed = (await this.content.fetch(heard).catch(() => false)) === false;
    this.fetching = false;
    this.stale ||= this.content.wanted() !== wanted; // another project was chosen meanwhile
    if (this.again) return this.refresh();
    this.timer = setTimeout(() => this.rested(), PAUSE_MILLISECONDS);
  }
}
