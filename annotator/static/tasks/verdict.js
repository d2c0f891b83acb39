// A reviewer's verdict on somebody else's answer, and the corrections that may go with it. Both pass through the save queue.

import { editsTo, opened, statusAfter } from '../state/marks.js';

export class Judging {
  // fixes: Fixes
  constructor(answers, fixes) {
    this.answers = answers;
    this.fixes = fixes;
    this.before = null; // { pages, no_answer } as the author left them, while the reviewer fixes
  }

  get fixing() {
    return this.before !== null && this.answers.divert !== null;
  }

  // From here on edits gather for the verdict. kept: what an earlier life of this tab had gathered.
  begin(kept = null) {
    const { answers } = this,
      { local } = answers;
    this.before = { pages: local.pages, no_answer: local.no_answer };
    answers.divert = () => this.keep();
    answers.histories.forget(local.id);
    if (kept) Object.assign(local, { pages: { ...local.pages, ...kept.pages }, no_answer: kept.no_answer });
    answers.hear.mark();
  }

  keep() {
    const { local } = this.answers;
    this.fixes.keep({
      annotation: local.id,
      document: local.document_id,
      base: local.head,
      pages: local.pages,
      no_answer: local.no_answer,
    });
  }

  giveUp() {
    this.fixes.drop(this.answers.local.id);
    this.putAside();
  }

  // The author's version shows again; the corrections stay in the browser.
  putAside() {
    const { local, histories, hear } = this.answers;
    Object.assign(local, this.before);
    histories.forget(local.id);
    this.end();
    hear.mark();
  }

  end() {
    this.before = this.answers.divert = null;
    this.answers.again.drop();
  }

  // verdict: { verdict, quality, completeness, reason }. False where a fix changes nothing.
  send(verdict) {
    const { local } = this.answers,
      fixed = verdict.verdict === 'fixed';
    const edits = fixed ? editsTo(local, this.before) : [];
    if (fixed && !edits.length) return false;
    this.add(verdict, edits, fixed ? local.pages : {}, {});
    return true;
  }

  // A fix wins over what the author saved meanwhile.
  sendOnTop(current, verdict) {
    const { local } = this.answers;
    local.head = current.head;
    this.add(verdict, editsTo(local, opened(current, [])), local.pages, { instead: true });
  }

  add(verdict, edits, pages, options) {
    const { local, queue, effort, histories, hear } = this.answers;
    this.end();
    histories.forget(local.id);
    local.status = statusAfter(verdict.verdict);
    queue.add(
      {
        kind: 'verdict',
        annotation: local.id,
        document: local.document_id,
        question: local.question?.text,
        action: verdict.verdict,
        verdict,
        edits,
        ...effort.take(),
        pages,
        no_answer: local.no_answer,
      },
      local.head,
      options,
    );
    hear.mark();
  }
}
