// Uploads: chosen or dropped files, one request a file so that each has its own progress and its own verdict.

import { h } from '../core/dom.js';
import { count } from '../core/text.js';
import { icon } from '../core/icons.js';
import { upload } from '../core/api.js';

const AT_ONCE = 2;
const WAIT = 5; // seconds before a file goes again to a server that has too many at once, unless the server says
const KINDS = '.pdf,.png,.jpg,.jpeg,.tif,.tiff,application/pdf,image/png,image/jpeg,image/tiff';

export class Uploads {
  // root: everything that takes drops. list: where the progress stands. done(answers): after the last file of a batch.
  constructor(root, list, { project, done, failed }) {
    this.list = list;
    this.project = project;
    this.done = done;
    this.failed = failed;
    this.waiting = [];
    this.running = 0;
    this.answers = [];
    this.input = h('input', {
      type: 'file',
      multiple: true,
      accept: KINDS,
      hidden: true,
      'aria-label': 'Documents to upload',
      on: { change: () => this.chosen() },
    });
    this.veil = h(
      'div',
      { class: 'g-veil', hidden: true },
      h(
        'div',
        {},
        icon('upload', 32),
        h('b', {}, 'Drop to upload'),
        h('span', {}, 'PDF, PNG, JPEG or TIFF; several files at once'),
      ),
    );
    root.append(this.input, this.veil);
    const files = (event) => [...(event.dataTransfer?.types ?? [])].includes('Files');
    root.addEventListener('dragenter', (event) => files(event) && this.cover(true));
    root.addEventListener('dragover', (event) => files(event) && event.preventDefault());
    root.addEventListener('dragleave', (event) => !root.contains(event.relatedTarget) && this.cover(false));
    root.addEventListener('drop', (event) => {
      if (!files(event)) return;
      event.preventDefault();
      this.cover(false);
      this.add([...event.dataTransfer.files]);
    });
  }

  cover(on) {
    this.veil.hidden = !on;
  }

  choose() {
    this.input.click();
  }

  chosen() {
    this.add([...this.input.files]);
    this.input.value = '';
  }

  add(files) {
    const project = this.project();
    if (!project) return this.failed('No project is open. Choose a project first.');
    for (const file of files) this.waiting.push({ file, project, row: this.row(file) });
    this.pump();
  }

  row(file) {
    const bar = h('i', {}),
      note = h('span', { class: 'g-quiet' }, 'Waiting');
    const close = h(
      'button',
      { class: 'g-icon-button g-small', 'aria-label': 'Dismiss', hidden: true, on: { click: () => element.remove() } },
      icon('cross', 12),
    );
    const element = h(
      'div',
      { class: 'g-uploading' },
      h('div', { class: 'g-uploading-name' }, h('b', { title: file.name }, file.name), close),
      h('div', { class: 'g-bar' }, bar),
      note,
    );
    this.list.append(element);
    return {
      progress: (share) => {
        bar.style.width = `${100 * share}%`;
        note.textContent = share < 1 ? `Sending, ${Math.round(100 * share)} %` : 'Reading pages and words…';
        element.dataset.state = share < 1 ? 'sending' : 'reading';
      },
      later: () => {
        note.textContent = 'The server is busy. This file is sent again soon.';
      },
      end: (state, sentence, seconds) => {
        bar.style.width = '100%';
        element.dataset.state = state;
        note.textContent = sentence;
        close.hidden = false;
        if (seconds) setTimeout(() => element.remove(), 1000 * seconds);
      },
    };
  }

  pump() {
    while (this.running < AT_ONCE && this.waiting.length) this.start(this.waiting.shift());
  }

  // A server with too many files at once is asked again until it takes this one.
  async send(project, file, row) {
    for (;;) {
      try {
        return await upload(project, file, row.progress);
      } catch (error) {
        if (error.status !== 429) throw error;
        row.later();
        await new Promise((go) => setTimeout(go, 1000 * (error.wait || WAIT)));
      }
    }
  }

  async start({ file, project, row }) {
    this.running++;
    row.progress(0);
    try {
      const answer = await this.send(project, file, row);
      const [stored] = answer.documents ?? [];
      const [refused] = answer.refused ?? [];
      if (stored) {
        const words = !stored.created
          ? 'Already in the project.'
          : stored.whole
            ? `${count(stored.pages, 'page')}, ${count(stored.words, 'word')}`
            : 'Opened. Further pages are being read.';
        row.end('done', stored.warnings?.[0] ?? words, stored.warnings?.length ? 20 : 4);
        this.answers.push({ ...stored, project });
      } else row.end('refused', refused?.sentence ?? answer.detail ?? 'The server refused the file. Check its format.');
    } catch (error) {
      row.end('refused', error.message);
    }
    this.running--;
    this.pump();
    if (this.running || this.waiting.length) return;
    const answers = this.answers;
    this.answers = [];
    this.done(answers);
  }
}
