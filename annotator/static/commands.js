// What each command does: the keys of keyboard.js and the buttons of the toolbar call these by name.

import { openHelp } from './dialog.js';

const TOOLS = ['word', 'box', 'brush', 'eraser', 'plus', 'minus'];

export function makeCommands(workspace) {
  const scroll = (step) => {
    const page = workspace.library.neighbour(step);
    if (page) workspace.act(() => workspace.openPage(page.id));
  };
  const question = (step) => {
    const lines = workspace.library.document?.annotations ?? [];
    const at = lines.findIndex((each) => each.id === workspace.answers.local?.id);
    const line = lines[at < 0 ? 0 : at + step];
    if (line) workspace.act(() => workspace.openAnnotation(line.id));
  };
  const tools = Object.fromEntries(TOOLS.map((name) => [name, () => (workspace.stage.setTool(name), workspace.render())]));
  return {
    ...tools,
    ask: () => workspace.box.focus(),
    accept: () => workspace.answers.accept() && workspace.toasts.show('Accepted.', 'info'),
    next: () => workspace.act(() => workspace.next()),
    candidate: (event) => workspace.answers.candidate(Number(event.key) - 1),
    noAnswer: () => workspace.answers.noAnswer(),
    questionUp: () => question(-1),
    questionDown: () => question(1),
    thickness: (event) => workspace.commands.radius(workspace.stage.radius + (event.key === ']' ? 2 : -2)),
    radius: (radius) => (workspace.stage.setRadius(radius), workspace.render()),
    undo: () => workspace.answers.step(true),
    redo: () => workspace.answers.step(false),
    clear: () => workspace.answers.clear(),
    cursor: (event) => workspace.cursor.move(event),
    zoomIn: () => workspace.stage.zoom(1.25),
    zoomOut: () => workspace.stage.zoom(0.8),
    fit: () => workspace.stage.fit(),
    pageUp: () => scroll(-1),
    pageDown: () => scroll(1),
    documents: () => (workspace.menu(true), workspace.documentList.search.focus()),
    upload: () => workspace.uploads.choose(),
    help: () => openHelp(workspace.root),
    menu: () => workspace.menu(workspace.rooms.left.dataset.open !== 'on'),
    escape: () => workspace.escape(),
  };
}
