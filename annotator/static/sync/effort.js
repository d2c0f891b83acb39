// Seconds of active work and how often each tool was used, since the revision before. A pause of half a minute is no
// work.

const PAUSE = 30_000; // milliseconds

export class Effort {
  milliseconds = 0;
  last = performance.now();
  /** @type {Record<string, number>} */
  interactions = {};

  constructor() {
    this.listening = new AbortController();
    const { signal } = this.listening;
    for (const type of ['pointermove', 'pointerdown', 'keydown', 'wheel']) {
      window.addEventListener(type, () => this.active(), { passive: true, capture: true, signal });
    }
  }

  reset() {
    this.milliseconds = 0;
    this.last = performance.now();
    this.interactions = {};
  }

  active() {
    const now = performance.now();
    if (now - this.last < PAUSE) this.milliseconds += now - this.last;
    this.last = now;
  }

  /** Milliseconds since somebody moved. */
  idle() {
    return performance.now() - this.last;
  }

  /** @param {string} tool */
  count(tool) {
    this.interactions[tool] = (this.interactions[tool] ?? 0) + 1;
  }

  /** What has gathered, for the next revision; counting starts again. */
  take() {
    this.active();
    const taken = { seconds: Math.round(this.milliseconds / 100) / 10, interactions: this.interactions };
    this.reset();
    return taken;
  }

  destroy() {
    this.listening.abort();
  }
}
