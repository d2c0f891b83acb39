// Tabs in the browser's history: each one that somebody opens is a step, so Back returns to the tab before. The entry
// carries the name of its tab; the address stays that of the workspace.

const HOME = 'annotate'; // the tab of an entry without a name: the page as it was opened, a link into the workspace

let quiet = false; // a tab is opened from here, which is no step

/** The tab of the present entry. */
const tabHere = () => /** @type {{ tab?: string } | null} */ (history.state)?.tab ?? HOME;

/**
 * Runs what opens a tab without making a step of it.
 *
 * @param {() => void} open
 */
export function withoutStep(open) {
  quiet = true;
  try {
    open();
  } finally {
    quiet = false;
  }
}

/**
 * The name of the tab that a click opens: one of the row, or of the menu of those that do not fit into it.
 *
 * @param {EventTarget | null} target
 */
function tabOf(target) {
  const element =
    target instanceof Element ? target.closest('[role=tab][data-tab-id], .overflow-dropdown button') : null;
  if (!(element instanceof HTMLElement)) return null;
  return element.dataset.tabId ?? element.textContent?.trim().toLowerCase() ?? null;
}

/**
 * Opens a tab, which may stand in the menu of those that do not fit.
 *
 * @param {string} name
 */
export function openTab(name) {
  const tab = document.querySelector(`[role=tab][data-tab-id="${CSS.escape(name)}"]`);
  if (tab instanceof HTMLElement) return tab.click();
  const more = document.querySelector('.overflow-menu > button');
  if (more instanceof HTMLElement) more.click();
  requestAnimationFrame(() => {
    const buttons = [...document.querySelectorAll('.overflow-dropdown button')];
    const found = buttons.find((each) => each.textContent?.trim().toLowerCase() === name);
    if (found instanceof HTMLElement) found.click();
  });
}

export function keepTabHistory() {
  document.addEventListener(
    'click',
    ({ target }) => {
      const name = tabOf(target);
      if (name === null || quiet || name === tabHere()) return;
      history.pushState({ tab: name }, '');
    },
    { capture: true },
  );
  window.addEventListener('popstate', () => {
    const name = tabHere();
    const shown = document.querySelector('[role=tab][aria-selected=true]');
    if (shown instanceof HTMLElement && shown.dataset.tabId === name) return;
    openTab(name); // the entry names this tab, so its click makes no step
  });
}
