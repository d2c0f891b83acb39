// A lease on a task or on an answer under review: kept by a heartbeat while somebody works, given back when they leave.

const BEAT = 30_000; // milliseconds between heartbeats
const IDLE = 180_000; // who has not moved for so long does not work: the lease may run out

export class Lease {
  // keep(), giveBack(options): calls of the server. until: ISO time. idle(): milliseconds since somebody moved.
  // hear: { changed(), lost(sentence) }
  constructor({ keep, giveBack }, until, idle, hear) {
    Object.assign(this, { keep, giveBack, idle, hear });
    this.until = new Date(until);
    this.lost = null; // the sentence that says who has it now
    this.timer = setInterval(() => this.working && this.beat(), BEAT);
    this.onSight = () => document.visibilityState === 'visible' && this.beat();
    this.onLeave = () => this.release({ keepalive: true });
    document.addEventListener('visibilitychange', this.onSight);
    window.addEventListener('pagehide', this.onLeave);
  }

  get working() {
    return document.visibilityState === 'visible' && this.idle() < IDLE;
  }

  get over() {
    return Date.now() > this.until.getTime();
  }

  // No answer (no network, no login) is no loss: the next beat tells.
  async beat() {
    if (this.ended) return;
    try {
      const { lease_until } = await this.keep();
      this.until = new Date(lease_until);
    } catch (error) {
      if (this.ended || ![403, 404, 409].includes(error.status)) return;
      this.end();
      this.lost = error.message;
      this.hear.lost(error.message);
    }
    this.hear.changed();
  }

  end() {
    this.ended = true;
    clearInterval(this.timer);
    document.removeEventListener('visibilitychange', this.onSight);
    window.removeEventListener('pagehide', this.onLeave);
  }

  // Others may have it. Failing is harmless: it runs out by itself.
  async release(options) {
    if (this.ended) return;
    this.end();
    await this.giveBack(options).catch(() => {});
  }
}
