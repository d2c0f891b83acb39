"""Name the places of a page at which the same key is printed, by what tells them apart."""

from collections import Counter
from collections.abc import Callable, Sequence

from model.layout import Layout
from model.repeated_keys import KeyPlace

LONGEST = 40  # letters of a name
_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth")
_HEADING_WORDS = 8  # at most
_ABOVE = 4.0  # line heights from a column's key to the heading over it
_TALLER = 1.15  # times the page's line height


def name_places(layout: Layout, places: Sequence[KeyPlace], size: tuple[int, int]) -> list[str]:
    """Name places of the same key so that people can choose between them.

    Three kinds of names are tried: the heading of the column, the nearest heading above, and what stands left of the
    key on its line. The kind that tells most places apart is taken. Places without such a name are named by where they
    are, as "upper left" or "second of 3". Equal names get the same ordinals.

    Args:
        layout: layout of the page.
        places: places of the key, from the top.
        size: width and height of the page in pixels.

    Returns:
        One name for each place, all different, of at most `LONGEST` letters.
    """
    lines = [_line_text(layout, line) for line in range(int(layout.line.max()) + 1)]
    counted = Counter(_text(layout, segment).casefold() for segment in range(len(layout.segment_line)))
    keys = {index for place in places for index in place.words}
    kinds: list[Callable[[KeyPlace], str]] = [
        lambda place: _column_heading(layout, place, keys),
        lambda place: _heading_above(layout, place, lines, counted),
        lambda place: _left_of(layout, place, keys, whole=False),
        lambda place: _left_of(layout, place, keys, whole=True),
    ]
    named = [[_shortened(kind(place)) for place in places] for kind in kinds]
    names = max(named, key=lambda found: len(set(found) - {""}))  # the first of equals
    where = _positions(layout, places, size)
    names = [name or position for name, position in zip(names, where, strict=True)]
    times = Counter(names)
    seen: Counter[str] = Counter()
    for at, name in enumerate(names):
        if times[name] > 1:
            seen[name] += 1
            ending = f", {_ordinal(seen[name], times[name])}"
            names[at] = _shortened(name, LONGEST - len(ending)) + ending
    return names


def _line_text(layout: Layout, line: int) -> str:
    return " ".join(layout.texts[index] for index in layout.order.tolist() if layout.line[index] == line)


def _column_heading(layout: Layout, place: KeyPlace, keys: set[int]) -> str:
    """Return the heading that stands over a key which is itself a heading of a row of several."""
    if sum(int(layout.line[index]) == place.line for index in keys) <= len(place.words):
        return ""  # the key stands on its line once
    centre = (place.box[0] + place.box[2]) / 2
    for line in range(place.line - 1, -1, -1):
        if any(int(layout.line[index]) == line for index in keys):
            return ""
        segments = [at for at, home in enumerate(layout.segment_line.tolist()) if home == line]
        if place.box[1] - float(layout.segment_boxes[segments, 3].max()) > _ABOVE:
            break
        if len(segments) > 1:
            middles = layout.segment_boxes[segments][:, [0, 2]].mean(1)
            nearest = segments[int(abs(middles - centre).argmin())]
            return _text(layout, nearest)
    return ""


def _heading_above(layout: Layout, place: KeyPlace, lines: Sequence[str], counted: Counter[str]) -> str:
    """Return the nearest line above that looks like a heading: alone, short, in capitals or taller than the text."""
    for line in range(place.line - 1, -1, -1):
        text = lines[line]
        segments = [at for at, home in enumerate(layout.segment_line.tolist()) if home == line]
        letters = sum(c.isalpha() for c in text)
        alone = len(segments) == 1 and counted[text.casefold()] == 1 and len(text.split()) <= _HEADING_WORDS
        if not alone or letters < 3 or letters < 0.6 * len(text.replace(" ", "")):
            continue
        members = layout.line == line
        height = float((layout.boxes[members, 3] - layout.boxes[members, 1]).mean())
        if text.isupper() or height > _TALLER:
            return text
    return ""


def _left_of(layout: Layout, place: KeyPlace, keys: set[int], whole: bool) -> str:
    """Return the first segment of the key's line, or all words left of the key; empty where the key begins it."""
    low = int(layout.rank[place.words[0]])
    left = [index for index in layout.order[:low].tolist() if layout.line[index] == place.line and index not in keys]
    if not whole:
        left = [index for index in left if layout.segment[index] == layout.segment[left[0]]]
    text = " ".join(layout.texts[index] for index in left)
    return text if sum(c.isalnum() for c in text) > 1 else ""


def _positions(layout: Layout, places: Sequence[KeyPlace], size: tuple[int, int]) -> list[str]:
    """Return where places lie on the page in words, or their ordinals where two lie in the same part."""
    width, height = size[0] / layout.height, size[1] / layout.height
    found = []
    for place in places:
        across = 3 * (place.box[0] + place.box[2]) / 2 / width
        down = 3 * (place.box[1] + place.box[3]) / 2 / height
        rows, columns = ("upper", "middle", "lower"), ("left", "centre", "right")
        found.append(f"{rows[min(2, max(0, int(down)))]} {columns[min(2, max(0, int(across)))]}")
    if len(set(found)) == len(found):
        return found
    return [_ordinal(at, len(places)) for at in range(1, len(places) + 1)]


def _ordinal(at: int, count: int) -> str:
    return f"{_ORDINALS[at - 1]} of {count}" if at <= len(_ORDINALS) else f"{at} of {count}"


def _text(layout: Layout, segment: int) -> str:
    return " ".join(layout.texts[index] for index in layout.order.tolist() if layout.segment[index] == segment)


def _shortened(text: str, most: int = LONGEST) -> str:
    """Return the text without surrounding signs, cut between words to `most` letters."""
    text = text.strip(" :.,;-_|/").removesuffix(" :")
    if len(text) <= most:
        return text
    return text[: most - 1].rsplit(" ", 1)[0].rstrip(" :.,;-(") + "…"
