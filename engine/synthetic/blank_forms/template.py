"""Template of a blank page: its printed words, its fields, and the key of each field."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal

from model.boxes import FloatBox

FieldKind = Literal["text", "multiline", "check", "choice"]


@dataclass(frozen=True, slots=True)
class PrintedWord:
    """Printed word with its box in points; `bold` as its font says."""

    text: str
    box: FloatBox
    bold: bool = False

    @property
    def size(self) -> float:
        """Return the font size in points."""
        return self.box[3] - self.box[1]

    @property
    def middle(self) -> float:
        """Return the vertical centre in points."""
        return (self.box[1] + self.box[3]) / 2


@dataclass(frozen=True, slots=True)
class FormField:
    """Field of a form.

    Args:
        box: place of its value, in points.
        kind: content.
        key: indices of the printed words that name it, in reading order; empty when the print names it not plainly.
        line: printed number of its line, as "7a".
        heading: indices of the words of the heading above it.
        column: indices of the words above its column, where the key names the row of a table.
        group: indices of the words of the question that a check box is one answer to.
        table: number of the column of fields it belongs to, whose fields share one key; -1 without one.
        tooltip: text for screen readers in the file; empty where those of the page contradict its print.
        most: greatest number of characters; 0 without a limit.
        comb: its characters stand in cells of equal width.
        choices: texts to choose from.
        money: a sign of currency is printed before it.
    """

    box: FloatBox
    kind: FieldKind
    key: tuple[int, ...] = ()
    line: str = ""
    heading: tuple[int, ...] = ()
    column: tuple[int, ...] = ()
    group: tuple[int, ...] = ()
    table: int = -1
    tooltip: str = ""
    most: int = 0
    comb: bool = False
    choices: tuple[str, ...] = ()
    money: bool = False

    @property
    def is_named(self) -> bool:
        """Return whether a question can name it."""
        return bool(self.key or self.tooltip)


@dataclass(frozen=True, slots=True)
class FormTemplate:
    """Blank page of a form: `source` is the name of the file, `number` the page from 1, sizes in points."""

    source: str
    number: int
    width: float
    height: float
    words: tuple[PrintedWord, ...]
    fields: tuple[FormField, ...]

    def text(self, words: Iterable[int]) -> str:
        """Return the text of some words."""
        return " ".join(self.words[at].text for at in words)

    def named_fields(self) -> list[FormField]:
        """Return the fields that a question can name."""
        return [field for field in self.fields if field.is_named]

    def name(self, field: FormField) -> str:
        """Return the text of a field's key, else its tooltip."""
        return self.text(field.key) or field.tooltip


def band(template: FormTemplate, top: float, bottom: float) -> FormTemplate:
    """Return the part of a page between two heights, in points, as a page of its own.

    Words and fields that the edges cut are left out, and keys of which a word is left out.
    """
    inside = [at for at, word in enumerate(template.words) if top <= word.box[1] and word.box[3] <= bottom]
    place = {at: number for number, at in enumerate(inside)}

    def renumber(words: Sequence[int]) -> tuple[int, ...]:
        """Return the new indices; none when one of the words is gone."""
        return tuple(place[at] for at in words) if all(at in place for at in words) else ()

    def move_box(box: FloatBox) -> FloatBox:
        """Return a box in the band."""
        return (box[0], box[1] - top, box[2], box[3] - top)

    def cut_field(field: FormField) -> FormField:
        """Return a field in the band; one that lost a part of its name has none."""
        key = renumber(field.key) if all(at in place for at in field.column) else ()
        return replace(
            field,
            box=move_box(field.box),
            key=key,
            tooltip="" if field.key and not key else field.tooltip,
            heading=renumber(field.heading),
            column=renumber(field.column),
            group=renumber(field.group),
        )

    return replace(
        template,
        height=bottom - top,
        words=tuple(replace(template.words[at], box=move_box(template.words[at].box)) for at in inside),
        fields=tuple(cut_field(field) for field in template.fields if top <= field.box[1] and field.box[3] <= bottom),
    )


def save_templates(path: Path, templates: Iterable[FormTemplate]) -> None:
    """Write templates as JSON lines; the file gets its name only when it is complete."""
    unfinished = path.with_name(path.name + ".part")
    with unfinished.open("w", encoding="utf-8") as file:
        for template in templates:
            file.write(json.dumps(template_to_json(template), ensure_ascii=False, separators=(",", ":")) + "\n")
    unfinished.replace(path)


def load_templates(path: Path) -> list[FormTemplate]:
    """Return the templates of a file that `save_templates` wrote. Raises OSError and ValueError."""
    with path.open(encoding="utf-8") as file:
        return [template_from_json(json.loads(line)) for line in file]


def template_to_json(template: FormTemplate) -> dict[str, Any]:
    """Return a template as a JSON object; boxes to a hundredth of a point, fields without their defaults."""
    plain = FormField((0, 0, 0, 0), "text")
    return {
        "source": template.source,
        "number": template.number,
        "size": [round(template.width, 2), round(template.height, 2)],
        "words": [[word.text, *_short(word.box), int(word.bold)] for word in template.words],
        "fields": [
            {"box": _short(field.box), "kind": field.kind}
            | {name: value for name, value in asdict(field).items() if name not in ("box", "kind") and value != getattr(plain, name)}
            for field in template.fields
        ],
    }  # fmt: skip


def template_from_json(stored: dict[str, Any]) -> FormTemplate:
    """Return the template of a JSON object. Raises KeyError, TypeError and ValueError for another object."""
    width, height = stored["size"]
    fields: list[dict[str, Any]] = stored["fields"]
    return FormTemplate(
        source=stored["source"],
        number=stored["number"],
        width=width,
        height=height,
        words=tuple(PrintedWord(text, (x0, y0, x1, y1), bool(bold)) for text, x0, y0, x1, y1, bold in stored["words"]),
        fields=tuple(_field(field) for field in fields),
    )


def _field(stored: dict[str, Any]) -> FormField:
    values: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in stored.items()
    }
    return FormField(**values)


def _short(box: FloatBox) -> list[float]:
    return [round(edge, 2) for edge in box]
