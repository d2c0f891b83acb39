"""Name the places of a page at which the same key is printed, by what tells them apart."""

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence

from model.layout import Layout
from model.repeated_keys import KeyPlace

LONGEST = 40  # letters of a name
_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth")
_HEADING_WORDS = 12  # at most
_ABOVE = 4.0  # line heights from a column's key to the heading over it
_TALLER = 1.15  # times the page's line height


class _Print:
    """Texts of a page by line and segment, gathered once: a page may have thousands of words and hundreds of places."""

    def __init__(self, layout: Layout, places: Sequence[KeyPlace]) -> None:
        self.layout = layout
        self.keys = {index for place in places for index in place.words}
        self.keys_on = Counter(int(layout.line[index]) for index in self.keys)
        by_line: defaultdict[int, list[str]] = defaultdict(list)
        by_segment: defaultdict[int, list[str]] = defaultdict(list)
        for index in layout.order.tolist():
            by_line[int(layout.line[index])].append(layout.texts[index])
            by_segment[int(layout.segment[index])].append(layout.texts[index])
        self.lines = {line: " ".join(texts) for line, texts in by_line.items()}
        self.segments = {segment: " ".join(texts) for segment, texts in by_segment.items()}
        self.times = Counter(text.casefold() for text in self.segments.values())
        self.segments_on: defaultdict[int, list[int]] = defaultdict(list)
        for segment, line in enumerate(layout.segment_line.tolist()):
            self.segments_on[line].append(segment)
        self._headings: dict[int, str] = {}

    def heading(self, line: int) -> str:
        """Return the text of a line that looks like a heading: alone, short, in capitals or taller than the text."""
        if line not in self._headings:
            self._headings[line] = self._heading(line)
        return self._headings[line]

    def _heading(self, line: int) -> str:
        text = self.lines.get(line, "")
        letters = sum(c.isalpha() for c in text)
        alone = len(self.segments_on[line]) == 1 and self.times[text.casefold()] == 1
        if not alone or len(text.split()) > _HEADING_WORDS or letters < max(3, 0.6 * len(text.replace(" ", ""))):
            return ""
        members = self.layout.line == line
        height = float((self.layout.boxes[members, 3] - self.layout.boxes[members, 1]).mean())
        return text if text.isupper() or height > _TALLER else ""


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
    page = _Print(layout, places)
    kinds: list[Callable[[KeyPlace], str]] = [
        lambda place: _column_heading(page, place),
        lambda place: _heading_above(page, place),
        lambda place: _left_of(page, place, whole=False),
        lambda place: _left_of(page, place, whole=True),
    ]
    named = [[_shorten(kind(place)) for place in places] for kind in kinds]
    names = max(named, key=lambda names: len(set(names) - {""}))  # the first of equals
    where = _positions(layout, places, size)
    names = [name or position for name, position in zip(names, where, strict=True)]
    times = Counter(names)
    seen: Counter[str] = Counter()
    for at, name in enumerate(names):
        if times[name] > 1:
            seen[name] += 1
            ending = f", {_ordinal(seen[name], times[name])}"
            names[at] = _shorten(name, LONGEST - len(ending)) + ending
    return names


def _column_heading(page: _Print, place: KeyPlace) -> str:
    """Return the heading that stands over a key which is itself a heading of a row of several."""
    if page.keys_on[place.line] <= len(place.words):
        return ""  # the key stands on its line once
    boxes = page.layout.segment_boxes
    centre = (place.box[0] + place.box[2]) / 2
    for line in range(place.line - 1, -1, -1):
        segments = page.segments_on[line]
        if page.keys_on[line] or not segments:
            return ""
        if place.box[1] - float(boxes[segments, 3].max()) > _ABOVE:
            break
        if len(segments) > 1:
            middles = boxes[segments][:, [0, 2]].mean(1)
            return page.segments[segments[int(abs(middles - centre).argmin())]]
    return ""


def _heading_above(page: _Print, place: KeyPlace) -> str:
    """Return the nearest line above that looks like a heading."""
    return next((text for line in range(place.line - 1, -1, -1) if (text := page.heading(line))), "")


def _left_of(page: _Print, place: KeyPlace, whole: bool) -> str:
    """Return the first segment of the key's line, or all words left of the key; empty where the key begins it."""
    layout = page.layout
    low = int(layout.rank[place.words[0]])
    left: list[int] = []
    for index in reversed(layout.order[:low].tolist()):
        if layout.line[index] != place.line:
            break
        left.append(index)
    left = [index for index in reversed(left) if index not in page.keys]
    if not whole:
        left = [index for index in left if layout.segment[index] == layout.segment[left[0]]]
    text = " ".join(layout.texts[index] for index in left)
    return text if sum(c.isalnum() for c in text) > 1 else ""


def _positions(layout: Layout, places: Sequence[KeyPlace], size: tuple[int, int]) -> list[str]:
    """Return where places lie on the page in words, or their ordinals where two lie in the same part."""
    width, height = size[0] / layout.height, size[1] / layout.height
    positions = []
    for place in places:
        across = 3 * (place.box[0] + place.box[2]) / 2 / width
        down = 3 * (place.box[1] + place.box[3]) / 2 / height
        rows, columns = ("upper", "middle", "lower"), ("left", "centre", "right")
        positions.append(f"{rows[min(2, max(0, int(down)))]} {columns[min(2, max(0, int(across)))]}")
    if len(set(positions)) == len(positions):
        return positions
    return [_ordinal(at, len(places)) for at in range(1, len(places) + 1)]


def _ordinal(at: int, count: int) -> str:
    return f"{_ORDINALS[at - 1]} of {count}" if at <= len(_ORDINALS) else f"{at} of {count}"


def _shorten(text: str, most: int = LONGEST) -> str:
    """Return the text without surrounding signs, cut between words to `most` letters."""
    text = text.strip(" :.,;-_|/").removesuffix(" :")
    if len(text) <= most:
        return text
    return text[: most - 1].rsplit(" ", 1)[0].rstrip(" :.,;-(") + "…"
