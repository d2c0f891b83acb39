import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, mock, test } from 'node:test';

import { Toasts } from '../../../annotator/static/core/toast.js';

/** As much of an element as messages need. */
class Element {
  children = [];
  dataset = {};
  parent = null;
  pointed = false; // the pointer is on it

  setAttribute() {}
  addEventListener() {}

  append(...children) {
    for (const child of children) if (child instanceof Element) child.parent = this;
    this.children.push(...children);
  }

  remove() {
    this.parent.children = this.parent.children.filter((child) => child !== this);
  }

  matches() {
    return this.pointed;
  }
}

const SECOND = 1000;
const sentences = (toasts) => toasts.list.children.map((toast) => toast.dataset.sentence);
let toasts;

before(() => {
  globalThis.Node = globalThis.HTMLElement = Element;
  globalThis.document = {
    createElement: (tag) =>
      Object.assign(new Element(), tag === 'template' && { content: { firstElementChild: null } }),
  };
});

beforeEach(() => {
  mock.timers.enable({ apis: ['setTimeout'] });
  toasts = new Toasts(new Element());
});

afterEach(() => mock.timers.reset());

after(() => {
  for (const name of ['Node', 'HTMLElement', 'document']) delete globalThis[name];
});

test('a message goes after a while, an error later', () => {
  toasts.show('It went well.');
  toasts.show('It went wrong.', 'error');
  mock.timers.tick(4 * SECOND);
  assert.deepEqual(sentences(toasts), ['It went well.', 'It went wrong.']);
  mock.timers.tick(2 * SECOND);
  assert.deepEqual(sentences(toasts), ['It went wrong.']);
  mock.timers.tick(30 * SECOND);
  assert.deepEqual(sentences(toasts), []);
});

test('a message stays while somebody reads it', () => {
  toasts.show('It went wrong.', 'error');
  toasts.list.children[0].pointed = true;
  mock.timers.tick(90 * SECOND);
  assert.deepEqual(sentences(toasts), ['It went wrong.']);
  toasts.list.children[0].pointed = false;
  mock.timers.tick(5 * SECOND);
  assert.deepEqual(sentences(toasts), []);
});

test('the same sentence stands once, and four messages at most', () => {
  for (const sentence of ['one', 'two', 'one', 'three', 'four', 'five']) toasts.show(sentence);
  assert.deepEqual(sentences(toasts), ['one', 'three', 'four', 'five']);
});
