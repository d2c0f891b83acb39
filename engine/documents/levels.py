"""Words of one line with one height, as a text layer has them.

An OCR engine draws each box tight around the ink, so that "on" is half as high as "by". People draw a line's height around
each of its words with a little air, fonts do, and the model has learned it so. Done last: reading order and the joining of split
numbers go by the ink.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from engine.documents.found import FoundWord

_NEAR = 0.6  # of the line's word height: words whose middles are as near stand on one level; a line may rise
_TALL = 1.8  # times the line's word height: a rule, a bracket, a large initial is no measure for others
_HIGHEST = 0.8  # of the line's word height above a word's middle, and below
_HIGH, _LOW = 15, 85  # percentiles of the upper and lower edges that the level has
_AIR = 0.1  # of a word's height, on each side


def levelled(words: Sequence[FoundWord]) -> list[FoundWord]:
    """The words of a line as high as the level that they stand on. Those of a text layer (without confidence) have their
    height already."""
    read = [word for word in words if word.confidence is not None]
    if not read:
        return list(words)
    tops, feet = np.array([word.box[1] for word in read]), np.array([word.box[3] for word in read])
    middles = (tops + feet) / 2
    height = float(np.percentile(feet - tops, 50, method="lower"))
    usual = feet - tops <= _TALL * height

    def on_level(word: FoundWord) -> FoundWord:
        x0, y0, x1, y1 = word.box
        middle = (y0 + y1) / 2
        level = usual & (np.abs(middles - middle) <= _NEAR * height)
        if y1 - y0 <= _TALL * height and level.any():
            y0 = min(y0, max(float(np.percentile(tops[level], _HIGH)), middle - _HIGHEST * height))
            y1 = max(y1, min(float(np.percentile(feet[level], _LOW)), middle + _HIGHEST * height))
        air = _AIR * min(y1 - y0, _TALL * height)
        return replace(word, box=(x0 - air, y0 - air, x1 + air, y1 + air))

    return [word if word.confidence is None else on_level(word) for word in words]
