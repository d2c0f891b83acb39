"""Zip files of strangers: counted before they are read, unpacked elsewhere, and refused in a sentence."""

import random
import struct
import tempfile
import zipfile
from pathlib import Path

import pytest

from engine.interchange import archives, unpacking
from engine.interchange.bad_entries import BadEntry
from engine.interchange.unpacking import MOST_ENTRIES, NotUnpacked, unpack

MANY = 300_000


def directory(path: Path, entries: int, said: int, long: bool = False) -> Path:
    """Write a zip file of a directory alone with `entries`; its end claims `said` of them, as zip64 if `long`."""
    listed = b"".join(
        struct.pack("<4s6H3L5H2L", b"PK\1\2", 20, 20, 0, 0, 0, 0, 0, 0, 0, 6, 0, 0, 0, 0, 0, 0) + b"%06x" % number
        for number in range(entries)
    )
    size = len(listed)
    if long:
        listed += struct.pack("<4sQ2H2L4Q", b"PK\6\6", 44, 45, 45, 0, 0, said, said, size, 0)
        listed += struct.pack("<4sLQL", b"PK\6\7", 0, size, 1)
        said, size = 0xFFFF, 0xFFFFFFFF
    path.write_bytes(listed + struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, said & 0xFFFF, said & 0xFFFF, size, 0, 0))
    return path


def packed(path: Path, entries: dict[str, bytes], kind: int = zipfile.ZIP_DEFLATED) -> Path:
    with zipfile.ZipFile(path, "w", kind) as archive:
        for name, content in entries.items():
            archive.writestr(name, content)
    return path


@pytest.fixture
def aside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where temporary files lie."""
    (tmp_path / "aside").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "aside"))
    return tmp_path / "aside"


@pytest.mark.parametrize("said", [MANY, 3], ids=["honest", "lying"])
@pytest.mark.parametrize("long", [False, True], ids=["zip", "zip64"])
def test_entries_are_counted_before_the_reader_makes_objects_of_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: int, long: bool
) -> None:
    file = directory(tmp_path / "many.zip", MANY, said, long)
    monkeypatch.setattr(zipfile, "ZipFile", None)
    with pytest.raises(NotUnpacked, match=f"it holds {MANY:,} files and folders; a zip file may hold {MOST_ENTRIES:,}"):
        unpack(file, tmp_path)


def test_too_many_entries_end_in_a_sentence_that_says_what_to_do(tmp_path: Path, aside: Path) -> None:
    file = directory(tmp_path / "many.zip", MOST_ENTRIES + 1, 1)
    sentence = r"^many.zip: it holds 100,001 .* Split the set, or unpack it and run glossator import on the folder"
    with pytest.raises(BadEntry, match=sentence), archives.open_archive(file):
        pass
    assert not list(aside.iterdir())


def test_as_many_entries_as_are_allowed_pass_the_count(tmp_path: Path) -> None:
    file = directory(tmp_path / "enough.zip", MOST_ENTRIES, MOST_ENTRIES & 0xFFFF)
    with file.open("rb") as content:
        assert unpacking._count_entries(content) == MOST_ENTRIES


def test_a_directory_too_large_to_be_read_is_refused_unread(tmp_path: Path) -> None:
    file = tmp_path / "long.zip"
    with file.open("wb") as content:
        content.truncate(2**30)
        content.seek(0, 2)
        content.write(struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, 1, 1, 2**30, 0, 0))
    with pytest.raises(NotUnpacked, match="it holds at least"):
        unpack(file, tmp_path)


def test_folders_without_end_are_refused(tmp_path: Path) -> None:
    deep = packed(tmp_path / "deep.zip", {"a/" * 40 + "b": b"x"})
    with pytest.raises(NotUnpacked, match="deeper than 32 folders"):
        unpack(deep, tmp_path)
    wide = packed(tmp_path / "wide.zip", {f"{n}/" + "a/" * 30 + "b": b"" for n in range(7_000)})
    with pytest.raises(NotUnpacked, match=r"more than 200,\d+ files and folders"):
        unpack(wide, tmp_path)


def test_what_takes_gigabytes_to_unpack_a_few_bytes_is_refused(tmp_path: Path) -> None:
    for kind in (zipfile.ZIP_LZMA, zipfile.ZIP_BZIP2):
        with pytest.raises(NotUnpacked, match="compressed in a way other than deflate") as refused:
            unpack(packed(tmp_path / "odd.zip", {"a.txt": b"x" * 999}, kind), tmp_path)
        assert refused.value.entry == "a.txt"


def test_damage_of_every_kind_is_a_sentence_and_leaves_no_folder(tmp_path: Path, aside: Path) -> None:
    whole = packed(tmp_path / "a.zip", {"annotations.json": b"{}" * 999}).read_bytes()
    begins = whole.index(b"annotations.json") + len("annotations.json")
    named = bytearray(whole.replace(b"annotations.json", b"\xff\xfe" * 8))
    named[named.index(b"PK\1\2") + 9] |= 8  # its name is said to be UTF-8
    for damaged in (whole[:begins] + b"\xff" * 9 + whole[begins + 9 :], bytes(named), whole[:-30] + whole[-22:]):
        (tmp_path / "a.zip").write_bytes(damaged)
        with (
            pytest.raises(BadEntry, match=r"^a.zip: it is damaged or not a zip file \("),
            archives.open_archive(tmp_path / "a.zip"),
        ):
            pass
    assert not list(aside.iterdir())


def test_random_damage_unpacks_or_is_refused_and_nothing_else(tmp_path: Path) -> None:
    whole = packed(tmp_path / "a.zip", {f"images/{n}.txt": b"some text " * n for n in range(20)}).read_bytes()
    rng = random.Random(7)
    for number in range(300):
        damaged = bytearray(whole)
        for _ in range(rng.randint(1, 5)):
            damaged[rng.randrange(len(damaged))] = rng.randrange(256)
        (tmp_path / "b.zip").write_bytes(damaged)
        said = unpacking.try_unpack(tmp_path / "b.zip", tmp_path / "out" / str(number), 0)
        assert said is None or (said[0] and not said[0].endswith("."))


def test_unpacking_tells_how_far_it_is_and_ends_when_it_should(tmp_path: Path, aside: Path) -> None:
    file = packed(tmp_path / "a.zip", {f"{number}.txt": b"x" for number in range(50)})
    heard: list[tuple[int, int]] = []

    def stop(done: int, of: int) -> None:
        heard.append((done, of))
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), archives.open_archive(file, stop):
        pass
    assert heard == [(0, 50)] and not list(aside.iterdir())
    with archives.open_archive(file) as folder:
        assert len(list(folder.iterdir())) == 50
    assert not list(aside.iterdir())
