"""Wrong entries, files and zip files are named in a sentence, and nothing of their set comes in."""

import json
import struct
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import select

from db.tables import Document, Page, PageWord
from engine.interchange import archives, imports
from engine.interchange.import_entries import IncomingPage, Set
from engine.interchange.imports import READERS
from engine.workspace import Workspace
from tests.support.exported_project import HEIGHT, WIDTH
from tests.support.imported_sets import Exported, counted, edit, refused, take_in


def bomb(path: Path) -> None:
    """A PNG of a few bytes that says it is 60,000 pixels wide and high."""

    def chunk(kind: bytes, content: bytes) -> bytes:
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

    head = struct.pack(">IIBBBBB", 60_000, 60_000, 8, 0, 0, 0, 0)
    path.write_bytes(
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(b"")) + chunk(b"IEND", b"")
    )


COCO_FAULTS = {
    "an annotation of no image": (
        lambda s: s["annotations"][0].update(image_id=99),
        "annotation 1: there is no image 99",
    ),
    "an annotation of no category": (
        lambda s: s["annotations"][1].update(category_id=9),
        "annotation 2: there is no category 9",
    ),
    "an id twice": (lambda s: s["annotations"].append(s["annotations"][0]), "its id 1 occurs twice"),
    "an image id that is a list": (
        lambda s: s["annotations"][0].update(image_id=[1]),
        r"annotation 1: there is no image \[1\]",
    ),
    "no_answer of no image": (lambda s: s["no_answer"][0].update(image_ids=[99]), "no_answer 0: there is no image 99"),
    "a mask that would fill the memory": (
        lambda s: s["annotations"][0]["segmentation"].update(size=[10**6, 10**6]),
        "annotation 1: the size of its mask must be",
    ),
    "a mask that runs over its end": (
        lambda s: s["annotations"][0]["segmentation"].update(counts="o" * 40),
        "annotation 1",
    ),
    "a mask of another size": (
        lambda s: s["annotations"][0]["segmentation"].update(size=[3, 4], counts=[6, 6]),
        "annotation 1: the size of its mask must be",
    ),
    "counts that do not sum": (
        lambda s: s["annotations"][0]["segmentation"].update(counts=[1, 2]),
        "annotation 1: A mask cannot be read",
    ),
    "an empty mask": (
        lambda s: s["annotations"][0]["segmentation"].update(counts=[HEIGHT * WIDTH]),
        "annotation 1: its mask is empty",
    ),
    "a polygon of two points": (
        lambda s: s["annotations"][0].update(segmentation=[[1, 2, 3, 4]]),
        "annotation 1: a polygon",
    ),
    "an absolute path": (lambda s: s["images"][0].update(file_name="/etc/passwd"), "'/etc/passwd' points outside"),
    "a path that climbs": (
        lambda s: s["images"][0].update(file_name="../../x.png"),
        "image 1: the path '../../x.png' points outside",
    ),
    "an image that is not there": (
        lambda s: s["images"][0].update(file_name="images/none.png"),
        "image 1: there is no file",
    ),
    "an image of another size": (
        lambda s: s["images"][0].update(width=WIDTH + 1),
        "image 1: its image .* has 400 x 300",
    ),
    "a size that is no number": (lambda s: s["images"][0].update(height="tall"), '"height" .*must be a whole number'),
    "a million categories": (
        lambda s: s["categories"].extend({"id": at, "name": f"c{at}"} for at in range(100, 1_000_100)),
        "1,000,003 categories",
    ),
    "no list": (lambda s: s.update(annotations={}), '"annotations" must be a list'),
}  # fmt: skip


@pytest.mark.parametrize("fault", COCO_FAULTS)
def test_a_bad_coco_entry_is_named(exported: tuple[Workspace, Exported], fault: str) -> None:
    workspace, folder = exported
    change, sentence = COCO_FAULTS[fault]
    edit(folder / "coco" / "annotations.json", change)
    refused(workspace, "coco", folder / "coco", sentence)


