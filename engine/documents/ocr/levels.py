"""Equal heights for the words of a line, as in a text layer.

OCR engines draw boxes tight around the ink, so "on" is half as high as "by". People and fonts use the line's height
with a little air, and the model was trained on that. Applied last: reading order and the joining of split numbers use
the ink.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from engine.documents.reading.source_words import FoundWord

_NEAR = 0.6  # of the line's word height: distance of centres on one level; a line may rise
_TALL = 1.8  # times the line's word height: rules, brackets and large initials are ignored
_HIGHEST = 0.8  # of the line's word height, above and below a word's centre
_HIGH, _LOW = 15, 85  # percentiles of upper and lower edges that define the level
_AIR = 0.05  # of a word's height, on each side


def level_words(words: Sequence[FoundWord]) -> list[FoundWord]:
    """Return the words of a line with the height of their level; words of a text layer are unchanged."""
    read = [word for word in words if word.confidence is not None]
    if not read:
        return list(words)
    tops, feet = np.array([word.box[1] for word in read]), np.array([word.box[3] for word in read])
    middles = (tops + feet) / 2
    height = float(np.percentile(feet - tops, 50, method="lower"))
    usual = feet - tops <= _TALL * height

    def on_level(word: FoundWord) -> FoundWord:
        """Return one word with the height of its level."""
        x0, y0, x1, y1 = word.box
        middle = (y0 + y1) / 2
        level = usual & (np.abs(middles - middle) <= _NEAR * height)
        if y1 - y0 <= _TALL * height and level.any():
            y0 = min(y0, max(float(np.percentile(tops[level], _HIGH)), middle - _HIGHEST * height))
            y1 = max(y1, min(float(np.percentile(feet[level], _LOW)), middle + _HIGHEST * height))
        air = _AIR * min(y1 - y0, _TALL * height)
        return replace(word, box=(x0 - air, y0 - air, x1 + air, y1 + air))

    return [word if word.confidence is None else on_level(word) for word in words]
