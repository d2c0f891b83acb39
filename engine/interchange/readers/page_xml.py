"""PAGE XML: words from any of its versions; answers from the custom regions that are exported, by their user attributes."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from lxml import etree

from engine.interchange.incoming import IncomingAnswer, IncomingPage, IncomingWord, Set, bad, box_of, text_of, whole
from engine.interchange.pictures import size_of
from engine.interchange.polygons import covered
from engine.interchange.readers.files import image_beside
from engine.statuses import AUTOMATIC
from model.masks import Mask

Ring = list[tuple[float, float]]


def open_set(path: Path) -> Set:
    """Open a folder with XML files, or one file. Entities and outside files are never read."""
    files = [path] if path.is_file() else sorted(path.rglob("*.xml"))
    if not files:
        bad(str(path), "it holds no *.xml")
    root = path.parent if path.is_file() else path

    order: list[tuple[str, int, int]] = []  # document, number, which file: the pages themselves would fill the memory

    def pages() -> Iterator[IncomingPage]:
        if not order:
            found = ((_page(root, file), at) for at, file in enumerate(files))
            order.extend(sorted((page.document, page.number, at) for page, at in found))
        for _, _, at in order:
            yield _page(root, files[at])

    return Set(pages, len(files))


def _page(folder: Path, file: Path) -> IncomingPage:
    where = str(file.relative_to(folder))
    try:
        parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False)
        root = etree.parse(str(file), parser).getroot()
    except (OSError, etree.XMLSyntaxError) as error:
        bad(where, f"it is no whole XML ({error})")
    page = next((one for one in root if _name(one) == "Page"), None)
    if _name(root) != "PcGts" or page is None:
        bad(where, "it is no PAGE XML: it has no PcGts with a Page")
    image = image_beside(folder, file.parent, page.get("imageFilename"), where)
    size = size_of(image, where)
    given = tuple(whole(_number(page.get(side)), side, where, 1) for side in ("imageWidth", "imageHeight"))
    if given != size:
        bad(where, f"its image {image.name} is of {size[0]} x {size[1]} pixels, and it says {given[0]} x {given[1]}")
    about: dict[str, list[str]] = {}
    for name, value in _attributes(page):
        about.setdefault(name, []).append(value)
    answers: dict[tuple[str, str, bool], list[Ring]] = {}
    for region in page.iter():
        if _name(region) == "CustomRegion":
            said = dict(_attributes(region))
            if "question" in said:
                question, automatic = text_of(said["question"], "a question", where), said.get("status") == AUTOMATIC
                key = question, said.get("annotation_id", ""), automatic
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
                IncomingAnswer(question, where, mask=partial(_mask, rings, size), automatic=automatic)
                for (question, _, automatic), rings in answers.items()
            ),
            *(IncomingAnswer(text_of(text, "a question", where), where) for text in about.get("no_answer", [])),
        ),
    )


def _words(page: Any, size: tuple[int, int], where: str) -> Iterator[IncomingWord]:
    for word in page.iter():
        if _name(word) == "Word":
            text = next(
                (one.text for equiv in word if _name(equiv) == "TextEquiv" for one in equiv if _name(one) == "Unicode"),
                "",
            )
            ring = _ring(word, where)
            if text and text.strip():
                xs, ys = [x for x, _ in ring], [y for _, y in ring]
                yield IncomingWord(text.strip(), box_of([min(xs), min(ys), max(xs) + 1, max(ys) + 1], size, where))


def _attributes(element: Any) -> Iterator[tuple[str, str]]:
    for own in element:
        if _name(own) == "UserDefined":
            for one in own:
                if _name(one) == "UserAttribute":
                    yield str(one.get("name")), str(one.get("value") or "")


def _ring(element: Any, where: str) -> Ring:
    for coords in element:
        if _name(coords) == "Coords":
            try:
                pairs = [point.split(",") for point in str(coords.get("points") or "").split()]
                ring = [(float(x), float(y)) for x, y in pairs]
            except ValueError:
                ring = []
            if len(ring) < 2 or not all(abs(value) < 1e6 for point in ring for value in point):  # false for NaN too
                bad(where, f"the outline of {element.get('id') or _name(element)} cannot be read")
            return ring
    return bad(where, f"{element.get('id') or _name(element)} has no outline")


def _mask(rings: list[Ring], size: tuple[int, int]) -> Mask:
    return covered(rings, (size[1], size[0]))


def _number(text: str | None) -> object:
    return int(text) if text is not None and text.isdigit() else text


def _name(element: Any) -> str:
    return etree.QName(element).localname if isinstance(element.tag, str) else ""
