// What is open: project, document, page; and the list of documents. Fetches; remembers in the address; draws nothing.

import { get, getAll } from '../core/api.js';
import { chooseProject, chosenProject } from '../core/chosen_project.js';
import { writeRoute } from '../core/route.js';
import { ListedDocuments } from './listed_documents.js';

/** @import { AnnotationLine, DocumentWithQuestions, OpenedAnswer, PageLine, ProjectView, Words } from '../types' */
/** @import { Pages } from './pages.js' */

const EXPECTED_MS = 60_000; // for which a document that was fetched in advance is taken for what it is
const LOADING_MS = 2000; // between two questions whether the networks are loaded

/**
 * @typedef {Pick<AnnotationLine, 'id' | 'question' | 'status' | 'head' | 'text' | 'no_answer' | 'updated_at' | 'author'>} Line
 */

export class Library {
  /**
   * @param {Pages} pages
   * @param {() => void} changed
   */
  constructor(pages, changed) {
    this.pages = pages;
    this.changed = changed;
    /** @type {ProjectView[]} */
    this.projects = [];
    /** @type {ProjectView | null} */
    this.project = null;
    this.listed = new ListedDocuments(changed);
    /** @type {DocumentWithQuestions | null} */
    this.document = null;
    /** @type {PageLine | null} */
    this.page = null;
    /** @type {Words | null} */
    this.words = null;
    /** @type {ImageBitmap | null} */
    this.image = null;
    /** @type {{ id: string, until: number, coming: Promise<DocumentWithQuestions | null> } | null} */
    this.expected = null; // the document that is likely to be opened next
    /** @type {string | null} */
    this.encoded = null; // page that the server has encoded with the answer of the next task
    this.networksLoading = false; // on the server, right after its start
    this.choice = 0; // counts the projects that were chosen: the last one wins
    this.turn = 0; // an answer for a page that nobody looks at any more is dropped
  }

  /** @param {string | null | undefined} wanted */
  async loadProjects(wanted) {
    this.projects = await getAll('/projects', {});
    const find = (/** @type {string | null | undefined} */ id) => this.projects.find((each) => each.id === id);
    if (wanted && !find(wanted)) await this.addArchived(wanted).catch(() => {});
    this.project = find(wanted) ?? find(chosenProject()) ?? this.projects[0] ?? null;
    chooseProject(this.project?.id);
    await this.loadDocuments();
  }

  /**
   * An archived project stands in no list, and may be looked at by its address.
   *
   * @param {string} wanted
   */
  async addArchived(wanted) {
    const archived = await getAll('/projects', { archived: true });
    this.projects.push(...archived.filter(({ id }) => id === wanted));
  }

  /**
   * Resolves to whether this project is open now. Where its documents cannot be had, the one before stays open.
   *
   * @param {string} id
   */
  async choose(id) {
    const project = this.projects.find((each) => each.id === id),
      choice = ++this.choice;
    if (!project) return false;
    const before = this.project?.id;
    chooseProject(id); // at once: a tab that is opened meanwhile follows
    const documents = await this.listed.first(id).catch((error) => {
      if (choice === this.choice && chosenProject() === id) chooseProject(before);
      throw error;
    });
    if (choice !== this.choice) return false;
    this.close();
    this.project = project;
    this.listed.show(id, documents);
    return true;
  }

  /**
   * Projects that were made, or changed, meanwhile. The objects of those that are known stay, also of one that is gone
   * but open.
   */
  async refreshProjects() {
    const active = await getAll('/projects', {}),
      open = this.project?.id;
    const gone = open && !active.some(({ id }) => id === open);
    const archived = gone ? (await getAll('/projects', { archived: true })).filter(({ id }) => id === open) : [];
    this.projects = [...active, ...archived].map((each) => {
      const known = this.projects.find(({ id }) => id === each.id);
      return known ? Object.assign(known, each) : each;
    });
    this.changed();
  }

  async loadDocuments() {
    await this.listed.load(this.project?.id);
  }

  /**
   * The lines of some documents, as the server has them now; the others stay as they are.
   *
   * @param {string[]} ids
   */
  async refreshLines(ids) {
    await this.listed.refresh(ids);
  }

  /**
   * Whether the line of a document may be among those that were fetched.
   *
   * @param {string} id
   */
  shows(id) {
    return this.listed.reaches(id);
  }

  close() {
    this.turn++;
    this.document = this.page = this.words = this.image = null;
    this.listed.open = undefined;
  }

