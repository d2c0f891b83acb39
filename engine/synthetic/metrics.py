"""Widths of characters, for layout without installed fonts.

Advance widths in thousandths of an em of the PostScript core fonts (Adobe Font Metrics for Helvetica, Times-Roman and
Courier); Liberation and Arial share them. The renderer fits each word into the resulting box.
"""

from __future__ import annotations

_SANS = {
    278: " !,./:;I[]\\ft", 355: '"', 556: "#$0123456789?_abdeghnopquL", 889: "%", 667: "&ABEKPSVXY", 191: "'", 333: "()-r`{}",
    389: "*", 584: "+<=>~", 1015: "@", 722: "CDHNRUw", 611: "FTZ", 778: "GOQ", 500: "Jckvsxyz", 833: "Mm", 944: "W", 222: "ijl",
    260: "|",
}  # fmt: skip
_SERIF = {
    250: " ,.", 333: "!()-I[]r`", 408: '"', 500: "#$0123456789*_bdghknopquvxy", 833: "%", 778: "&m", 180: "'", 564: "+<=>",
    278: "/:;ijlt\\", 444: "?acez", 921: "@", 722: "ADGHKNOQRUVXYw", 667: "BC", 611: "ELTZ", 556: "FPS", 389: "Js", 889: "M",
    944: "W", 480: "{}", 200: "|",
}  # fmt: skip


def _table(groups: dict[int, str], default: int) -> list[float]:
    widths = [default / 1000] * 256
    for width, signs in groups.items():
        for sign in signs:
            widths[ord(sign)] = width / 1000
    return widths


WIDTHS = {"sans": _table(_SANS, 556), "serif": _table(_SERIF, 500), "mono": [0.6] * 256, "hand": _table(_SERIF, 480)}

ASCENT = 0.74  # of an em: tops of capitals and of b, d, f, h, k, l above the baseline
X_HEIGHT = 0.53
DESCENT = 0.21
_TALL = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789bdfhklit!\"#$%&'()/?@[]\\{}|*£€")
_DEEP = frozenset("gjpqy()[]{}|,;@$Q/")


def width_of(text: str, family: str) -> float:
    """Return the advance width of a text in ems."""
    widths = WIDTHS[family]
    return sum(widths[code] if (code := ord(sign)) < 256 else 0.6 for sign in text)


def extent_of(text: str) -> tuple[float, float]:
    """Return the ink above and below the baseline in ems, by the classes of the characters."""
    signs = set(text)
    if not signs - set("-_=.~+:;,<>"):
        return X_HEIGHT, DESCENT if signs & set("_;,") else 0.02
    return (ASCENT if signs & _TALL else X_HEIGHT), (DESCENT if signs & _DEEP else 0.02)
