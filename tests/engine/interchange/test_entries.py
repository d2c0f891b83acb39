"""Large JSON files, read entry by entry."""

import json
from pathlib import Path
from typing import Any

import pytest

from engine.interchange import json_entries as reading
from engine.interchange.bad_entries import BadEntry
from engine.interchange.json_entries import ALONE, entries

STORED: dict[str, Any] = {
    "info": {"year": 2026, "of": ["a", {"b": None}]},
    "images": [{"id": 1, "name": 'ä "quoted" \\ 😀'}, {"id": -2.5e3}, [], "text", 12, True, None],
    "numbers": [11111, 1.5, -2e-3, 1.25e10, 0],
    "version": 1.0,
    "none": [],
    "last": 17,
}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "set.json"


@pytest.mark.parametrize("piece", [1, 2, 3, 7, 64, 1 << 20])
@pytest.mark.parametrize("indent", [None, 2])
def test_every_entry_comes_as_json_reads_it_wherever_the_pieces_of_the_file_end(
    file: Path, monkeypatch: pytest.MonkeyPatch, piece: int, indent: int | None
) -> None:
    monkeypatch.setattr(reading, "_PIECE", piece)
    file.write_text(json.dumps(STORED, indent=indent, ensure_ascii=False) + "\n", "utf-8-sig")
    found = list(entries(file))
    assert found == [
        ("info", ALONE, STORED["info"]),
        *(("images", at, one) for at, one in enumerate(STORED["images"])),
        *(("numbers", at, one) for at, one in enumerate(STORED["numbers"])),
        ("version", ALONE, 1.0),
        ("none", ALONE, []),
        ("last", ALONE, 17),
    ]
    file.write_text(json.dumps(STORED["images"], indent=indent))
    assert [one for _, _, one in entries(file)] == STORED["images"]


@pytest.mark.parametrize("piece", [3, 1 << 20])
@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("", "not valid JSON: a list or an object is expected at character 1"),
        ('{"a": [1, 2', "not valid JSON: it ends too early, after character 11"),
        ('{"a": [1 2]}', "',' or ']' is expected at character 10"),
        ('{"a": [{"b" 1}]}', "not valid JSON: ':' is expected at character 13"),
        ('{"a": ["never ends', "it ends too early, after character 18"),
        ('{"a": 1,}', "a name is expected at character 9"),
        ('{"a" 1}', "':' is expected"),
        ('{"a": 1} {', "something follows what it holds at character 10"),
        ("nothing", "a list or an object"),
        ('{"a": [1, NaN]}', "it contains NaN, which is not a number"),
        ('{"a": [-Infinity]}', "it contains -Infinity"),
        ('{"a": [1e999]}', "it holds a number that is too large"),
        ('{"a": [123456789012345678901234567890]}', "it holds a number that is too large"),
        ('{"a": ["one\ntwo"]}', "a text holds a control character"),
        ('{"a": 17 "b": 2}', "',' or '}' is expected"),
        ('{"ä": [1, 2}', "',' or ']' is expected at character 12"),
        ("17", "a list or an object"),
        ('{"a": ' + "[" * 100_000, "nested too deeply"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(
    file: Path, monkeypatch: pytest.MonkeyPatch, piece: int, content: str, sentence: str
) -> None:
    monkeypatch.setattr(reading, "_PIECE", piece)
    file.write_text(content)
    with pytest.raises(BadEntry, match=f"^set.json: it.*{sentence}.*|^set.json: .*{sentence}"):
        list(entries(file))


def test_files_and_entries_too_large_or_no_text_are_refused(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file.write_bytes(b'{"a": ["\xff\xfe"]}')
    with pytest.raises(BadEntry, match="it is not UTF-8"):
        list(entries(file))
    monkeypatch.setattr(reading, "_PIECE", 10)
    monkeypatch.setattr(reading, "MOST_LETTERS", 1000)
    file.write_text(json.dumps(["x" * 5000]))
    with pytest.raises(BadEntry, match="one entry has more than 1,000 characters"):
        list(entries(file))
    file.write_text(json.dumps({"x" * 5000: 1}))
    with pytest.raises(BadEntry, match="one entry has more than 1,000 characters"):
        list(entries(file))
    file.write_text(json.dumps([list(range(5000))]))
    with pytest.raises(BadEntry, match="one entry has more than 1,000 characters"):
        list(entries(file))
    monkeypatch.setattr(reading, "_PIECE", 64)
    file.write_text(json.dumps([{"a": "x" * 500}] * 5000))
    assert len(list(entries(file))) == 5000
    monkeypatch.setattr(reading, "MOST_BYTES", 100)
    with pytest.raises(BadEntry, match="it is larger than"):
        list(entries(file))
    with pytest.raises(BadEntry, match="it cannot be read"):
        list(entries(file.with_name("none.json")))


def test_a_break_in_a_long_file_is_found_without_reading_it_to_its_end(file: Path) -> None:
    file.write_text('{"a": [{"b" 1}, ' + '{"c": 1}, ' * 1_000_000)
    with pytest.raises(BadEntry, match="at character 13"):
        list(entries(file))


def test_of_names_that_come_twice_all_lists_come_and_of_values_the_last(file: Path) -> None:
    file.write_text('{"a": [1], "a": [2, 3], "b": {"c": 1, "c": 2}}')
    assert list(entries(file)) == [("a", 0, 1), ("a", 0, 2), ("a", 1, 3), ("b", ALONE, {"c": 2})]


def test_an_entry_may_be_nested_but_not_without_end(file: Path) -> None:
    file.write_text("[" * 400 + "]" * 400)
    assert len(list(entries(file))) == 1
    file.write_text("[" * 600 + "]" * 600)
    with pytest.raises(BadEntry, match="its JSON is nested too deeply"):
        list(entries(file))