def test_what_a_reader_did_not_think_of_is_a_sentence_too(
    exported: tuple[Workspace, Exported], monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace, folder = exported

    def pages(known: Set) -> Iterator[IncomingPage]:
        yield next(known.pages())
        raise TypeError("unhashable type: 'list'")

    careless = {"coco": lambda *args: (known := READERS["coco"](*args)) and Set(lambda: pages(known), known.count)}
    monkeypatch.setattr(imports, "READERS", careless)
    refused(workspace, "coco", folder / "coco", r"coco, after page 1: an entry cannot be read \(TypeError: unhashable")


def test_numbers_that_are_none_are_refused(exported: tuple[Workspace, Exported]) -> None:
    workspace, folder = exported
    file = folder / "coco" / "annotations.json"
    file.write_text(file.read_text().replace('"area": ', '"area": NaN, "was": ', 1))
    refused(workspace, "coco", file, "it contains NaN, which is not a number")
    file.write_text('{"images": ' + "[" * 200_000)
    refused(workspace, "coco", file, "nested too deeply|not valid JSON")
    (folder / "grounded" / "pages.jsonl").write_text('{"page_id": "a", "width": 1e999}\n')
    refused(workspace, "grounded", folder / "grounded", "line 1: page a|line 1: it cannot be read")


def test_texts_that_no_database_takes_are_made_storable(exported: tuple[Workspace, Exported]) -> None:
    workspace, folder = exported

    def change(stored: dict[str, list[dict[str, object]]]) -> None:
        stored["categories"][0]["name"] = "Who\x00 is \ud800it?"
        stored["licenses"][0]["name"] = 7

    edit(folder / "coco" / "annotations.json", change)
    project, done = take_in(workspace, "coco", folder / "coco")
    assert done.documents == 2 and counted(workspace, project)[2] == 3


@pytest.mark.parametrize("form", READERS)
def test_a_file_that_was_cut_short_is_refused(exported: tuple[Workspace, Exported], form: str) -> None:
    workspace, folder = exported
    names = ("annotations.json", "tasks.json", "pages.jsonl", "documents.jsonl", "answers.jsonl")
    files = [path for path in sorted((folder / form).rglob("*")) if path.name in names]
    files = files or [
        path
        for path in sorted((folder / form).rglob("*"))
        if path.suffix in (".xml", ".parquet") or path.parent.name == "annotations"
    ]
    content = files[0].read_bytes()
    files[0].write_bytes(content[: len(content) // 2])
    refused(workspace, form, folder / form, "damaged or not|not valid|cannot be read")


@pytest.mark.parametrize("form", [one for one in READERS if one != "parquet"])
def test_an_image_that_is_a_bomb_or_broken_is_refused(exported: tuple[Workspace, Exported], form: str) -> None:
    workspace, folder = exported
    image = next(path for path in sorted((folder / form).rglob("*.png")) if path.parent.name == "images")
    whole = image.read_bytes()
    bomb(image)
    refused(workspace, form, folder / form, "60,000 x 60,000 pixels|not a readable picture")
    image.write_bytes(whole[: len(whole) // 2])
    refused(workspace, form, folder / form, "cannot be read to its end")
    image.write_bytes(b"GIF89a not a page")
    refused(workspace, form, folder / form, "not a readable picture")


def zipped(path: Path, entries: dict[str, bytes], link: str | None = None) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in entries.items():
            archive.writestr(name, content)
        if link is not None:
            entry = zipfile.ZipInfo(link)
            entry.external_attr = 0o120777 << 16
            archive.writestr(entry, "/etc/passwd")
    return path


def test_zip_files_that_lead_out_or_blow_up_are_refused(
    sqlite_workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace = sqlite_workspace
    refused(workspace, "coco", zipped(tmp_path / "a.zip", {"../../slipped.txt": b"x"}), "points outside the folder")
    refused(workspace, "coco", zipped(tmp_path / "b.zip", {"/etc/slipped": b"x"}), "points outside the folder")
    refused(workspace, "coco", zipped(tmp_path / "c.zip", {"a.txt": b"x"}, link="images"), "it is a link")
    refused(workspace, "coco", zipped(tmp_path / "d.zip", {"zeros": bytes(150_000_000)}), "times its size")
    whole = zipped(tmp_path / "e.zip", {"annotations.json": b"{}" * 999}).read_bytes()
    (tmp_path / "f.zip").write_bytes(whole[: len(whole) // 2])
    refused(workspace, "coco", tmp_path / "f.zip", "damaged or not a zip file")
    refused(workspace, "coco", tmp_path / "none.zip", "no such file")
    assert not (tmp_path.parent / "slipped.txt").exists()
    monkeypatch.setattr(archives, "SPARE_BYTES", 10**15)
    refused(workspace, "coco", zipped(tmp_path / "g.zip", {"a.txt": b"x"}), "and the disk has .* GB left")


def test_a_page_in_the_middle_that_is_wrong_leaves_nothing_of_those_before(
    exported: tuple[Workspace, Exported],
) -> None:
    workspace, folder = exported
    file = folder / "grounded" / "pages.jsonl"
    lines = file.read_text().splitlines()
    bad = json.loads(lines[-1])
    bad["questions"][0]["answers"] = [[9_999]]
    file.write_text("\n".join([*lines[:-1], json.dumps(bad)]))
    refused(workspace, "grounded", folder / "grounded", f"line {len(lines)}: page .*9999 is not the index")
    file.write_text("\n".join([*lines, lines[0]]))
    refused(workspace, "grounded", folder / "grounded", f"line {len(lines) + 1}: the page .* occurs twice")


def test_outside_entities_of_xml_are_not_read(exported: tuple[Workspace, Exported], tmp_path: Path) -> None:
    workspace, folder = exported
    secret = tmp_path / "secret.txt"
    secret.write_text("a secret")
    file = sorted((folder / "page-xml" / "page").iterdir())[0]
    text = file.read_text()
    head, rest = text.split("?>", 1)
    file.write_text(
        f'{head}?><!DOCTYPE x [<!ENTITY leak SYSTEM "file://{secret}">]>' + rest.replace("due:</", "&leak;</", 1)
    )
    project, _ = take_in(workspace, "page-xml", folder / "page-xml")
    with workspace.database.read() as session:
        texts = session.scalars(select(PageWord.text).join(Page).join(Document).where(Document.project_id == project))
        assert "a secret" not in set(texts)
