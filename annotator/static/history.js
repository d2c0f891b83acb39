// Undo and redo. One history a mask (an annotation on a page), one entry a stroke; no history touches another mask.

const DEPTH = 200;

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
    if (!this.masks.has(key)) this.masks.set(key, new MaskHistory());
    return this.masks.get(key);
  }

  // before, after: what stood on the page, as plain values that nobody changes later.
  push(annotation, page, before, after) {
    const history = this.of(annotation, page);
    history.done.push({ before, after });
    if (history.done.length > DEPTH) history.done.shift();
    history.undone = [];
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
