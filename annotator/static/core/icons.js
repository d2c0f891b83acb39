// Line icons on a 20 x 20 grid, drawn for this page.

/** @type {Record<string, string>} */
const PATHS = {
  word: '<rect x="2.5" y="6.5" width="15" height="7" rx="1.5"/><path d="M5.5 10h4M12 10h2.5"/>',
  box: '<path d="M3.5 6.5v-3h3M13.5 3.5h3v3M16.5 13.5v3h-3M6.5 16.5h-3v-3" /><path d="M3.5 9v2M16.5 9v2M9 3.5h2M9 16.5h2"/>',
  brush:
    '<path d="M16.8 3.2c-2.9 1-6.3 4.3-8 7.2l1.8 1.8c2.9-1.7 6.2-5.1 7.2-8a.75.75 0 0 0-1-1Z"/><path d="M8 11.5c-2.2 0-3 1.3-3.1 2.7-.1 1.1-.8 1.8-1.9 2.1 2.8 1.1 6.4.5 6.6-3"/>',
  eraser:
    '<path d="m8.2 16.5-4.3-4.3a1.4 1.4 0 0 1 0-2l6.3-6.3a1.4 1.4 0 0 1 2 0l3.9 3.9a1.4 1.4 0 0 1 0 2l-6.7 6.7Z"/><path d="m6.8 7.3 5.9 5.9M8 16.5h9"/>',
  plus_point: '<circle cx="10" cy="10" r="6.5"/><path d="M10 7v6M7 10h6"/>',
  minus_point: '<circle cx="10" cy="10" r="6.5"/><path d="M7 10h6"/>',
  text: '<path d="M4 5.5V4h12v1.5M10 4v12M7.5 16h5"/>',
  split: '<path d="M7 6 3 10l4 4M13 6l4 4-4 4M10 3.5v2.5M10 8.75v2.5M10 14v2.5"/>',
  merge: '<path d="m4 6 4 4-4 4M16 6l-4 4 4 4M10 3.5v13"/>',
  focus: '<path d="M3.5 7V3.5H7M13 3.5h3.5V7M16.5 13v3.5H13M7 16.5H3.5V13"/><circle cx="10" cy="10" r="2.5"/>',
  undo: '<path d="M7.5 4 4 7.5 7.5 11"/><path d="M4 7.5h7.5a4.25 4.25 0 0 1 0 8.5H8"/>',
  redo: '<path d="M12.5 4 16 7.5 12.5 11"/><path d="M16 7.5H8.5a4.25 4.25 0 0 0 0 8.5H12"/>',
  clear: '<path d="M4 5.5h12M8 5.5V4h4v1.5M5.5 5.5l.7 10.5h7.6l.7-10.5M8.5 8.5v4.5M11.5 8.5v4.5"/>',
  zoom_in: '<circle cx="9" cy="9" r="5.5"/><path d="m13 13 4 4M9 6.5v5M6.5 9h5"/>',
  zoom_out: '<circle cx="9" cy="9" r="5.5"/><path d="m13 13 4 4M6.5 9h5"/>',
  fit: '<path d="M3.5 7V3.5H7M13 3.5h3.5V7M16.5 13v3.5H13M7 16.5H3.5V13"/><rect x="7" y="6.5" width="6" height="7" rx=".5"/>',
  previous: '<path d="M12 5 7 10l5 5"/>',
  next: '<path d="m8 5 5 5-5 5"/>',
  up: '<path d="m5 12 5-5 5 5"/>',
  down: '<path d="m5 8 5 5 5-5"/>',
  upload: '<path d="M10 13V4M6.5 7 10 3.5 13.5 7"/><path d="M3.5 12.5v3a1 1 0 0 0 1 1h11a1 1 0 0 0 1-1v-3"/>',
  search: '<circle cx="9" cy="9" r="5.5"/><path d="m13 13 4 4"/>',
  check: '<path d="m4.5 10.5 3.5 3.5 7.5-8"/>',
  cross: '<path d="m5 5 10 10M15 5 5 15"/>',
  none: '<circle cx="10" cy="10" r="6.5"/><path d="m5.5 14.5 9-9"/>',
  help: '<circle cx="10" cy="10" r="7"/><path d="M7.8 8a2.2 2.2 0 1 1 3.2 2c-.7.4-1 .8-1 1.6"/><circle cx="10" cy="14" r=".4"/>',
  menu: '<path d="M3.5 5.5h13M3.5 10h13M3.5 14.5h13"/>',
  offline:
    '<path d="M3 3l14 14M6.5 8.2A5 5 0 0 0 6 10a3 3 0 0 0-.5 6h8.5M9 5.2a4.8 4.8 0 0 1 5.5 4.3 3.2 3.2 0 0 1 2.3 4.7"/>',
  cloud: '<path d="M6 15.5a3.5 3.5 0 0 1-.3-7 4.7 4.7 0 0 1 9-.3 3.7 3.7 0 0 1-.7 7.3Z"/>',
  warn: '<path d="M10 3.5 17.5 16h-15Z"/><path d="M10 8.5v3.5"/><circle cx="10" cy="14" r=".3"/>',
  page: '<path d="M5.5 2.5h6l3.5 3.5v11.5h-9.5Z"/><path d="M11.5 2.5V6H15"/>',
  question: '<path d="M3.5 4.5h13v9.5H9l-3.5 3v-3h-2Z"/>',
  clock: '<circle cx="10" cy="10" r="6.5"/><path d="M10 6.5V10l2.5 1.5"/>',
  pencil: '<path d="m4 16 .8-3.4L13.4 4l2.6 2.6-8.6 8.6Z"/>',
  copy: '<rect x="7" y="7" width="9.5" height="9.5" rx="1.5"/><path d="M13 7V5a1.5 1.5 0 0 0-1.5-1.5H5A1.5 1.5 0 0 0 3.5 5v6.5A1.5 1.5 0 0 0 5 13h2"/>',
  more: '<circle cx="4.5" cy="10" r=".6"/><circle cx="10" cy="10" r=".6"/><circle cx="15.5" cy="10" r=".6"/>',
  star: '<path d="m10 3 2.1 4.5 4.9.6-3.6 3.4.9 4.9L10 14l-4.3 2.4.9-4.9L3 8.1l4.9-.6Z"/>',
  spark: '<path d="M10 3.5 11.7 8.3 16.5 10l-4.8 1.7L10 16.5l-1.7-4.8L3.5 10l4.8-1.7Z"/>',
};

/**
 * An icon by its name.
 *
 * @param {string} name a key of PATHS
 * @param {number} [size] screen pixels
 */
export function icon(name, size = 18) {
  const holder = document.createElement('template');
  holder.innerHTML = `<svg class="icon" viewBox="0 0 20 20" width="${size}" height="${size}" fill="none" stroke="currentColor"
    stroke-width="1.5" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true">${PATHS[name]}</svg>`;
  return holder.content.firstElementChild;
}
