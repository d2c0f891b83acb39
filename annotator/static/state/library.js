// What is open: project, documents, document, page. Fetches; remembers in the address; draws nothing.

import { get } from '../core/api.js';
import { chooseProject, chosenProject } from '../core/chosen_project.js';
import { readRoute, writeRoute } from '../core/route.js';

export class Library {
  constructor(pages, changed) {
    this.pages = pages;
    this.changed = changed;
    this.projects = [];
    this.project = null;
    this.documents = null; // null: not known yet
    this.document = null;
    this.page = null;
    this.words = null;
    this.image = null;
    this.user = null; // who is asking
    this.alone = false; // nobody logs in here: there is nobody to review
    this.choice = 0; // counts the projects that were chosen: the last one wins
    this.turn = 0; // an answer for a page that nobody looks at any more is dropped
  }

  async loadProjects(wanted) {
    this.projects = await get('/projects', {});
    const find = (id) => this.projects.find((each) => each.id === id);
    this.project = find(wanted) ?? find(chosenProject()) ?? this.projects[0] ?? null;
    chooseProject(this.project?.id);
    await this.loadDocuments();
  }

  // Resolves to whether this project is open now. Where its documents cannot be had, the one before stays open.
  async choose(id) {
    const project = this.projects.find((each) => each.id === id),
      choice = ++this.choice;
    if (!project) return false;
    const before = this.project?.id;
    chooseProject(id); // at once: a tab that is opened meanwhile follows
    const documents = await get('/projects/{project_id}/documents', { project_id: id }).catch((error) => {
      if (choice === this.choice && chosenProject() === id) chooseProject(before);
      throw error;
    });
    if (choice !== this.choice) return false;
    this.close();
    Object.assign(this, { project, documents });
    this.changed();
    return true;
  }

  // Projects that were made, or changed, meanwhile. The objects of those that are known stay, also of one that is gone but open.
  async refreshProjects() {
    const fresh = await get('/projects', {});
    this.projects = fresh.map((each) => Object.assign(this.projects.find((known) => known.id === each.id) ?? {}, each));
    this.changed();
  }

  async loadDocuments() {
    const { project } = this;
    const documents = project ? await get('/projects/{project_id}/documents', { project_id: project.id }) : [];
    if (project !== this.project) return;
    this.documents = documents;
    this.changed();
  }

  close() {
    this.turn++;
    this.document = this.page = this.words = this.image = null;
  }

  async openDocument(id) {
    const turn = ++this.turn;
    const document = await get('/documents/{document_id}', { document_id: id });
    if (turn !== this.turn) return false;
    this.document = document;
    this.page = this.words = this.image = null;
    if (document.project_id !== this.project?.id) {
      this.project = this.projects.find((each) => each.id === document.project_id) ?? this.project;
      chooseProject(this.project?.id);
      this.loadDocuments().catch(() => {});
    }
    this.changed();
    return true;
  }

  // What others have done to the open document meanwhile. Fails silently.
  async refresh() {
    const { document } = this;
    const fresh = document && (await get('/documents/{document_id}', { document_id: document.id }).catch(() => null));
    if (!fresh || document !== this.document) return;
    document.annotations = fresh.annotations;
    this.changed();
  }

  // Resolves to whether this page is still the one to show.
  async openPage(id) {
    const page = this.document?.pages.find((each) => each.id === id) ?? this.document?.pages[0];
    if (!page) return false;
    const turn = ++this.turn;
    this.page = page;
    this.words = this.image = null;
    this.changed();
    const [words, image] = await Promise.all([this.pages.wordsOf(page.id), this.pages.imageOf(page.id)]);
    if (turn !== this.turn) return false;
    this.words = words;
    this.image = image;
    this.pages.warm(page.id);
    return true;
  }

  get role() {
    return this.user?.role === 'admin' ? 'admin' : (this.project?.role ?? this.user?.role);
  }

  get reviewer() {
    return ['reviewer', 'admin'].includes(this.role);
  }

  get reviews() {
    return this.reviewer && !this.alone;
  }

  // What this person accepts is only submitted: somebody else decides.
  get submits() {
    return Boolean(this.project?.settings?.review_required) && !this.reviewer;
  }

  mine(annotation) {
    return !annotation.author || annotation.author.id === this.user?.id;
  }

  neighbour(step) {
    const at = this.document?.pages.findIndex((each) => each.id === this.page?.id) ?? -1;
    return at < 0 ? null : (this.document.pages[at + step] ?? null);
  }

  // The line of a question in the document's list follows the answer that is open, without asking the server.
  note(local, text) {
    const { document } = this;
    if (document?.id !== local.document_id) return;
    const line = {
      id: local.id,
      question: local.question,
      status: local.status,
      head: local.head,
      text: text ?? local.text,
      no_answer: local.no_answer,
      updated_at: local.updated_at,
      author: local.author,
    };
    const at = document.annotations.findIndex((each) => each.id === local.id);
    if (at < 0) document.annotations = [...document.annotations, line];
    else document.annotations = document.annotations.map((each, index) => (index === at ? { ...each, ...line } : each));
  }

  remember(annotation) {
    const project = this.projects.length > 1 ? this.project?.id : null;
    writeRoute({ project, document: this.document?.id, annotation, page: this.page?.id });
  }

  static route = readRoute;
}
