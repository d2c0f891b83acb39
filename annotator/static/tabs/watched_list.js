// A list on one of Gradio's tabs that tells of running work. Gradio writes its element, with the project, and writes
// another one whenever the project changes; the list follows the jobs of its project while it is in sight.

import { sentenceOf, statusOf } from '../core/api.js';
import { LiveTab } from '../sync/live_tab.js';

/** @import { Topic } from '../sync/changes.js' */

export class WatchedList extends HTMLElement {
  /** @type {LiveTab | undefined} */
  live;

  get project() {
    return this.dataset.project ?? '';
  }

  /** @returns {readonly Topic[]} what it follows */
  get topics() {
    return ['jobs'];
  }

  connectedCallback() {
    this.live = new LiveTab(this.closest('[role=tabpanel]') ?? this, {
      topics: this.topics,
      shown: () => this.project,
      wanted: () => this.project,
      fetch: () => this.load(),
    });
  }

  disconnectedCallback() {
    this.live?.destroy();
  }

  /** @returns {Promise<void>} fetches and draws */
  async load() {
    throw new Error('A list of its own says how it is fetched.');
  }

  async look() {
    await this.live?.acted();
  }

  /**
   * Stops one, and looks what became of it; what has ended meanwhile is stopped enough.
   *
   * @param {() => Promise<unknown>} stop
   * @param {(sentence: string) => void} wrong
   */
  async stop(stop, wrong) {
    try {
      await stop();
    } catch (error) {
      if (statusOf(error) !== 404) wrong(sentenceOf(error));
    }
    await this.look();
  }
}
