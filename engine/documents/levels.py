"""Words of one line with one height, as a text layer has them.

An OCR engine draws each box tight around the ink, so that "on" is half as high as "by". People draw a line's height around
each of its words with a little air, fonts do, and the model has learned it so.
"""

from dataclasses import replace

import numpy as np

from engine.documents.found import FoundLine

_NEAR = 0.6  # of the line's word height: words whose middles are as near stand on one level; a line may rise
_HIGH, _LOW = 15, 85  # percentiles of the upper and lower edges that the level has: one odd word does not lift all
_AIR = 0.1  # of a word's height, on each side


def levelled(line: FoundLine) -> FoundLine:
    """The line with its words as high as the level that they stand on; a line that lies sideways stays as it is."""
    if line.heading or not line.words:
        return line
    tops = np.array([word.box[1] for word in line.words])
    feet = np.array([word.box[3] for word in line.words])
    middles, near = (tops + feet) / 2, _NEAR * float(np.median(feet - tops))
    words = []
    for word, middle in zip(line.words, middles, strict=True):
        level = np.abs(middles - middle) < max(near, 1e-6)
        x0, y0, x1, y1 = word.box
        y0 = min(y0, float(np.percentile(tops[level], _HIGH)))
        y1 = max(y1, float(np.percentile(feet[level], _LOW)))
        air = _AIR * (y1 - y0)
        words.append(replace(word, box=(x0 - air, y0 - air, x1 + air, y1 + air)))
    return replace(line, words=tuple(words))
