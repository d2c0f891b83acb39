"""Entries of a form: what its widgets say together, by which names, and which entry a question asks for. Pure.

An answer from the form counts as certain, so a name has to be the question's key word for word, and the only one.
"""

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from engine.documents.form_layer.widgets import FormWidget
from engine.fields.types import FieldType

Key = str | tuple[str, ...]  # words of a name in alphabetical order; or all its letters in one
Place = tuple[str, FormWidget]  # a page's id, and a widget on it

_WORD = re.compile(r"[^\W_]+(?:['’]s\b)?")
_JOINT = re.compile(r"(?<=[a-z])(?=[A-Z])|[_\-.]|\[\d+\]")  # between the words of a field's name
# Words of a question that ask, and words between the others; "to" and "from", "who" and "when" tell fields apart.
_ASKING_WORDS = """
    what which is are was were does do did the of a an and s value field entered filled given stated written please give
    find show tell me
"""
_ASKING = frozenset(_ASKING_WORDS.split())
_FEWEST = 3  # letters of a name
_TEXTS = ("text", "choice", "list")
_NO_TEXT = (FieldType.BOOLEAN, FieldType.SIGNATURE, FieldType.REGION, FieldType.TABLE)
_ANY_TEXT = (FieldType.STRING, FieldType.BOOLEAN, FieldType.CHOICE)


@dataclass(frozen=True, slots=True)
class FormEntry:
    """What a form says in one entry.

    Args:
        places: Its widgets: several with one value where a field stands at several places; all boxes of a group.
        keys: Names of the entry, as `keys_of` reads them.
        is_group: Whether its boxes are choices, of which one is ticked.
    """

    places: tuple[Place, ...]
    keys: frozenset[Key]
    is_group: bool = False

    @property
    def kind(self) -> str:
        """Return the kind of its widgets."""
        return self.places[0][1].kind

    @property
    def answer(self) -> Place | None:
        """Return the widget that holds its value; None where nothing is filled in, or the form is at odds with itself.

        An empty box to tick is a value; in a group of them, the only ticked one is.
        """
        if self.is_group:
            ticked = [place for place in self.places if place[1].ticked]
            return ticked[0] if len(ticked) == 1 and all(of.ticked is not None for _, of in self.places) else None
        place = self.places[0]
        widget = place[1]
        if widget.is_tick:
            return place if widget.ticked is not None else None
        if widget.kind == "signature":
            return place if widget.ticked else None
        return place if widget.value else None

    def suits(self, kind: FieldType | None) -> bool:
        """Return whether the entry can be the value of a field of a type; `None`: of a question that is no field."""
        kind = kind or FieldType.STRING
        if self.kind == "signature":
            return kind is FieldType.SIGNATURE
        if self.is_group:
            return kind in _ANY_TEXT
        if self.places[0][1].is_tick:
            # Without a type that says so, an empty box is no answer.
            return kind is FieldType.BOOLEAN or (kind is FieldType.STRING and bool(self.places[0][1].ticked))
        return kind not in _NO_TEXT


def entries_of(widgets: Mapping[str, Sequence[FormWidget]]) -> list[FormEntry]:
    """Return the entries of a document's form.

    Args:
        widgets: By page id.
    """
    texts: dict[tuple[str, ...], list[Place]] = {}
    fields: dict[str, list[Place]] = {}
    asked: dict[tuple[str, str], list[Place]] = {}
    for number, (page_id, widget) in enumerate((page, widget) for page, some in widgets.items() for widget in some):
        if widget.is_tick:
            fields.setdefault(widget.name or str(number), []).append((page_id, widget))
            if widget.asked:
                asked.setdefault((page_id, widget.asked), []).append((page_id, widget))
        else:
            same = (widget.kind, widget.name, widget.value) if widget.name else (str(number),)
            texts.setdefault(same, []).append((page_id, widget))
    entries = [FormEntry(tuple(places), _keys(of for _, of in places)) for places in texts.values()]
    grouped: set[frozenset[Place]] = set()
    for places in fields.values():
        if len({widget.on_state for _, widget in places}) > 1 or places[0][1].kind == "radio":
            entries.append(_group(places))
            grouped.add(frozenset(places))
        else:
            entries.append(FormEntry(tuple(places), _keys(of for _, of in places)))
    for (_, question), places in asked.items():
        if len(places) > 1 and frozenset(places) not in grouped:
            entries.append(FormEntry(tuple(places), frozenset(keys_of(question)), is_group=True))
    return entries


def asked_for(entries: Sequence[FormEntry], question: str, kind: FieldType | None) -> list[FormEntry]:
    """Return the entries that a question names and that suit the type of its field."""
    wanted = keys_of(question)
    return [entry for entry in entries if not wanted.isdisjoint(entry.keys) and entry.suits(kind)]


def keys_of(text: str) -> set[Key]:
    """Return what names and questions are compared by: their words in alphabetical order, and all letters in one.

    Case, accents, plurals and words that ask do not count. Empty for a text without enough letters.
    """
    words = [_bare(word) for word in _WORD.findall(text)]
    words = [word for word in words if word and word not in _ASKING]
    if sum(c.isalpha() for word in words for c in word) < _FEWEST:
        return set()
    return {tuple(sorted(words)), "".join(words)}


def _group(places: Sequence[Place]) -> FormEntry:
    """Return the entry of buttons of which one is chosen; a name that some of them lack is that of a button."""
    widgets = [widget for _, widget in places]
    common = [{getattr(widget, part) for widget in widgets} for part in ("label", "asked")]
    names = [name for names in common if len(names) == 1 for name in names if name]
    keys = {key for name in names for key in keys_of(name)}
    return FormEntry(tuple(places), frozenset(keys or keys_of(_own_name(widgets[0].name))), is_group=True)


def _keys(widgets: Iterable[FormWidget]) -> frozenset[Key]:
    """Return the keys of the names of widgets of one field."""
    keys: set[Key] = set()
    for widget in widgets:
        label, printed = _words(widget.label), _words(widget.printed)
        if label and printed and label.isdisjoint(printed):
            continue  # the file and the print name it differently: one of them is wrong
        for name in (widget.label, widget.printed):
            keys |= keys_of(name) | keys_of(name.partition("(")[0])
        own = _own_name(widget.name)
        for name in (own, own.rpartition(".")[2]):
            if not (label or printed) or _words(name) <= (label | printed):
                keys |= keys_of(name) if not any(c.isdigit() for c in name) else set()
    return frozenset(keys)


def _own_name(name: str) -> str:
    """Return the name of a field as words."""
    parts = [" ".join(_JOINT.sub(" ", part).split()) for part in name.split(".")]
    return ".".join(part for part in parts if part)


def _words(text: str) -> set[str]:
    return {_bare(word) for word in _WORD.findall(text)} - _ASKING - {""}


def _bare(word: str) -> str:
    """Return a word without case, accents, possessive and plural."""
    plain = "".join(c for c in unicodedata.normalize("NFKD", word.casefold()) if not unicodedata.combining(c))
    plain = re.sub(r"['’]s$", "", plain)
    return plain[:-1] if len(plain) > _FEWEST and plain.endswith("s") else plain
