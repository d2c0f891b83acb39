// What each command does: the keys of keyboard.js and the buttons of the toolbar call these by name.

import { openHelp } from './settings/help.js';

const TOOLS = ['word', 'box', 'brush', 'eraser', 'plus', 'minus', 'mend'];

export function makeCommands(workspace) {
  const scroll = (step) => {
    const page = workspace.library.neighbour(step);
    if (page) workspace.act(() => workspace.opening.page(page.id));
  };
  const question = (step) => {
    const lines = workspace.library.document?.annotations ?? [];
    const at = lines.findIndex((each) => each.id === workspace.answers.local?.id);
    const line = lines[at < 0 ? 0 : at + step];
    if (line) workspace.act(() => workspace.opening.annotation(line.id));
  };
  const tools = Object.fromEntries(
    TOOLS.map((name) => [
      name,
      () => workspace.mending?.leave() && (workspace.stage.setTool(name), workspace.render()),
    ]),
  );
  return {
    ...tools,
    ask: () => workspace.box.focus(),
    accept: (event) => workspace.mending.here(event) || workspace.desk.accept(),
    next: () => workspace.act(() => workspace.desk.next()),
    standard: () => workspace.desk.suggestions.arm(),
    history: () => workspace.act(() => workspace.desk.history()),
    queue: () => workspace.act(() => workspace.desk.enter(workspace.desk.mode === 'queue' ? 'free' : 'queue')),
    review: () =>
      workspace.library.reviews &&
      workspace.act(() => workspace.desk.enter(workspace.desk.mode === 'review' ? 'free' : 'review')),
    reviewAccept: () => workspace.desk.judge('accepted'),
    reviewReject: () => workspace.desk.judge('rejected'),
    reviewFix: () => workspace.desk.reviews.fix(),
    reviewQuality: () => workspace.desk.reviews.turn('quality'),
    reviewComplete: () => workspace.desk.reviews.turn('completeness'),
    candidate1: () => workspace.answers.candidate(0),
    candidate2: () => workspace.answers.candidate(1),
    candidate3: () => workspace.answers.candidate(2),
    noAnswer: () => workspace.answers.noAnswer(),
    questionUp: () => question(-1),
    questionDown: () => question(1),
    thinner: () => workspace.commands.radius(workspace.stage.radius - 2),
    thicker: () => workspace.commands.radius(workspace.stage.radius + 2),
    radius: (radius) => (workspace.stage.setRadius(radius), workspace.render()),
    undo: () => (workspace.stage.tool === 'mend' ? workspace.mending : workspace.answers).step(true),
    redo: () => (workspace.stage.tool === 'mend' ? workspace.mending : workspace.answers).step(false),
    clear: () => (workspace.stage.tool === 'mend' ? workspace.mending.editor.remove() : workspace.answers.clear()),
    mergeWords: () => workspace.stage.tool === 'mend' && workspace.mending.editor.merge(),
    zoomMark: () => workspace.zoomMark(),
    cursor: (event) => workspace.cursor.move(event),
    zoomIn: () => workspace.stage.zoom(1.25),
    zoomOut: () => workspace.stage.zoom(0.8),
    fit: () => workspace.stage.fit(),
    pageUp: () => scroll(-1),
    pageDown: () => scroll(1),
    documents: () => (workspace.menu(true), workspace.documentList.search.focus()),
    upload: () => workspace.uploads.choose(),
    help: () => openHelp(workspace),
    menu: () => workspace.menu(workspace.rooms.left.dataset.open !== 'on'),
    escape: () => workspace.escape(),
  };
}
