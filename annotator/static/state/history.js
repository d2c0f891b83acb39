// Undo and redo. One history a mask (an annotation on a page), one entry a stroke; no history touches another mask.

const DEPTH = 200; // entries a mask
const MASKS = 20; // those that were used last; who comes back to an older one finds no undo
const RUNS = 4_000_000; // of all masks together: some 30 megabytes

class MaskHistory {
  constructor() {
    this.done = [];
    this.undone = [];
  }
}

export class Histories {
  constructor() {
    this.masks = new Map();
  }

  of(annotation, page) {
    const key = `${annotation} ${page}`;
    const history = this.masks.get(key) ?? new MaskHistory();
    this.masks.delete(key);
    this.masks.set(key, history); // the last one used stands last
    for (const old of this.masks.keys()) {
      if (this.masks.size <= MASKS) break;
      this.masks.delete(old);
    }
    return history;
  }

  // before, after: what stood on the page, as plain values that nobody changes later.
  push(annotation, page, before, after) {
    const history = this.of(annotation, page);
    history.done.push({ before, after });
    if (history.done.length > DEPTH) history.done.shift();
    history.undone = [];
    this.trim();
  }

  // The oldest steps of what was used longest ago go first; the step just made stays.
  trim() {
    const runs = ({ before, after }) => before.mark.mask.counts.length + after.mark.mask.counts.length;
    const all = [...this.masks.values()];
    let total = all.flatMap(({ done, undone }) => [...done, ...undone]).reduce((sum, entry) => sum + runs(entry), 0);
    for (const history of all) {
      for (const list of [history.undone, history.done]) {
        while (total > RUNS && list.length > (history === all.at(-1) ? 1 : 0)) total -= runs(list.shift());
      }
    }
  }

  // What to show after the step back, or null when there is none.
  undo(annotation, page) {
    const history = this.of(annotation, page);
    const entry = history.done.pop();
    if (!entry) return null;
    history.undone.push(entry);
    return entry.before;
  }

  redo(annotation, page) {
    const history = this.of(annotation, page);
    const entry = history.undone.pop();
    if (!entry) return null;
    history.done.push(entry);
    return entry.after;
  }

  can(annotation, page) {
    const history = this.of(annotation, page);
    return { undo: history.done.length > 0, redo: history.undone.length > 0 };
  }

  // After a conflict the entries describe masks that are gone.
  forget(annotation) {
    for (const key of this.masks.keys()) if (key.startsWith(`${annotation} `)) this.masks.delete(key);
  }
}
