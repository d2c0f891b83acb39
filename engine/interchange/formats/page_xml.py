"""PAGE XML (PRImA, schema of 2019-07-15): a file a page, with its lines and words, and a custom region for each answer.

What is asked stands in the region's user attributes. A region's outline goes around the boxes of the answer's words, or around its pixels.
"""

from collections.abc import Iterable
from itertools import groupby
from typing import Any

from lxml import etree

from engine.datasets.manifest import FrozenPage, FrozenWord
from engine.interchange.destination import Destination
from engine.interchange.outcome import Likeness, Outcome, Tick
from engine.interchange.polygons import Ring, covered, outlines
from engine.interchange.release import IMAGES_FOLDER, SPLITS, Marked, Release, attributes_of, image_name
from engine.version import code_version
from model.masks import iou

NAMESPACE = "http://schema.primaresearch.org/PAGE/gts/pagecontent/2019-07-15"
PAGES_FOLDER = "page"
_NO_TIME = "1970-01-01T00:00:00"  # the schema wants times; the same snapshot must give the same bytes


def write(release: Release, to: Destination, tick: Tick) -> Outcome:
    """Write page/ and images/."""
    counts = {"documents": 0, "pages": 0, "answers": 0, "no_answer": 0}
    likeness = Likeness()
    for document, items in release.documents():
        counts["documents"] += 1
        by_page, unanswered = release.by_page(items, tick)
        counts["answers"] += len(items) - len(unanswered)
        counts["no_answer"] += len(unanswered)
        not_there = sorted({item.question for item in unanswered})
        for page in document.pages:
            if page.id in by_page or not_there:
                image = image_name(document, page)
                to.blob(f"{IMAGES_FOLDER}/{image}", page.image_sha256)
                about = {"split": SPLITS[document.split], "document": document.name, "document_sha256": document.sha256}
                root, element = _root(release, page, image)
                _attributes(element, [*about.items(), *(("no_answer", question) for question in not_there)])
                _text(element, release.words(page))
                for one in by_page.get(page.id, []):
                    _answer(element, one, likeness)
                with to.file(f"{PAGES_FOLDER}/{image.rsplit('.', 1)[0]}.xml") as target:
                    etree.ElementTree(root).write(
                        str(target), xml_declaration=True, encoding="UTF-8", pretty_print=True
                    )
                counts["pages"] += 1
    return Outcome(counts, likeness.figures())


def _root(release: Release, page: FrozenPage, image: str) -> tuple[Any, Any]:
    """The root of a file, and its element of the page."""
    root = etree.Element(_tag("PcGts"), nsmap={None: NAMESPACE})
    about = etree.SubElement(root, _tag("Metadata"))
    for name, value in (("Creator", f"Glossator {code_version()}"), ("Created", _NO_TIME), ("LastChange", _NO_TIME)):
        etree.SubElement(about, _tag(name)).text = value
    etree.SubElement(about, _tag("Comments")).text = f"{release.project}, snapshot {release.snapshot.sha256}"
    shown = {
        "imageFilename": f"../{IMAGES_FOLDER}/{image}",
        "imageWidth": str(page.width),
        "imageHeight": str(page.height),
    }
    return root, etree.SubElement(root, _tag("Page"), shown)


def _text(page: Any, words: tuple[FrozenWord, ...]) -> None:
    for number, (_, line) in enumerate(groupby(words, key=lambda word: word.line), 1):
        of_line = tuple(line)
        around = (
            min(word.box[0] for word in of_line),
            min(word.box[1] for word in of_line),
            max(word.box[2] for word in of_line),
            max(word.box[3] for word in of_line),
        )
        region = etree.SubElement(page, _tag("TextRegion"), id=f"region-{number}")
        _coords(region, _corners(around))
        element = etree.SubElement(region, _tag("TextLine"), id=f"line-{number}")
        _coords(element, _corners(around))
        for word in of_line:
            there = etree.SubElement(element, _tag("Word"), id=f"word-{word.number}")
            _coords(there, _corners(word.box))
            _unicode(there, word.text)
        _unicode(element, " ".join(word.text for word in of_line))


def _answer(page: Any, marked: Marked, likeness: Likeness) -> None:
    """A region for each word of the answer, or for each detached part of its pixels; what belongs together carries one id."""
    by_words = marked.by_words
    rings = [_corners(word.box) for word in marked.words] if by_words else outlines(marked.mask)
    likeness.add(1.0 if by_words else iou(covered(rings, marked.mask.shape), marked.mask))
    about = {
        "question": marked.item.question,
        "text": marked.text,
        "by_words": str(by_words).lower(),
        **attributes_of(marked.item),
    }
    for number, ring in enumerate(rings, 1):
        region = etree.SubElement(
            page, _tag("CustomRegion"), id=f"answer-{marked.item.annotation_id}-{number}", type="answer"
        )
        _coords(region, ring)
        _attributes(region, [(name, "" if value is None else str(value)) for name, value in about.items()])


def _attributes(element: Any, pairs: Iterable[tuple[str, str]]) -> None:
    own = etree.SubElement(element, _tag("UserDefined"))
    for name, value in pairs:
        etree.SubElement(own, _tag("UserAttribute"), name=name, value=_plain(value))


def _coords(element: Any, ring: Iterable[tuple[int, int]]) -> None:
    etree.SubElement(element, _tag("Coords"), points=" ".join(f"{max(0, x)},{max(0, y)}" for x, y in ring))


def _corners(box: tuple[int, int, int, int]) -> Ring:
    """The pixels in the corners of a box: the last ones inside, as for outlines."""
    x0, y0, x1, y1 = box[0], box[1], max(box[0], box[2] - 1), max(box[1], box[3] - 1)
    return [(x0, y0), (x1, y0), (x1, y1), (x0, y1)]


def _unicode(element: Any, text: str) -> None:
    etree.SubElement(etree.SubElement(element, _tag("TextEquiv")), _tag("Unicode")).text = _plain(text)


def _plain(text: str) -> str:
    """The text without the control characters that XML cannot hold."""
    return "".join(
        letter
        for letter in text
        if letter in "\t\n\r"
        or (ord(letter) >= 32 and not 0xD800 <= ord(letter) <= 0xDFFF and ord(letter) not in (0xFFFE, 0xFFFF))
    )


def _tag(name: str) -> str:
    return f"{{{NAMESPACE}}}{name}"
