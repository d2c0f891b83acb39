// Edits that the server did not take wait for a person: both versions are shown, and one of them stays.

import { get } from '../core/api.js';
import { openConflict, openGone } from './conflict.js';
import { opened } from '../state/marks.js';

export class Deciding {
  constructor(workspace) {
    this.workspace = workspace;
  }

  halted(annotation) {
    this.workspace.render();
    if (this.workspace.answers.local?.id === annotation || annotation === this.workspace.mending.key)
      this.workspace.act(() => this.compare());
  }

  async compare() {
    const { library, answers, mending, desk, queue, pages, drawing, root } = this.workspace;
    const id = queue.halted.has(answers.local?.id) ? answers.local.id : queue.halted.keys().next().value;
    if (!id || root.querySelector('.g-dialog')) return;
    const { kind, sentence, current } = queue.halted.get(id);
    if (kind === 'gone') return this.explainGone(id, sentence);
    if (queue.of(id)[0]?.kind === 'words') return mending.compare(id);
    if (answers.local?.id !== id) return this.workspace.opening.backTo(id); // and that comes back here
    const saved = current ?? (await get('/annotations/{annotation_id}', { annotation_id: id }));
    if (answers.local?.id !== id) return;
    const theirs = opened(saved, []),
      { local } = answers,
      verdict = queue.of(id).at(-1).verdict;
    const touched = queue.of(id).flatMap((item) => Object.keys(item.pages));
    const page = library.document.pages.find((each) => each.id === (touched.at(-1) ?? library.page.id));
    const [words, image] = await Promise.all([pages.wordsOf(page.id), pages.imageOf(page.id)]);
    if (answers.local?.id !== id || !queue.halted.has(id) || root.querySelector('.g-dialog')) return;
    openConflict(root, {
      sentence,
      kind,
      page,
      image,
      words,
      of: !verdict ? 'revision' : verdict.verdict === 'fixed' ? 'fixed' : 'verdict',
      mine: { no_answer: local.no_answer, pages: local.pages, text: drawing.text() },
      theirs: {
        ...theirs,
        who: (saved.editor ?? saved.author)?.name,
        self: (saved.editor ?? saved.author)?.id === library.user.id,
      },
      keepMine: () =>
        this.workspace.act(() => {
          if (answers.local?.id !== id) return this.workspace.opening.backTo(id); // another answer has opened under the dialog
          return verdict ? desk.judgeOnTop(saved, verdict) : answers.keepMine(saved);
        }),
      takeTheirs: () => this.workspace.act(() => (verdict && desk.reviews.fixes.drop(id), answers.takeTheirs(id))),
    });
  }

  explainGone(id, sentence) {
    const { queue } = this.workspace,
      items = queue.of(id);
    openGone(this.workspace.root, {
      sentence,
      what: items[0]?.kind === 'words' ? 'page' : 'answer',
      question: items.find((item) => item.question)?.question,
      number: items.length,
      again: () => queue.resume(id),
      giveUp: () =>
        this.workspace.act(() => (this.workspace.desk.reviews.fixes.drop(id), this.workspace.answers.giveUp(id))),
    });
  }
}
