"""Files of sets: those that systems leave behind are ignored, and names are matched where one file can be meant."""

import json
import os
import shutil
import unicodedata
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from PIL import Image

from engine.errors import Refused
from engine.interchange.bad_entries import BadEntry
from engine.interchange.formats import IMPORTED
from engine.interchange.import_entries import inside
from engine.interchange.imports import RECOGNISE
from engine.interchange.set_files import is_left_behind
from engine.workspace import Workspace
from tests.support.imported_sets import Exported, documents_of, marked, refused, take_in

BACKSLASH = "\\"


def picture(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.new("L", (60, 40), 255).save(path, "PNG")
    return path


def coco(name: str) -> str:
    return json.dumps(
        {
            "images": [{"id": 1, "file_name": name, "width": 60, "height": 40}],
            "categories": [{"id": 1, "name": "stamp"}],
            "annotations": [{"id": 1, "image_id": 1, "category_id": 1, "bbox": [10, 10, 20, 10]}],
        }
    )


def label_studio(name: str) -> str:
    value = {"x": 10, "y": 10, "width": 50, "height": 50, "rectanglelabels": ["stamp"]}
    task = {"id": 1, "data": {"image": f"/data/local-files/?d=set/{name}"}}
    return json.dumps([task | {"annotations": [{"result": [{"type": "rectanglelabels", "value": value}]}]}])


def boundingdocs(name: str) -> str:
    answer = {"value": "", "location": [[500, 500, 100, 100]], "page": 1}
    return json.dumps(
        {
            "doc_id": "d",
            "doc_images": [{"page": 1, "path": name, "width": 60, "height": 40, "words": []}],
            "Q&A": {"1": {"question": "stamp", "answers": [answer]}},
        }
    )


def grounded(name: str) -> str:
    question = {"question_id": "q", "question": "stamp", "answers": [[0]]}
    words = [{"text": "7", "box": [10, 10, 30, 20]}]
    page = {"page_id": "p", "image": name, "width": 60, "height": 40, "words": words, "questions": [question]}
    return json.dumps(page)


def page_xml(name: str) -> str:
    attribute = '<UserDefined><UserAttribute name="question" value="stamp"/></UserDefined>'
    region = f'<CustomRegion id="r"><Coords points="10,10 29,10 29,19 10,19"/>{attribute}</CustomRegion>'
    return f'<PcGts><Page imageFilename="{name}" imageWidth="60" imageHeight="40">{region}</Page></PcGts>'


SETS: dict[str, tuple[str, Callable[[str], str]]] = {
    "coco": ("annotations.json", coco),
    "label-studio": ("tasks.json", label_studio),
    "boundingdocs": ("documents.jsonl", boundingdocs),
    "grounded": ("pages.jsonl", grounded),
    "page-xml": ("page.xml", page_xml),
}


def leave_behind(folder: Path) -> None:
    """Put files of macOS and Windows beside every file of a set, and a folder of them beside the set."""
    for file in [path for path in folder.rglob("*") if path.is_file()]:
        relative = file.relative_to(folder)
        double = folder / "__MACOSX" / relative.parent / f"._{file.name}"
        double.parent.mkdir(parents=True, exist_ok=True)
        for left in (double, file.with_name(f"._{file.name}")):
            left.write_bytes(b"\0\5\26\7\0\2\0\0Mac OS X")
        for name in (".DS_Store", "Thumbs.db", "desktop.ini"):
            (file.parent / name).write_bytes(b"\0\0\0\1Bud1")


@pytest.mark.parametrize("packed", [False, True], ids=["folder", "zip"])
@pytest.mark.parametrize("form", IMPORTED)
def test_files_that_systems_left_behind_are_ignored_in_every_format(
    exported: tuple[Workspace, Exported], tmp_path: Path, form: str, packed: bool
) -> None:
    workspace, exports = exported
    folder = exports / form
    if form == "coco":  # found by its ending, as other people's files are
        (folder / "annotations.json").rename(folder / "mine.json")
    leave_behind(folder)
    path = Path(shutil.make_archive(str(tmp_path / "packed"), "zip", folder)) if packed else folder
    project, done = take_in(workspace, RECOGNISE, path)
    assert done.form == form and documents_of(workspace, project) == done.documents > 0


def test_a_zip_file_of_a_mac_with_its_set_in_a_folder_comes_in(sqlite_workspace: Workspace, tmp_path: Path) -> None:
    file = picture(tmp_path / "p.png")
    with zipfile.ZipFile(tmp_path / "mac.zip", "w") as archive:
        archive.write(file, "set/images/p.png")
        archive.writestr("set/annotations.json", coco("images/p.png"))
        archive.writestr("__MACOSX/set/._annotations.json", b"\0\5\26\7")
        archive.writestr("set/.DS_Store", b"\0\0\0\1Bud1")
    project, _ = take_in(sqlite_workspace, RECOGNISE, tmp_path / "mac.zip")
    assert documents_of(sqlite_workspace, project) == 1


@pytest.mark.parametrize("form", SETS)
def test_a_jpeg_with_further_pictures_behind_its_first_is_read_as_jpeg(
    sqlite_workspace: Workspace, tmp_path: Path, form: str
) -> None:
    """Phones write such files (MPO) under .jpg."""
    file, content = SETS[form]
    (tmp_path / file).write_text(content("p.jpg"))
    first, second = (Image.new("RGB", (60, 40), shade) for shade in ("white", "grey"))
    first.save(tmp_path / "p.jpg", "MPO", save_all=True, append_images=[second])
    with Image.open(tmp_path / "p.jpg") as opened:
        assert opened.format == "MPO"
    project, _ = take_in(sqlite_workspace, form, tmp_path)
    assert documents_of(sqlite_workspace, project) == 1


def test_names_that_only_look_left_behind_are_files_of_the_set() -> None:
    assert all(is_left_behind(name) for name in ("__MACOSX/a.png", "a/._b.png", "a/.DS_Store", f"a{BACKSLASH}._b.png"))
    assert not any(is_left_behind(name) for name in ("a/_.png", "MACOSX/a.png", ".hidden.png", "a.DS_Store.png"))


NAMES = {
    "backslashes": (f"images{BACKSLASH}p.png", "images/p.png"),
    "a path of Windows as one name": ("images/p.png", f"images{BACKSLASH}p.png"),
    "decomposed": (unicodedata.normalize("NFC", "Zürich.png"), unicodedata.normalize("NFD", "Zürich.png")),
    "composed": (unicodedata.normalize("NFD", "Zürich.png"), unicodedata.normalize("NFC", "Zürich.png")),
    "upper case": ("images/p.png", "Images/P.PNG"),
    "lower case": ("Ä.PNG", "ä.png"),
    **{
        page: ("images/영수증.png", "images/" + "영수증.png".encode(page).decode("cp437"))
        for page in ("cp949", "utf-8")
    },
    "cp932": ("領収書.png", "領収書.png".encode("cp932").decode("cp437")),
    "gb18030": ("发票.png", "发票.png".encode("gb18030").decode("cp437")),
    "cp1252": ("Zürich.png", "Zürich.png".encode("cp1252").decode("cp437")),
}


@pytest.mark.parametrize("case", NAMES)
def test_a_name_of_another_system_finds_its_file(tmp_path: Path, case: str) -> None:
    named, stored = NAMES[case]
    file = picture(tmp_path / stored)
    assert inside(tmp_path, named, "set").samefile(file)


@pytest.mark.parametrize("form", SETS)
def test_names_are_matched_in_every_format(sqlite_workspace: Workspace, tmp_path: Path, form: str) -> None:
    file, content = SETS[form]
    (tmp_path / file).write_text(content(f"images{BACKSLASH}Ä.png"), "utf-8")
    picture(tmp_path / "images" / unicodedata.normalize("NFD", "ä.PNG"))
    project, done = take_in(sqlite_workspace, form, tmp_path)
    assert done.answers == 1 and len(marked(sqlite_workspace, project)) == 1


@pytest.mark.parametrize(("named", "page"), [("영수증.png", "cp949"), ("é.png", "utf-8")])
def test_entries_of_zip_files_without_the_flag_of_utf_8_are_found(
    sqlite_workspace: Workspace, tmp_path: Path, named: str, page: str
) -> None:
    packed = named.encode(page)
    content = picture(tmp_path / "p.png").read_bytes()
    with zipfile.ZipFile(tmp_path / "old.zip", "w") as archive:
        archive.writestr("annotations.json", coco(named))
        archive.writestr("X" * len(packed), content)
    raw = (tmp_path / "old.zip").read_bytes().replace(b"X" * len(packed), packed)
    (tmp_path / "old.zip").write_bytes(raw)
    project, _ = take_in(sqlite_workspace, RECOGNISE, tmp_path / "old.zip")
    assert documents_of(sqlite_workspace, project) == 1


def test_entries_with_backslashes_are_unpacked_into_folders(sqlite_workspace: Workspace, tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "windows.zip", "w") as archive:
        archive.writestr(f"annotations{BACKSLASH}p.json", json.dumps({"form": []}))
        archive.writestr(f"images{BACKSLASH}p.png", picture(tmp_path / "p.png").read_bytes())
    project, _ = take_in(sqlite_workspace, RECOGNISE, tmp_path / "windows.zip")
    assert documents_of(sqlite_workspace, project) == 1


@pytest.mark.parametrize("form", SETS)
def test_a_name_that_matches_several_files_is_refused_and_names_them(
    sqlite_workspace: Workspace, tmp_path: Path, form: str
) -> None:
    file, content = SETS[form]
    (tmp_path / file).write_text(content("p.png"))
    picture(tmp_path / "P.png")
    picture(tmp_path / "p.PNG")
    refused(sqlite_workspace, form, tmp_path, r"there is no file 'p.png'; several are near to it: 'P.png', 'p.PNG'")


@pytest.mark.parametrize("form", SETS)
def test_a_missing_file_names_the_nearest(sqlite_workspace: Workspace, tmp_path: Path, form: str) -> None:
    file, content = SETS[form]
    (tmp_path / file).write_text(content("invoice_1.png"))
    picture(tmp_path / "scans" / "invoice-1.png")
    refused(sqlite_workspace, form, tmp_path, r"there is no file '.*'; the nearest is 'scans/invoice-1.png'")


@pytest.mark.parametrize("packed", ["a.png", f"..{BACKSLASH}a.png", "../a.png"])
def test_a_matched_name_never_leads_out_of_the_set(sqlite_workspace: Workspace, tmp_path: Path, packed: str) -> None:
    picture(tmp_path / "A.PNG")
    (tmp_path / "set").mkdir()
    (tmp_path / "set" / "annotations.json").write_text(coco(packed))
    (tmp_path / "set" / "A.png").symlink_to(tmp_path / "A.PNG")
    refused(sqlite_workspace, "coco", tmp_path / "set", "points outside the imported folder|there is no file")


def test_a_named_pipe_is_no_file_of_a_set(sqlite_workspace: Workspace, tmp_path: Path) -> None:
    """Opening one would wait for a writer without end."""
    (tmp_path / "set" / "annotations").mkdir(parents=True)
    os.mkfifo(tmp_path / "pipe")
    os.mkfifo(tmp_path / "set" / "annotations" / "p.json")
    refused(sqlite_workspace, RECOGNISE, tmp_path / "pipe", "it is neither a file nor a folder")
    refused(sqlite_workspace, RECOGNISE, tmp_path / "set", "its format was not recognised")


@pytest.mark.parametrize("entries", [[], ["__MACOSX/._a.json"], ["readme.txt"]], ids=["none", "left behind", "other"])
def test_a_zip_file_without_a_set_is_named_as_its_upload(
    sqlite_workspace: Workspace, tmp_path: Path, entries: list[str]
) -> None:
    with zipfile.ZipFile(tmp_path / "mine.zip", "w") as archive:
        for name in entries:
            archive.writestr(name, "x")
    with pytest.raises(Refused) as caught:
        take_in(sqlite_workspace, RECOGNISE, tmp_path / "mine.zip")
    assert isinstance(caught.value, BadEntry)
    assert str(caught.value).startswith("mine.zip: ") and "glossator-import" not in str(caught.value)
