"""Questions for the fields of a real form, so that each means one field of its page."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Sequence

from engine.synthetic import questions
from engine.synthetic.blank_forms.filler import FilledField
from engine.synthetic.blank_forms.template import FormField, FormTemplate
from engine.synthetic.canvas import Canvas
from engine.synthetic.concepts import CONCEPTS, Concept

_LONG = 14  # words of a key that people rarely read out whole
_TICKS = 0.3  # share of ticked boxes that are asked for by their label
_EMPTY_TICKS = 0.1  # share of empty boxes
_BOXED = (
    "Is {} ticked?",
    "Is {} checked?",
    "Is the box for {} ticked?",
    "Where is the box for {}?",
    "{} checkbox",
    "box next to {}",
    "Where is the checkbox {}?",
    "Is there a tick at {}?",
)
_TWICE = 0.35  # share of filled fields that are asked for in two ways
_PLAIN_ANSWERS = frozenset(("yes", "no", "n/a", "true", "false"))  # labels that mean nothing without their question
_SMALL = frozenset("the of and to in a an is for on or your you if any as by no what which".split())  # noqa: SIM905
_CONCEPTS = {printed: concept for concept in CONCEPTS for printed in concept.printed}
_LINED = (
    "What is on line {}?",
    "line {}",
    "What is entered on line {}?",
    "amount on line {}",
    "Line {}?",
    "What does line {} say?",
    "value of line {}",
)
_ITEMS = (
    "What is the answer to item {}?",
    "item {}",
    "What is entered at {}?",
    "item number {}",
    "What is filled in at item {}?",
)
_NAMED_BOX = (
    "{question}: is {label} ticked?",
    "{question}: where is the box for {label}?",
    "{question}: the box {label}",
    "{label} for {question}",
    "Is {label} checked for {question}?",
)
_NAMED_BOXES = 0.25  # share of groups of boxes of which one is asked for by its label
_CHOSEN = ("Which option is ticked for {}?", "What is selected under {}?", "Which box is checked for {}?")
_HEADED = (
    "{heading}: {key}",
    "{key} ({heading})",
    "{key} under {heading}",
    "{heading} {key}",
    "{key} in the section {heading}",
)
_COLUMNED = ("{key}, {column}", "{key} ({column})", "{column}: {key}", "{key} in column {column}", "{key} for {column}")


class Asking:
    """Questions for one page: names of its fields, and which of them are clear."""

    def __init__(self, template: FormTemplate, filled: Sequence[FilledField], rng: random.Random) -> None:
        self.template = template
        self.rng = rng
        self.filled = [filled_field for filled_field in filled if not _is_unused_cell(filled_field, filled)]
        self.keys = {id(filled_field): tokens(self._key(filled_field.field)) for filled_field in self.filled}
        self.counts = Counter(self.keys.values())
        self.lines = Counter(self._line(filled_field.field) for filled_field in self.filled)
        self.heading_counts = Counter(
            (self.keys[id(filled_field)], tokens(template.text(filled_field.field.heading)))
            for filled_field in self.filled
        )
        self.column_counts = Counter(
            (self.keys[id(filled_field)], tokens(template.text(filled_field.field.column)))
            for filled_field in self.filled
        )

    def ask(self, canvas: Canvas) -> None:
        """Add the questions to the canvas."""
        seen: set[tuple[str, ...]] = set()
        for filled_field in self.filled:
            check = filled_field.field.kind == "check"
            if check and self.rng.random() >= (_TICKS if filled_field.ticked else _EMPTY_TICKS):
                continue
            for _ in range(2 if filled_field.pieces and not check and self.rng.random() < _TWICE else 1):
                question = self._question(filled_field)
                if question is None or tokens(question) in seen:
                    continue
                seen.add(tokens(question))
                figures = [filled_field.figure] if filled_field.figure is not None else []
                kind = "checkbox" if figures else None
                canvas.ask(
                    question,
                    filled_field.pieces,
                    printed_key=bool(filled_field.field.key),
                    figures=figures,
                    region_type=kind,
                )
        self._ask_choices(canvas)

    def _ask_choices(self, canvas: Canvas) -> None:
        """Ask the questions that several boxes answer; the answer is the label of the ticked one, with its mark."""
        groups: dict[tuple[int, ...], list[FilledField]] = {}
        for filled_field in self.filled:
            if filled_field.field.group:
                groups.setdefault(filled_field.field.group, []).append(filled_field)
        texts = Counter(tokens(self.template.text(group)) for group in groups)
        for group, members in groups.items():
            ticked = [filled_field for filled_field in members if filled_field.ticked]
            text = self.template.text(group).strip(" :.")
            if len(ticked) > 1 or texts[tokens(text)] > 1 or tokens(text) in self.counts or len(text.split()) > 40:
                continue
            if self.rng.random() < _NAMED_BOXES:
                self._ask_box(canvas, text, self.rng.choice(members))
            whole = text.endswith("?") and self.rng.random() < 0.6
            question = text if whole else questions.about(self.rng, text)
            if not whole and self.rng.random() < 0.25:
                question = self.rng.choice(_CHOSEN).format(text.rstrip("?"))
            if not ticked:
                canvas.ask(question)
                continue
            only = ticked[0]
            figures = [only.figure] if only.figure is not None else []
            canvas.ask(question, only.pieces + only.label, only.label, figures=figures, region_type="checkbox")

    def _ask_box(self, canvas: Canvas, text: str, filled_field: FilledField) -> None:
        """Ask for one box of a group, ticked or empty; the answer is the box."""
        label = self._key(filled_field.field)
        if filled_field.figure is None or len(label.split()) > _LONG or len(text.split()) > 2 * _LONG:
            return
        question = self.rng.choice(_NAMED_BOX).format(question=text.rstrip("?"), label=label)
        canvas.ask(question, filled_field.pieces, figures=[filled_field.figure], region_type="checkbox")

    def _question(self, filled_field: FilledField) -> str | None:
        """Return a question that means this field alone; None when there is none."""
        field, rng = filled_field.field, self.rng
        key = self._key(field)
        ways = []
        unique = self.counts[self.keys[id(filled_field)]] == 1 and not _PLAIN_ANSWERS.issuperset(
            self.keys[id(filled_field)]
        )
        if unique and not field.column:
            ways += [self._phrase_plainly] * 6
        line = self._line(field)
        if line and self.lines[line] == 1 and field.kind != "check":
            ways += [self._phrase_by_line]
        heading = tokens(self.template.text(field.heading))
        if (
            heading
            and field.key
            and not field.column
            and field.kind != "check"
            and self.heading_counts[self.keys[id(filled_field)], heading] == 1
        ):
            ways += [self._phrase_by_heading] * (1 if ways else 4)
        if (
            field.column
            and self.column_counts[self.keys[id(filled_field)], tokens(self.template.text(field.column))] == 1
        ):
            ways += [self._phrase_by_column] * 4
        return rng.choice(ways)(filled_field, key) if ways else None

    def _phrase_plainly(self, filled_field: FilledField, key: str) -> str:
        rng = self.rng
        short = [text for text in shorter(self.template, filled_field.field) if self._is_alone(filled_field, text)]
        concept = _CONCEPTS.get(key.lower().strip(" :.?"))
        tick = filled_field.field.kind == "check"
        if short and not tick and rng.random() < (0.75 if len(key.split()) > _LONG else 0.4):
            return questions.about(rng, rng.choice(short))
        if tick and (not filled_field.ticked or rng.random() < 0.4):
            named = rng.choice(short) if short and len(key.split()) > 6 and rng.random() < 0.6 else key
            named = f'"{named}"' if rng.random() < 0.3 else named
            return (
                f"Which box is ticked: {named}?"
                if filled_field.ticked and rng.random() < 0.2
                else (rng.choice(_BOXED).format(named))
            )
        return questions.about(rng, key, concept if self._is_only(concept) else None, synonyms=0.2)

    def _phrase_by_line(self, filled_field: FilledField, key: str) -> str:
        line = filled_field.field.line.strip("().:")
        return self.rng.choice(
            _LINED if filled_field.field.box[2] - filled_field.field.box[0] < 120 else _LINED + _ITEMS
        ).format(line)

    def _phrase_by_heading(self, filled_field: FilledField, key: str) -> str:
        heading = self.template.text(filled_field.field.heading).strip(" :.")
        return questions.around(self.rng, self.rng.choice(_HEADED).format(key=key, heading=heading))

    def _phrase_by_column(self, filled_field: FilledField, key: str) -> str:
        column = self.template.text(filled_field.field.column).strip(" :.")
        return questions.around(self.rng, self.rng.choice(_COLUMNED).format(key=key, column=column))

    def _key(self, field: FormField) -> str:
        name = self.template.name(field)
        return name.strip(" :.…_-►") or name

    def _line(self, field: FormField) -> str:
        """Return the number of a line; none for a letter alone."""
        line = field.line.strip("().:").lower()
        return line if any(sign.isdigit() for sign in line) else ""

    def _is_alone(self, filled_field: FilledField, text: str) -> bool:
        """Return whether no other key on the page has all words of a text."""
        wanted = set(tokens(text)) - _SMALL
        return bool(wanted) and not any(
            rival is not filled_field and wanted <= set(self.keys[id(rival)]) for rival in self.filled
        )

    def _is_only(self, concept: Concept | None) -> bool:
        """Return whether one key of the page alone is of a concept."""
        return concept is not None and sum(_CONCEPTS.get(" ".join(key)) is concept for key in self.keys.values()) == 1


def _is_unused_cell(cell: FilledField, filled: Sequence[FilledField]) -> bool:
    """Return whether a field is an empty cell of a column of which others are filled: nobody would ask for it."""
    return (
        cell.field.table >= 0
        and not cell.pieces
        and any(neighbour.field.table == cell.field.table and neighbour.pieces for neighbour in filled)
    )


def shorter(template: FormTemplate, field: FormField) -> list[str]:
    """Return shorter forms of a key: its bold words, without brackets, one sentence, its first words."""
    key = template.name(field)
    forms = []
    bold = [at for at in field.key if template.words[at].bold]
    if 2 <= len(bold) < len(field.key):
        forms.append(template.text(bold))
    plain = re.sub(r"\s*\([^)]*\)", "", key)
    if plain != key:
        forms.append(plain)
    parts = [part.strip() for part in re.split(r"[.;?]\s", plain) if len(part.split()) >= 2]
    if len(parts) > 1:
        forms += [parts[0], parts[-1]]
    clause = re.split(r",\s", plain)[0]
    if clause != plain and len(clause.split()) >= 2:
        forms.append(clause)
    words = plain.split()
    if len(words) > 7:
        forms.append(" ".join(words[: 4 + len(words) % 4]))
    return [text.strip(" :.,;") for text in forms if text.strip(" :.,;")]


def tokens(text: str) -> tuple[str, ...]:
    """Return the words of a text in lower case, without signs."""
    return tuple(re.findall(r"[^\W_]+|[#$%]", text.lower()))