  /**
   * Fetches a document, and a page of it, that is likely to be opened next.
   *
   * @param {string} id
   * @param {string | null} page
   */
  async expect(id, page) {
    const open = id === this.document?.id ? this.document : null;
    const coming = open
      ? Promise.resolve(open)
      : get('/documents/{document_id}', { document_id: id }).catch(() => null);
    this.expected = { id, until: Date.now() + EXPECTED_MS, coming };
    this.encoded = page;
    const document = await coming;
    const line = document?.pages.find((each) => each.id === page) ?? document?.pages[0];
    if (!line) return;
    this.pages.wordsOf(line.id).catch(() => {});
    this.pages.imageOf(line).catch(() => {});
  }

  /**
   * Whether a document was fetched in advance, so that opening it asks nothing of the server.
   *
   * @param {string} id
   */
  isExpected(id) {
    return this.expected?.id === id && Date.now() < this.expected.until;
  }

  /** @param {string} id */
  async openDocument(id) {
    const turn = ++this.turn;
    const ahead = this.isExpected(id) ? await this.expected?.coming : null;
    this.expected = null;
    const document = ahead ?? (await get('/documents/{document_id}', { document_id: id }));
    if (turn !== this.turn) return false;
    this.document = document;
    this.page = this.words = this.image = null;
    if (document.project_id !== this.project?.id) {
      if (!this.projects.some(({ id }) => id === document.project_id))
        await this.addArchived(document.project_id).catch(() => {});
      if (turn !== this.turn) return false;
      this.project = this.projects.find((each) => each.id === document.project_id) ?? this.project;
      chooseProject(this.project?.id);
      this.loadDocuments().catch(() => {});
    }
    this.listed.hold(id).catch(() => {});
    this.changed();
    return true;
  }

  /** What others have done to the open document meanwhile; resolves to its pages as they stand. Fails silently. */
  async refresh() {
    const { document } = this;
    const fresh = document && (await get('/documents/{document_id}', { document_id: document.id }).catch(() => null));
    if (!fresh || document !== this.document) return [];
    document.name = fresh.name;
    document.annotations = fresh.annotations;
    this.changed();
    return fresh.pages;
  }

  /**
   * Pages as the server has them now. Returns whether the open one was turned: then it has to be shown anew.
   *
   * @param {readonly PageLine[]} fresh
   */
  take(fresh) {
    let turned = false;
    for (const page of fresh) {
      const known = this.document?.pages.find((each) => each.id === page.id);
      if (!known || known.image === page.image) continue;
      Object.assign(known, page);
      this.pages.forget(page.id);
      turned ||= page.id === this.page?.id;
    }
    return turned;
  }

  /**
   * Resolves to whether this page is still the one to show.
   *
   * @param {string | null | undefined} id the first page, where it is not in the document
   */
  async openPage(id) {
    const page = this.document?.pages.find((each) => each.id === id) ?? this.document?.pages[0];
    if (!page) return false;
    const turn = ++this.turn;
    this.page = page;
    this.words = this.image = null;
    this.changed();
    const [words, image] = await Promise.all([this.pages.wordsOf(page.id), this.pages.imageOf(page)]);
    if (turn !== this.turn) return false;
    this.words = words;
    this.image = image;
    if (this.encoded !== page.id) this.warm(page.id);
    return true;
  }

  /**
   * Right after its start, a server loads its networks; asked again until they are there.
   *
   * @param {string} page
   */
  async warm(page) {
    const loading = await this.pages.warm(page);
    if (this.page?.id !== page) return;
    if (loading !== this.networksLoading) {
      this.networksLoading = loading;
      this.changed();
    }
    if (loading) setTimeout(() => this.page?.id === page && this.warm(page), LOADING_MS);
  }

  /** @param {number} step */
  neighbour(step) {
    const pages = this.document?.pages ?? [];
    const at = pages.findIndex((each) => each.id === this.page?.id);
    return at < 0 ? null : (pages[at + step] ?? null);
  }

  /**
   * The line of a question in the document's list follows the answer that is open, without asking the server.
   *
   * @param {Line & { document_id: string }} answer
   */
  note(answer) {
    const { document } = this;
    if (document?.id !== answer.document_id) return;
    const { id, question, status, head, text, no_answer, updated_at, author } = answer;
    const line = { id, question, status, head, text, no_answer, updated_at, author };
    const known = document.annotations.some((each) => each.id === id);
    document.annotations = known
      ? document.annotations.map((each) => (each.id === id ? { ...each, ...line } : each))
      : [...document.annotations, { answered: null, pages: [], score: null, gold: false, ...line }];
  }

  /**
   * @param {OpenedAnswer | null} local
   */
  remember(local) {
    const project = this.projects.length > 1 ? this.project?.id : null;
    writeRoute({ project, document: this.document?.id, annotation: local?.id, page: this.page?.id });
  }
}
