"""PAGE XML (PRImA, schema of 2019-07-15): one file a page, with lines, words and custom regions.

Export: an answer is a custom region, whose user attributes hold the question. Its outline goes around the boxes of the
answer's words, or around its pixels.
Import: words come from any version of the schema; answers come from the custom regions of an export.
"""

from collections.abc import Iterable, Iterator
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any

from lxml import etree

from db.statuses import AUTOMATIC
from engine.datasets.manifest import FrozenPage, FrozenWord
from engine.interchange.bad_entries import BadEntries, bad
from engine.interchange.destination import Destination
from engine.interchange.format import Format
from engine.interchange.image_files import image_beside
from engine.interchange.import_entries import (
    MOST_POINTS,
    IncomingAnswer,
    IncomingPage,
    IncomingWord,
    Set,
    box_of,
    check_any,
    text_of,
    whole,
)
from engine.interchange.outcome import Likeness, Outcome, Tick
from engine.interchange.pictures import size_of
from engine.interchange.polygons import Ring, fill_polygons
from engine.interchange.release import IMAGES_FOLDER, Marked, Release, attributes_of, image_name
from engine.interchange.set_files import iter_files
from engine.interchange.snapshot_figures import SPLITS
from engine.version import code_version
from model.masks import Mask
from model.printed_text import printed_text

NAMESPACE = "http://schema.primaresearch.org/PAGE/gts/pagecontent/2019-07-15"
PAGES_FOLDER = "page"
_NO_TIME = "1970-01-01T00:00:00"  # the schema wants times; the same snapshot must give the same bytes


def write(release: Release, to: Destination, tick: Tick) -> Outcome:
    """Write page/ and images/. Holes in pixels that no words make are filled."""
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
                _add_attributes(element, [*about.items(), *(("no_answer", question) for question in not_there)])
                _text(element, release.words(page))
                for answer in by_page.get(page.id, []):
                    _answer(element, answer, likeness)
                with to.file(f"{PAGES_FOLDER}/{image.rsplit('.', 1)[0]}.xml") as target:
                    etree.ElementTree(root).write(
                        str(target), xml_declaration=True, encoding="UTF-8", pretty_print=True
                    )
                counts["pages"] += 1
    return Outcome(counts, likeness.figures())


def _root(release: Release, page: FrozenPage, image: str) -> tuple[Any, Any]:
    """Return the root element of a file, and its element for the page."""
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
            element_of_word = etree.SubElement(element, _tag("Word"), id=f"word-{word.number}")
            _coords(element_of_word, _corners(word.box))
            _unicode(element_of_word, word.text)
        _unicode(element, printed_text(of_line))


def _answer(page: Any, marked: Marked, likeness: Likeness) -> None:
    """Add a region for each word of the answer, or for each detached part of its pixels.

    All of them carry the answer's id.
    """
    by_words = marked.by_words
    rings = [_corners(word.box) for word in marked.words] if by_words else marked.rings
    likeness.add(1.0 if by_words else marked.likeness(rings))
    about = {
        "question": marked.item.question,
        "text": marked.text,
        "by_words": str(by_words).lower(),
        **attributes_of(marked.item),
        **({"value": marked.value} if marked.value else {}),
    }
    for number, ring in enumerate(rings, 1):
        region = etree.SubElement(page, _tag("CustomRegion"), id=f"answer-{marked.key}-{number}", type="answer")
        _coords(region, ring)
        _add_attributes(region, [(name, "" if value is None else str(value)) for name, value in about.items()])


def _add_attributes(element: Any, pairs: Iterable[tuple[str, str]]) -> None:
    own = etree.SubElement(element, _tag("UserDefined"))
    for name, value in pairs:
        etree.SubElement(own, _tag("UserAttribute"), name=name, value=_plain(value))


def _coords(element: Any, ring: Iterable[tuple[int, int]]) -> None:
    etree.SubElement(element, _tag("Coords"), points=" ".join(f"{max(0, x)},{max(0, y)}" for x, y in ring))


def _corners(box: tuple[int, int, int, int]) -> Ring:
    """Return the pixels in the corners of a box, the last ones inside it, as outlines do."""
    x0, y0, x1, y1 = box[0], box[1], max(box[0], box[2] - 1), max(box[1], box[3] - 1)
    return [(x0, y0), (x1, y0), (x1, y1), (x0, y1)]


def _unicode(element: Any, text: str) -> None:
    etree.SubElement(etree.SubElement(element, _tag("TextEquiv")), _tag("Unicode")).text = _plain(text)


def _plain(text: str) -> str:
    """Return the text without the control characters that XML cannot hold."""
    return "".join(
        letter
        for letter in text
        if letter in "\t\n\r"
        or (ord(letter) >= 32 and not 0xD800 <= ord(letter) <= 0xDFFF and ord(letter) not in (0xFFFE, 0xFFFF))
    )


def _tag(name: str) -> str:
    return f"{{{NAMESPACE}}}{name}"


_Outline = list[tuple[float, float]]


