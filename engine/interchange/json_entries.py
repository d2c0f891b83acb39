"""The entries of a large JSON file, one after the other: what is held is one of them and a piece of the file."""

import json
from collections.abc import Iterator
from json.decoder import WHITESPACE  # type: ignore[attr-defined]
from pathlib import Path
from typing import IO, Any

from engine.interchange.import_entries import MOST_BYTES, bad, no_number

MOST_LETTERS = 50_000_000  # of one entry: the mask of a large page takes a million
_PIECE = 1 << 20  # characters that are read at a time
_LONGEST_NAME = 16  # and more than the characters of -Infinity
ALONE = -1  # place of a value that stands in no list


def entries(file: Path) -> Iterator[tuple[str, int, Any]]:
    """Yield the name of a list, the place, and the entry there, for every list of the JSON object in a file, or of the list that it holds ("").

    A value that is no list comes whole, at the place ALONE; of a list without entries comes nothing but that: an empty list, ALONE.
    BadEntry when the file cannot be read, is no JSON, or holds NaN or infinity.
    """
    try:
        if file.stat().st_size > MOST_BYTES:
            bad(file.name, f"it is larger than {MOST_BYTES / 1e9:.0f} GB")
        with file.open(encoding="utf-8-sig") as opened:
            yield from _Reader(opened, file.name).all()
    except OSError as error:
        bad(file.name, f"it cannot be read ({error.strerror or error})")
    except UnicodeDecodeError as error:
        bad(file.name, f"it is not UTF-8 ({error.reason})")


class _Reader:
    def __init__(self, file: IO[str], name: str) -> None:
        self._file, self._name = file, name
        self._text, self._at, self._passed = "", 0, 0  # a piece of the file, the place in it, what came before it
        self._decoder = json.JSONDecoder(parse_constant=no_number)

    def all(self) -> Iterator[tuple[str, int, Any]]:
        first = self._next()
        if first == "[":
            yield from self._listed("")
        elif first == "{":
            yield from self._named()
        else:
            self._broken("a list or an object is expected")
        if self._next():
            self._broken("something follows what it holds")

    def _named(self) -> Iterator[tuple[str, int, Any]]:
        self._at += 1
        if self._next() == "}":
            self._at += 1
            return
        while True:
            if self._next() != '"':
                self._broken("a name is expected")
            name = self._value()
            if self._next() != ":":
                self._broken("':' is expected")
            self._at += 1
            if self._next() == "[":
                yield from self._listed(name)
            else:
                yield name, ALONE, self._value()
            if self._ends("}"):
                return

    def _listed(self, name: str) -> Iterator[tuple[str, int, Any]]:
        self._at += 1
        if self._next() == "]":
            self._at += 1
            yield name, ALONE, []
            return
        place = 0
        while True:
            yield name, place, self._value()
            place += 1
            if self._ends("]"):
                return

    def _ends(self, sign: str) -> bool:
        """Whether the object or list ends here; else a comma does, and something follows."""
        found = self._next()
        self._at += 1
        if found not in (sign, ","):
            self._at -= 1
            self._broken(f"',' or '{sign}' is expected")
        return found == sign

    def _next(self) -> str:
        """The next character that is no white space, "" at the end of the file."""
        while True:
            self._at = WHITESPACE.match(self._text, self._at).end()
            if self._at < len(self._text):
                return self._text[self._at]
            if not self._more():
                return ""

    def _value(self) -> Any:
        self._next()
        while True:
            try:
                value, end = self._decoder.raw_decode(self._text, self._at)
            except json.JSONDecodeError as error:
                why, after = error.msg, error.pos - self._at
            except RecursionError:
                bad(self._name, "its JSON is nested too deeply")
            except ValueError as error:
                bad(self._name, str(error))
            else:
                # A number near the end of the piece may go on in the next one: "1." is read as 1.
                length = end - self._at
                if end < len(self._text) - _LONGEST_NAME or not self._more():
                    self._at += length
                    return value
                continue
            # What is cut off by the end of the piece is broken there, or is a text that does not end.
            cut = self._at + after > len(self._text) - _LONGEST_NAME or why.startswith("Unterminated")
            if not cut or len(self._text) - self._at > MOST_LETTERS or not self._more():
                self._at += after
                self._broken(why)

    def _more(self) -> bool:
        """Read on: as much again as there is of an entry, so that a long one is tried a few times and not often."""
        piece = self._file.read(max(_PIECE, len(self._text) - self._at))
        self._passed += self._at
        self._text, self._at = self._text[self._at :] + piece, 0
        return bool(piece)

    def _broken(self, why: str) -> None:
        bad(self._name, f"it is no whole JSON: {why} at character {self._passed + self._at + 1:,}")
