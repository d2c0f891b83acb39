import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Raster } from '../../../annotator/static/canvas/mask.js';
import { PaintedRows } from '../../../annotator/static/canvas/painted_rows.js';
import { seeded } from '../seeded.js';

test('what a stroke went over is what its discs painted on the page', () => {
  const rng = seeded(1);
  for (let turn = 0; turn < 200; turn++) {
    const page = new Raster(rng.whole(20, 90), rng.whole(20, 90)),
      stroke = new PaintedRows();
    for (let dab = rng.whole(0, 12); dab; dab--) {
      const disc = [rng.share() * 120 - 20, rng.share() * 120 - 20, rng.whole(1, 24) / 2];
      stroke.addDisc(page.fillDisc(...disc, 1), ...disc);
    }
    assert.deepEqual(stroke.patch(), page.patch());
  }
});
