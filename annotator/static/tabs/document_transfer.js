// Chosen documents go to another project: which one, what comes along, how far it is, and the undo of a move.

import { get, getAll, post } from '../core/api.js';
import { h, replace } from '../core/dom.js';
import { count } from '../core/text.js';
import { ProgressBar, button } from './people_parts.js';

/** @import { Say } from './people_parts.js' */
/** @import { ProjectView, TransferView } from '../types' */

const LOOK = 500; // milliseconds between two looks at a transfer that goes on
const ENDED = ['done', 'failed', 'cancelled', 'dead'];

/**
 * The last move, which can be undone; it outlives the element, which Gradio may draw anew.
 *
 * @type {{ move: { id: string, project: string, number: number } | null }}
 */
const last = { move: null };

/**
 * @typedef {object} TransferPorts
 * @property {() => string} project id of the project of the documents
 * @property {() => string[]} chosen ids of the chosen documents
 * @property {(step: () => Promise<string>) => Promise<unknown>} act runs what may be refused, and says its sentence
 * @property {Say} say tells of what only looks
 * @property {() => void} moved the chosen documents are gone
 */

export class DocumentTransfer {
  bar = new ProgressBar('Documents on their way');
  root = h('div', { class: 'g-transfer', hidden: true });
  turn = 0; // a preview that nobody waits for any more is dropped

  /** @param {TransferPorts} ports */
  constructor(ports) {
    this.ports = ports;
  }

  /** Buttons beside those that remove and restore. */
  buttons() {
    const { chosen, project } = this.ports,
      { move } = last;
    return [
      chosen().length ? button('Move…', () => this.open(true)) : null,
      chosen().length ? button('Copy…', () => this.open(false)) : null,
      move?.project === project()
        ? button(`Undo: take back ${count(move.number, 'document')}`, () => this.undo(move.id))
        : null,
    ];
  }

  /** What the buttons are drawn from. */
  get drawn() {
    return last.move;
  }

  close() {
    this.turn++;
    this.root.hidden = true;
    replace(this.root);
  }

  /** @param {boolean} move */
  open(move) {
    const { say, project } = this.ports;
    return say.act(async () => {
      const projects = (await getAll('/projects', {})).filter(
        (each) => each.id !== project() && each.role !== 'annotator',
      );
      if (!projects.length) throw new Error('There is no other project of which you are a reviewer or an admin.');
      await this.show(move, projects);
    });
  }

  /**
   * @param {boolean} move
   * @param {ProjectView[]} projects
   */
  show(move, projects) {
    const name = 'Other project';
    /** @type {HTMLSelectElement} */
    const select = h(
      'select',
      { 'aria-label': name, on: { change: () => this.preview(move, select.value, told, add) } },
      projects.map((each) => h('option', { value: each.id, dir: 'auto' }, each.name)),
    );
    const told = h('ul', { class: 'g-transfer-told', 'aria-live': 'polite' });
    const add = h('label', { class: 'g-check', hidden: true }, h('input', { type: 'checkbox', checked: true }));
    const label = `${move ? 'Move' : 'Copy'} ${count(this.ports.chosen().length, 'document')}`;
    const send = button(label, () => this.send(move, select.value, add), 'g-first');
    const acts = h(
      'div',
      { class: 'g-row-acts' },
      send,
      button('Cancel', () => this.close()),
    );
    this.bar.show(false, 0);
    replace(this.root, h('label', {}, name, select), told, add, acts, this.bar.root);
    this.root.hidden = false;
    select.focus();
    return this.preview(move, select.value, told, add);
  }

  /**
   * Says what would come along and what would stay behind.
   *
   * @param {boolean} move
   * @param {string} to
   * @param {HTMLElement} told
   * @param {HTMLElement} add
   */
  preview(move, to, told, add) {
    const turn = ++this.turn;
    return this.ports.say.act(async () => {
      const documents = this.ports.chosen();
      const plan = await post(
        '/projects/{project_id}/transfers/preview',
        { project_id: this.ports.project() },
        { documents, to, move, add_fields: false },
      );
      if (turn !== this.turn) return;
      replace(
        told,
        plan.sentences.map((sentence) => h('li', {}, sentence)),
      );
      add.hidden = !plan.fields.length || !plan.may_add;
      add.lastChild?.nodeType === Node.TEXT_NODE && add.lastChild.remove();
      add.append(` Add ${count(plan.fields.length, 'field')} there; all documents of that project get tasks for them`);
    });
  }

  /**
   * @param {boolean} move
   * @param {string} to
   * @param {HTMLElement} add
   */
  send(move, to, add) {
    return this.ports.act(async () => {
      const project = this.ports.project(),
        box = add.querySelector('input');
      const body = { documents: this.ports.chosen(), to, move, add_fields: !add.hidden && Boolean(box?.checked) };
      const begun = await post('/projects/{project_id}/transfers', { project_id: project }, body);
      const ended = await this.follow(project, begun);
      this.close();
      if (move) {
        last.move = ended.documents ? { id: ended.id, project, number: ended.documents } : null;
        this.ports.moved();
      }
      if (ended.status !== 'done') throw new Error(ended.message);
      return ended.message;
    });
  }

  /**
   * @param {string} project
   * @param {TransferView} view
   */
  async follow(project, view) {
    let now = view;
    while (!ENDED.includes(now.status)) {
      this.bar.show(true, now.progress);
      await new Promise((later) => setTimeout(later, LOOK));
      now = await get('/projects/{project_id}/transfers/{job_id}', { project_id: project, job_id: view.id });
    }
    return now;
  }

  /** @param {string} id of the transfer */
  undo(id) {
    return this.ports.act(async () => {
      const values = { project_id: this.ports.project(), job_id: id };
      const { documents, stays } = await post('/projects/{project_id}/transfers/{job_id}/undo', values, undefined);
      last.move = null;
      return [`${count(documents.length, 'document')} taken back.`, ...stays].join(' ');
    });
  }
}
