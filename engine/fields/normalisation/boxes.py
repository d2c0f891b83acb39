"""Tick boxes with labels, as printed: ☒ Yes ☐ No."""

from __future__ import annotations

import re
from dataclasses import dataclass

from engine.fields.normalisation.characters import fold

# A cross in a box ticks it.
TICKED = frozenset("✓✔☑☒🗹🗷🗸⊠■●レ√") | {"x"}
EMPTY = frozenset("☐□▢⬜❏❑") | {"[]", "()", "[_]"}
_BOX = re.compile(r"(\[[ _]?[xX✓✔]?[ _]?\]|\( ?[xX✓✔]? ?\)|[☐□▢⬜❏❑☑☒🗹🗷⊠✓✔🗸■])")


@dataclass(frozen=True, slots=True)
class Box:
    """A box and its label."""

    label: str
    ticked: bool


def boxes_of(text: str) -> list[Box]:
    """Return the boxes of a text that have labels; all stand before their labels, or all behind.

    Args:
        text: printed text.
    """
    parts = [part.strip() for part in _BOX.split(fold(text))]
    labels = parts[0:-1:2] if parts[0] else parts[2::2]
    return [Box(label, is_ticked(box)) for box, label in zip(parts[1::2], labels, strict=True) if label]


def is_ticked(box: str) -> bool:
    """Return whether the mark of a box ticks it, with or without brackets around it."""
    return re.sub(r"[\[\]() _]", "", box).lower() in TICKED
