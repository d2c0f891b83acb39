// Gradio replaces a part of a tab as a whole. What the reader had opened, or has the focus on, stays.

const CONTROLS = 'a, button, input, select, textarea, summary';

/** @param {Element} panel a tab's panel */
export function carryOver(panel) {
  /** @type {Element | null} */
  let held = null; // what had the focus last, as long as the focus did not go elsewhere
  panel.addEventListener('focusin', ({ target }) => (held = target instanceof Element ? target : null));
  panel.addEventListener('focusout', ({ target }) => target instanceof Element && target.isConnected && (held = null));
  new MutationObserver((records) => {
    const removed = records.flatMap(({ removedNodes }) => [...removedNodes]);
    const opened = removed.flatMap((node) => (node instanceof Element && !node.isConnected ? openIn(node) : []));
    if (opened.length) reopen(panel, new Set(opened));
    if (held && !held.isConnected && document.activeElement === document.body) refocus(panel, held);
  }).observe(panel, { childList: true, subtree: true });
}

// Names of the open folds in what was removed.
/** @param {Element} removed */
const openIn = (removed) => [...removed.querySelectorAll('details[open]')].map(nameOf);

/**
 * @param {Element} panel
 * @param {Set<string>} names
 */
function reopen(panel, names) {
  for (const fold of panel.querySelectorAll('details')) if (names.has(nameOf(fold))) fold.open = true;
}

/**
 * @param {Element} panel
 * @param {Element} held
 */
function refocus(panel, held) {
  const next = [...panel.querySelectorAll(CONTROLS)].find(
    (each) => each.tagName === held.tagName && nameOf(each) === nameOf(held),
  );
  if (next instanceof HTMLElement) next.focus({ preventScroll: true });
}

// What stands in it, under the title of its card.
/** @param {Element} element */
function nameOf(element) {
  const card = element.closest('figure, section')?.querySelector('b, h2, h3')?.textContent ?? '';
  const own = element instanceof HTMLDetailsElement ? element.querySelector('summary') : element;
  return [card, element.getAttribute('href'), own?.getAttribute('aria-label'), own?.textContent].join('|');
}
