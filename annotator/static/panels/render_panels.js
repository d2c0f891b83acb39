// Everything around the page, drawn from what is open. State lives in library, answers and desk; nothing is kept here.

import { h, replace } from '../core/dom.js';
import { icon } from '../core/icons.js';
import { isBlank } from '../state/marks.js';

export class Drawing {
  constructor(workspace) {
    this.workspace = workspace;
  }

  text() {
    const { library, answers, pages } = this.workspace,
      { local } = answers;
    if (!local) return '';
    return (library.document && pages.text(library.document.pages, local.pages)) ?? local.text ?? '';
  }

  // Of the open page alone: others are not drawn.
  disagreement() {
    const { library, answers, stage } = this.workspace;
    if (!answers.local || !library.words || stage.page?.id !== library.page?.id || stage.stroking) return null;
    return stage.disagree();
  }

  notice(content) {
    this.workspace.rooms.notice.hidden = !content;
    if (!content) return;
    replace(
      this.workspace.rooms.notice,
      h('b', {}, content.title),
      content.sentence && h('span', {}, content.sentence),
      content.action && h('button', { class: 'g-button', on: { click: content.action[1] } }, content.action[0]),
    );
  }

  render() {
    const { library, answers, stage, desk, queue, rooms } = this.workspace,
      { local } = answers,
      { document, page } = library;
    this.workspace.incoming.follow();
    const waiting = new Set(queue.items.map((item) => item.annotation));
    const text = this.text();
    if (local) library.note(local, text);
    const marks = local
      ? Object.fromEntries(
          Object.entries(local.pages)
            .filter(([, mark]) => !isBlank(mark))
            .map(([id, mark]) => [id, answers.originOf(id, mark)]),
        )
      : {};
    const chances = Object.fromEntries((local?.ranked ?? []).map((each) => [each.page_id, each.answered]));
    this.workspace.documentList.render({
      projects: library.projects,
      project: library.project,
      documents: library.documents,
      open: document?.id,
    });
    this.workspace.strip.render({ document, page, marks, chances });
    this.workspace.box.render({ document, asking: answers.asking });
    const locked = Boolean(desk.lock);
    desk.render();
    this.workspace.questionList.render({
      document,
      annotations: document?.annotations ?? [],
      annotation: local?.id,
      pending: waiting,
      mine: (line) => library.mine(line),
      reason: (line) => (line.status === 'rejected' ? desk.verdicts.open(line)?.reason : null),
    });
    this.workspace.card.render({
      document,
      annotation: local,
      text,
      page,
      disagreement: this.disagreement(),
      proposal: answers.proposal,
      choices: answers.choices,
      chosen: answers.chosen,
      refining: answers.refining,
      marked: Boolean(page && marks[page.id]),
      pending: local && waiting.has(local.id),
      locked,
      reviewing: desk.mode === 'review',
      submits: library.submits,
      mine: !local || library.mine(local),
      rejected: desk.verdicts.open(local),
      expected: desk.mode === 'queue' && desk.tasks.task?.question.text,
      further: desk.further.running,
      pages: (document?.pages ?? []).map((each) => ({ ...each, origin: marks[each.id] })),
    });
    this.workspace.toolbar.render({
      tool: stage.tool,
      radius: stage.radius,
      mendable: Boolean(page),
      editable: Boolean(local && page && !local.no_answer && !locked),
      marked: Boolean(page && marks[page.id]),
      ...(stage.tool === 'mend' && page
        ? this.workspace.mending.mender.can()
        : local && page
          ? answers.histories.can(local.id, page.id)
          : { undo: false, redo: false }),
      number: page?.number,
      pages: document?.pages.length ?? 0,
      scale: stage.view.scale,
    });
    rooms.stage.dataset.tool = (local && !local.no_answer && !locked) || stage.tool === 'mend' ? stage.tool : 'none';
    rooms.stage.dataset.refining = String(answers.refining);
    if (!document && library.documents && rooms.notice.hidden !== false) this.welcome();
    this.renderSaved();
    this.workspace.root.dataset.ready = page && stage.page?.id === page.id ? page.id : '';
  }

  welcome() {
    const { library } = this.workspace;
    if (!library.project)
      return this.notice({
        title: 'You are not a member of any project',
        sentence: 'Ask an admin of a project for an invitation link.',
      });
    if (library.documents.length)
      return this.notice({ title: 'Choose a document', sentence: 'The first page opens here.' });
    replace(
      this.workspace.rooms.notice,
      icon('upload', 40),
      h('b', {}, 'Start with a document'),
      h(
        'span',
        {},
        'Drop PDF files or scans anywhere in this window. Then ask a question: the answer is marked on the page.',
      ),
      h(
        'button',
        { class: 'g-button g-primary', on: { click: () => this.workspace.uploads.choose() } },
        'Choose files',
      ),
    );
    this.workspace.rooms.notice.hidden = false;
  }

  renderSaved() {
    const { queue } = this.workspace;
    this.workspace.card.renderSaved({
      state: queue.state,
      number: queue.items.length,
      at: queue.savedAt,
      why: queue.why,
      lasting: queue.lasting,
      fixing: this.workspace.desk?.reviews.fixing,
    });
  }
}