def open_set(path: Path, bad_entries: BadEntries) -> Set:
    """Open a folder with XML files, or one file. Entities and outside files are never read.

    Raises:
        BadEntry: There are no XML files.
    """
    files = [path] if path.is_file() else sorted(iter_files(path, ".xml"))
    if not files:
        bad(str(path), "it holds no *.xml")
    root = path.parent if path.is_file() else path

    order: list[tuple[str, int, int]] = []  # document, number, which file: the pages themselves would fill the memory

    def pages() -> Iterator[IncomingPage]:
        if not order:
            for at, file in enumerate(files):
                with bad_entries.leave_out(str(file.relative_to(root))):
                    page = _page(root, file, BadEntries())  # what is wrong within it is noted when it is yielded
                    order.append((page.document, page.number, at))
            order.sort()
        for _, _, at in order:
            yield _page(root, files[at], bad_entries)

    return Set(pages, len(files))


def _page(folder: Path, file: Path, bad_entries: BadEntries) -> IncomingPage:
    where = str(file.relative_to(folder))
    try:
        parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False)
        root = etree.parse(str(file), parser).getroot()
    except (OSError, etree.XMLSyntaxError) as error:
        bad(where, f"it is not valid XML ({error})")
    page = next((one for one in root if _name(one) == "Page"), None)
    if _name(root) != "PcGts" or page is None:
        bad(where, "it is not PAGE XML: the element PcGts with a Page is missing")
    image = image_beside(folder, file.parent, page.get("imageFilename"), where)
    width, height = (whole(_number(page.get(side)), side, where, 1) for side in ("imageWidth", "imageHeight"))
    declared = width, height
    size = size_of(image, where, declared)
    if declared != size:
        bad(
            where,
            f"its image {image.name} has {size[0]} x {size[1]} pixels, but the file says {declared[0]} x {declared[1]}",
        )
    about: dict[str, list[str]] = {}
    for name, value in _attributes_of(page):
        about.setdefault(name, []).append(value)
    answers: dict[tuple[str, str, bool, str], list[_Outline]] = {}
    for region in page.iter():
        if _name(region) == "CustomRegion":
            attributes = dict(_attributes_of(region))
            document = about.get("document_sha256", [where])[0]
            if "question" in attributes:
                with bad_entries.leave_out(where, document=document, question=attributes["question"]):
                    question = text_of(attributes["question"], "a question", where)
                    key = (
                        question,
                        attributes.get("annotation_id", ""),
                        attributes.get("status") == AUTOMATIC,
                        attributes.get("value", ""),
                    )
                    answers.setdefault(key, []).append(_ring(region, where))
    return IncomingPage(
        document=about.get("document_sha256", [where])[0],
        number=int(image.stem.rsplit("-", 1)[-1])
        if "document_sha256" in about and image.stem.rsplit("-", 1)[-1].isdigit()
        else 1,
        image=image,
        width=size[0],
        height=size[1],
        where=where,
        name=about.get("document", [image.name])[0],
        words=tuple(_words(page, size, where)),
        answers=(
            *(
                IncomingAnswer(
                    question, where, mask=partial(_mask, rings, size, where), automatic=automatic, value=value
                )
                for (question, _, automatic, value), rings in answers.items()
            ),
            *(IncomingAnswer(text_of(text, "a question", where), where) for text in about.get("no_answer", [])),
        ),
    )


def _words(page: Any, size: tuple[int, int], where: str) -> Iterator[IncomingWord]:
    for word in page.iter():
        if _name(word) == "Word":
            text = next(
                (
                    line.text
                    for equiv in word
                    if _name(equiv) == "TextEquiv"
                    for line in equiv
                    if _name(line) == "Unicode"
                ),
                "",
            )
            ring = _ring(word, where)
            if text and text.strip():
                xs, ys = [x for x, _ in ring], [y for _, y in ring]
                yield IncomingWord(text.strip(), box_of([min(xs), min(ys), max(xs) + 1, max(ys) + 1], size, where))


def _attributes_of(element: Any) -> Iterator[tuple[str, str]]:
    for own in element:
        if _name(own) == "UserDefined":
            for pair in own:
                if _name(pair) == "UserAttribute":
                    yield str(pair.get("name")), str(pair.get("value") or "")


def _ring(element: Any, where: str) -> _Outline:
    for coords in element:
        if _name(coords) == "Coords":
            try:
                pairs = [point.split(",") for point in str(coords.get("points") or "").split()]
                ring = [(float(x), float(y)) for x, y in pairs]
            except ValueError:
                ring = []
            if len(ring) > MOST_POINTS:
                bad(where, f"an outline has {len(ring):,} points; at most {MOST_POINTS:,} are allowed")
            if len(ring) < 2 or not all(abs(value) < 1e6 for point in ring for value in point):  # false for NaN too
                bad(where, f"the outline of {element.get('id') or _name(element)} cannot be read")
            return ring
    return bad(where, f"{element.get('id') or _name(element)} has no outline")


def _mask(rings: list[_Outline], size: tuple[int, int], where: str) -> Mask:
    return check_any(fill_polygons(rings, (size[1], size[0])), where)


def _number(text: str | None) -> object:
    return int(text) if text is not None and text.isdigit() else text


def _name(element: Any) -> str:
    return etree.QName(element).localname if isinstance(element.tag, str) else ""


FORMATS = (
    Format(
        "page-xml",
        "PAGE XML",
        write,
        open_set,
        lossy="Painted areas outside words become outlines without holes.",
    ),
)
