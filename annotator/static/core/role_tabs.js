// The tabs of people who only annotate: jobs, the table and exports are for reviewers, and
// would say nothing else to them.

const FOR_REVIEWERS = ['jobs', 'table', 'export']; // as gradio.css leaves them out of the row

let annotates = false; // and reviews nowhere

/**
 * Shows the tabs that somebody needs.
 *
 * @param {boolean} reviews whether they review in any project, or are an admin of the installation
 */
export function showTabsFor(reviews) {
  annotates = !reviews;
  document.documentElement.toggleAttribute('data-annotates-only', annotates);
}

/** The menu of tabs that do not fit: Gradio draws it anew, so its entries are gone through when it opens. */
export function watchTabMenu() {
  document.addEventListener(
    'click',
    ({ target }) => {
      if (!(target instanceof Element) || !target.closest('.overflow-menu > button')) return;
      for (const entry of document.querySelectorAll('.overflow-dropdown button'))
        if (entry instanceof HTMLElement)
          entry.hidden = annotates && FOR_REVIEWERS.includes(entry.textContent.trim().toLowerCase());
    },
    { capture: true },
  );
}
