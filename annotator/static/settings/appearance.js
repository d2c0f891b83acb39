// Light or dark, and the colours of marks. Gradio's tabs beside the workspace follow.

import { choosePalette } from '../canvas/palettes.js';

/** When a page comes with a mark on it, and the view goes there by itself. */
export const ZOOMS = { tasks: 'In queue and review', always: 'Always', never: 'Never' };

/**
 * Whether the view goes to the mark of a page that has just come.
 *
 * @param {{ zoom?: unknown }} chosen a key of ZOOMS
 * @param {string} mode what somebody works through: 'queue', 'review', or 'free'
 */
export const zoomsIn = ({ zoom = 'tasks' }, mode) => zoom === 'always' || (zoom === 'tasks' && mode !== 'free');

/** The themes with their labels. */
export const THEMES = { system: 'System setting', light: 'Light', dark: 'Dark' };

const dark = matchMedia('(prefers-color-scheme: dark)');

/** @type {unknown} */
let shown = 'system';
let watching = false;

/**
 * Shows a theme and the colours of marks, as they were chosen.
 *
 * @param {{ theme?: unknown, palette?: unknown }} chosen a key of THEMES, a key of PALETTES
 */
export function appear({ theme = 'system', palette = 'blue' }) {
  const { documentElement: html, body } = document;
  if (theme === 'light' || theme === 'dark') html.dataset.theme = theme;
  else delete html.dataset.theme;
  shown = theme;
  follow();
  if (!watching) new MutationObserver(follow).observe(body, { attributes: true, attributeFilter: ['class'] });
  watching = true;
  choosePalette(String(palette));
}

/** Gradio turns the class on and off by itself when the system changes, whatever somebody chose here. */
function follow() {
  document.body.classList.toggle('dark', shown === 'dark' || (shown !== 'light' && dark.matches));
}
