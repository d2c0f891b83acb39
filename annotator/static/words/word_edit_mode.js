// Mending in the workspace: the tool's wishes, the editor, the queue, and what everybody else hears of changed words.

import { byAuthor, get, put } from '../core/api.js';
import { Mender, wordsKey } from './word_edits.js';
import { openWordConflict } from './word_conflict.js';
import { WordEditor } from './word_editor.js';

export class Mending {
  constructor(workspace) {
    const { stage, pages, queue, library, toasts, rooms } = workspace;
    const tell = (sentence) => toasts.show(sentence);
    this.workspace = workspace;
    this.mender = new Mender({
      pages,
      queue,
      place: library,
      hear: {
        changed: (page) => this.changed(page),
        renumber: (page, map) => workspace.answers.renumber(page, map),
        tell,
      },
    });
    this.editor = new WordEditor(rooms.stage, stage, this.mender, {
      say: (text) => (rooms.spoken.textContent = text),
      tell,
    });
  }

  // The name under which changes of the open page's words wait in the queue.
  get key() {
    return wordsKey(this.workspace.library.page?.id);
  }

  // What the tool asks for: { open: number }, { choose: [numbers] } or { add: box }.
  wish({ open, choose, add }) {
    if (!this.editor.save()) return;
    if (choose) this.editor.choose(choose);
    else this.editor.write(add ? { box: add } : { number: open });
    this.workspace.render();
  }

  // Enter, while words are mended, writes the word under the cursor; nothing is accepted by mistake.
  here(event) {
    const { stage } = this.workspace;
    if (!event || stage.tool !== 'mend' || !stage.page) return false;
    const number = stage.grid.numbers[stage.cursor?.word] ?? [...stage.chosen][0];
    if (number !== undefined) this.editor.write({ number });
    return true;
  }

  // Before another page or tool: what is written is kept. False where it cannot be kept as it is.
  leave() {
    if (!this.editor.save()) return false;
    this.editor.choose([]);
    return true;
  }

  step(back) {
    this.editor.choose([]);
    this.mender.step(back);
  }

  // The words of a page are others now.
  changed(page) {
    const { library, stage, pages } = this.workspace;
    if (page === library.page?.id && library.words) {
      library.words = pages.read.get(page);
      stage.setWordList(library.words);
      this.workspace.paint();
      this.editor.render();
    }
    this.workspace.render();
  }

  async send({ page, user, key, base, edits }) {
    const answer = await put(
      '/pages/{page_id}/words',
      { page_id: page },
      { idempotency_key: key, base, edits },
      byAuthor(user),
    );
    return { ...answer, revision: answer.saved_version };
  }

  saved(item, answer) {
    this.mender.saved(item, answer);
    this.workspace.render();
  }

  // Somebody else was faster with the words of a page, or the server refuses a change: a person decides.
  async compare(key) {
    const { workspace } = this,
      { queue, library, root } = workspace;
    const [{ page, document }] = queue.of(key),
      { kind, sentence, current } = queue.halted.get(key);
    if (page !== library.page?.id) {
      if (document !== library.document?.id && !(await workspace.opening.document(document, null))) return;
      await workspace.opening.page(page);
    }
    const saved = current ?? (await get('/pages/{page_id}/words', { page_id: page }));
    if (root.querySelector('.g-dialog') || !queue.halted.has(key)) return;
    openWordConflict(root, {
      sentence,
      kind,
      words: library.words,
      edits: queue.of(key).flatMap((each) => each.edits),
      keepMine: () => {
        const lost = this.mender.keepMine(page, saved);
        if (lost)
          workspace.toasts.show(
            `${lost === 1 ? 'One change' : `${lost} changes`} could not be applied: the words no longer exist.`,
          );
      },
      takeTheirs: () => this.mender.takeTheirs(page, saved),
    });
  }
}
