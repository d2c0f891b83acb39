// Does on masks and words what the page's scripts do, for a test that compares it with the server. JSON in, JSON out.

import { readFileSync } from 'node:fs';

import { Raster } from '../../annotator/static/canvas/mask.js';
import { editWords } from '../../annotator/static/words/words.js';

const { masks, pages } = JSON.parse(readFileSync(0, 'utf8'));

function written({ width, height, patch }) {
  const raster = new Raster(width, height);
  raster.load(patch);
  const again = new Raster(width, height);
  again.bytes.set(raster.bytes);
  again.rows.fill(undefined); // read from the pixels
  return { pixels: Array.from(raster.bytes), patch: again.patch() };
}

const answer = {
  masks: masks.map(written),
  pages: pages.map(({ words, edits }) => edits.reduce((sum, edit) => editWords(sum, [edit]).words, words)),
};
process.stdout.write(JSON.stringify(answer));
