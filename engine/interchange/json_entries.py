"""Read a large JSON file entry by entry with ijson: memory holds one entry and one piece of the file."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, NoReturn

import ijson
from ijson.utils import sendable_list

from engine.interchange.bad_entries import bad
from engine.interchange.import_entries import MOST_BYTES

MOST_LETTERS = 50_000_000  # of one entry: the mask of a large page takes a million
MOST_DEEP = 500  # lists and objects within each other
ALONE = -1  # place of a value that stands in no list
_PIECE = 1 << 16  # characters that are read at a time
_CONTEXT = 30  # bytes that the parser shows on either side of what it refuses
_CARET = 40  # column of its mark below them
_STARTS, _ENDS = ("start_map", "start_array"), ("end_map", "end_array")
_NO_NUMBER = re.compile(r"NaN|-?Infinity")
_REASONS = (  # how the parser begins its message, and the end of our sentence
    (b"parse error: after array element", "',' or ']' is expected"),
    (b"parse error: after key and value", "',' or '}' is expected"),
    (b"parse error: invalid object key", "a name is expected"),
    (b"parse error: object key and value", "':' is expected"),
    (b"parse error: trailing garbage", "something follows what it holds"),
    (b"lexical error: malformed number", "a number is malformed"),
    (b"lexical error: inside a string", "a text holds an unknown escape"),
    (b"lexical error: invalid character inside string", "a text holds a control character"),
)


def entries(file: Path) -> Iterator[tuple[str, int, Any]]:
    """Yield the entries of every list in a JSON file: name of the list, place in it, entry.

    The file holds an object of lists, or one list, whose name is then "". A value that is no list comes whole, at the
    place ALONE. An empty list comes as (name, ALONE, []).

    Raises:
        BadEntry: The file cannot be read or is no JSON; it holds NaN, infinity or a number beyond 64 bits; an entry has
            more than MOST_LETTERS characters, or is nested more than MOST_DEEP deep.
    """
    try:
        if file.stat().st_size > MOST_BYTES:
            bad(file.name, f"it is larger than {MOST_BYTES / 1e9:.0f} GB")
        with file.open(encoding="utf-8-sig") as opened:
            yield from _assemble_entries(_Pieces(opened, file.name))
    except OSError as error:
        bad(file.name, f"it cannot be read ({error.strerror or error})")
    except UnicodeDecodeError as error:
        bad(file.name, f"it is not UTF-8 ({error.reason})")


def _assemble_entries(pieces: "_Pieces") -> Iterator[tuple[str, int, Any]]:
    """Build the entries from the parser's events."""
    root = list_name = key = ""  # root: the event that the file begins with
    place = ALONE
    stack: list[Any] = []  # containers around `inner` within the entry
    inner: Any = None  # the innermost open container of the entry; None between entries
    for events in pieces:
        for event, value in events:
            if inner is not None:
                if event == "map_key":
                    key = value
                elif event in _ENDS:
                    done, inner = inner, stack.pop()
                    if inner is None:
                        pieces.between_entries = True
                        yield list_name, place, done
                        place += place != ALONE
                else:
                    if event in _STARTS:
                        value = {} if event == "start_map" else []
                    if inner.__class__ is dict:
                        inner[key] = value
                    else:
                        inner.append(value)
                    if event in _STARTS:
                        stack.append(inner)
                        inner = value
                        if len(stack) > MOST_DEEP:
                            bad(pieces.name, "its JSON is nested too deeply")
                continue
            pieces.between_entries = True
            if not root:
                root = event
                if event not in _STARTS:
                    pieces.refuse_root()
                place = 0 if event == "start_array" else ALONE
            elif event == "map_key":
                list_name, place = value, ALONE
            elif event == "start_array" and root == "start_map" and place == ALONE:
                place = 0
            elif event in _STARTS:
                stack, inner = [None], {} if event == "start_map" else []
            elif event in _ENDS:
                if place == 0:
                    yield list_name, ALONE, []
                place = ALONE
            else:
                yield list_name, place, value
                place += place != ALONE
    if not root:
        pieces.refuse_root()


class _Pieces:
    """Yields the events of a file piece by piece, and refuses a file that is no JSON.

    Attributes:
        name: Name of the file, for messages.
        between_entries: Set by the consumer when an entry begins or ends. Where it stays unset for more than
            MOST_LETTERS characters, the entry is refused as too long.
    """

    def __init__(self, file: IO[str], name: str) -> None:
        self._file, self.name = file, name
        self.between_entries = False
        self._passed = 0  # characters before the piece

    def __iter__(self) -> Iterator[list[tuple[str, Any]]]:
        events = sendable_list()
        parser = ijson.basic_parse_coro(events, use_float=True)
        seen, since = False, 0
        while piece := self._file.read(_PIECE):
            encoded = piece.encode()
            try:
                parser.send(encoded)
            except ijson.JSONError as error:
                self._refuse(error.args[0], encoded, seen or bool(events))
            seen = seen or bool(events)
            yield events
            del events[:]
            if self.between_entries:
                since, self.between_entries = self._passed, False
            self._passed += len(piece)
            if self._passed - since > MOST_LETTERS:
                bad(self.name, f"one entry has more than {MOST_LETTERS:,} characters")
        try:
            parser.close()
        except ijson.JSONError:
            if not seen:
                self.refuse_root()
            self._refuse_syntax(f"it ends too early, after character {self._passed:,}")
        yield events

    def refuse_root(self) -> NoReturn:
        """Refuse a file that holds neither a list nor an object."""
        self._refuse_syntax("a list or an object is expected at character 1")

    def _refuse(self, said: str | bytes, piece: bytes, seen: bool) -> NoReturn:
        message = said if isinstance(said, bytes) else said.encode()  # bytes where it shows a part of a character
        if b"overflow" in message:
            bad(self.name, "it holds a number that is too large")
        at = _offset(message, piece)
        text = piece[max(0, at - 1) :].decode(errors="ignore") + self._file.read(_CONTEXT)
        if match := _NO_NUMBER.match(text):
            bad(self.name, f"it contains {match[0]}, which is not a number")
        if not seen:
            self.refuse_root()
        why = next((ours for theirs, ours in _REASONS if message.startswith(theirs)), "a value is expected")
        self._refuse_syntax(f"{why} at character {self._passed + len(piece[:at].decode(errors='ignore')):,}")

    def _refuse_syntax(self, why: str) -> NoReturn:
        bad(self.name, f"it is not valid JSON: {why}")


def _offset(message: bytes, piece: bytes) -> int:
    """Return how many bytes of the piece the parser had read when it failed.

    The parser's message shows the bytes around that place; they are searched for in the piece.
    """
    shown = message.split(b"\n")[1] if b"\n" in message else b""
    after = shown[_CARET:]
    flat = piece.translate(bytes.maketrans(b"\n\r", b"  "))  # as the message shows it
    at = flat.find(after) if after else -1
    while at >= 0 and flat[max(0, at - _CONTEXT) : at].rjust(_CARET) != shown[:_CARET]:
        at = flat.find(after, at + 1)
    return at if at >= 0 else len(piece)
