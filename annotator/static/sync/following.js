// Keeps what is open as the server has it: hears of changes by others, by workers and by other windows, and fetches
// what they concern, that alone. While the workspace is out of sight nothing is fetched; what was missed comes when it
// is seen again.
//
// Where many are at work, each window would ask after the strokes of all of them, and the server would do nothing else.
// So a window rests between two rounds, the longer, the more was changed meanwhile. What a few people do is fetched at
// once.

/** @import { Library } from '../state/library.js' */
/** @import { Told, Topic } from './changes.js' */

/**
 * @typedef {object} FollowingPorts
 * @property {() => boolean} seen the workspace is in sight
 * @property {() => Promise<unknown>} answers somebody may have changed the open document's answers
 * @property {() => Promise<unknown>} pages further pages of the open document may have been read
 * @property {() => Promise<unknown>} tasks
 * @property {() => Promise<unknown>} questions
 * @property {(error: unknown) => void} failed
 * @property {() => boolean} editing edits of this window were saved a moment ago
 */

const ECHO = 1500; // milliseconds: one's own strokes come back as changes, and are looked at once, not one by one
const FIGURES = 1500; // milliseconds until a line is fetched whose figures nobody announced, as those of blind work
const MOST = 50; // documents that are fetched line by line; from here on, the list
const FEW = 4; // changes of a round after which there is no rest
const REST = 250; // milliseconds of rest for each further one
const LONGEST_REST = 30_000; // milliseconds
/** @type {Topic[]} */
export const TOPICS = ['documents', 'answers', 'figures', 'tasks', 'questions', 'projects', 'members'];

export class Following {
  /** @type {Set<string>} documents whose lines are to be fetched */
  lines = new Set();
  /** @type {Set<string>} what else is to be fetched */
  wanted = new Set();
  running = false;
  /** @type {ReturnType<typeof setTimeout> | null} */
  later = null;
  /** @type {Set<string>} documents with changed answers, whose figures have not been announced yet */
  awaited = new Set();
  /** @type {ReturnType<typeof setTimeout> | null} */
  overdue = null;
  /** @type {Set<string>} what others have changed since the last round: topic and subject */
  heard = new Set();
  resting = 0; // time before which what others do is not fetched
  urgent = false; // whether something was heard that does not wait for that

  /**
   * @param {Library} library
   * @param {FollowingPorts} ports
   */
  constructor(library, ports) {
    this.library = library;
    this.ports = ports;
  }

  /** @param {Told} told */
  hear(told) {
    if (told.all) {
      for (const each of ['projects', 'list', 'answers', 'pages', 'tasks', 'questions']) this.wanted.add(each);
      this.urgent = true;
      this.run();
      return;
    }
    const { topic, subjects } = told;
    const open = this.library.document?.id;
    if (topic === 'projects' || topic === 'members') this.wanted.add('projects');
    else if (told.project_id !== null && told.project_id !== this.library.project?.id) return;
    else if (topic === 'tasks' || topic === 'questions') this.wanted.add(topic);
    else this.hearDocuments(topic, subjects);
    // What changes seldom, or the open page itself, comes at once.
    const often = topic === 'answers' || topic === 'figures' || topic === 'tasks';
    if (!often && (topic !== 'documents' || (open && subjects?.includes(open)))) this.urgent = true;
    for (const subject of subjects ?? ['']) this.heard.add(`${topic} ${subject}`);
    if (topic === 'answers' && this.ports.editing()) this.later ??= setTimeout(() => this.run(), ECHO);
    else this.run();
  }

  /**
   * The numbers of a document's line follow its answers a moment later, with a change of their own: figures.
   * @param {string} topic documents, answers or figures
   * @param {string[] | null} subjects null: many
   */
  hearDocuments(topic, subjects) {
    const open = this.library.document?.id;
    const shown = topic === 'documents' ? subjects : (subjects?.filter((id) => this.library.shows(id)) ?? null);
    if (topic === 'answers') {
      for (const id of shown ?? []) this.awaited.add(id);
      if (this.awaited.size) this.overdue ??= setTimeout(() => this.fetchOverdue(), FIGURES);
    } else {
      for (const id of shown ?? []) {
        this.lines.add(id);
        this.awaited.delete(id);
      }
      if (!subjects || this.lines.size > MOST) this.wanted.add('list');
    }
    if (topic !== 'figures' && (!subjects || (open && subjects.includes(open)))) {
      this.wanted.add('answers');
      if (topic === 'documents') this.wanted.add('pages');
    }
    if (topic === 'figures') this.wanted.add('tasks'); // how many answers wait for review
  }

  /** Fetches what is wanted, one round at a time: what comes meanwhile waits for the next. */
  async run() {
    if (this.later !== null) clearTimeout(this.later);
    this.later = null;
    if (this.running || !this.ports.seen() || this.waits()) return;
    this.running = true;
    try {
      while ((this.wanted.size || this.lines.size) && this.ports.seen() && !this.waits()) await this.round();
    } catch (error) {
      this.ports.failed(error);
    } finally {
      this.running = false;
    }
  }

  /** Whether the rest after the last round is not over; the next one begins when it is. */
  waits() {
    const left = this.resting - Date.now();
    if (left <= 0 || this.urgent) return false;
    if (this.wanted.size || this.lines.size) this.later ??= setTimeout(() => this.run(), left);
    return true;
  }

  fetchOverdue() {
    this.overdue = null;
    for (const id of this.awaited) this.lines.add(id);
    this.awaited = new Set();
    this.run();
  }

  destroy() {
    if (this.later !== null) clearTimeout(this.later);
    if (this.overdue !== null) clearTimeout(this.overdue);
  }

  async round() {
    const { library, ports } = this,
      wanted = this.wanted,
      lines = [...this.lines];
    this.wanted = new Set();
    this.lines = new Set();
    this.urgent = false;
    this.resting = Date.now() + Math.min(LONGEST_REST, REST * (this.heard.size - FEW));
    this.heard = new Set();
    /** @type {(Promise<unknown> | false)[]} */
    const steps = [
      wanted.has('projects') && library.refreshProjects(),
      wanted.has('list') ? library.loadDocuments() : library.refreshLines(lines),
      wanted.has('pages') && ports.pages(),
      wanted.has('answers') && ports.answers(),
      wanted.has('tasks') && ports.tasks(),
      wanted.has('questions') && ports.questions(),
    ];
    await Promise.all(steps);
  }
}
