"""Questions for the fields of a real form, so that each means one field of its page."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Sequence

from engine.synthetic import questions
from engine.synthetic.blank_forms.filler import Filled
from engine.synthetic.blank_forms.template import FormField, FormTemplate
from engine.synthetic.concepts import CONCEPTS, Concept
from engine.synthetic.sheet import Sheet

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

    def __init__(self, template: FormTemplate, filled: Sequence[Filled], chance: random.Random) -> None:
        self.template = template
        self.chance = chance
        self.filled = [one for one in filled if not _sleeping(one, filled)]
        self.keys = {id(one): tokens(self._key(one.field)) for one in self.filled}
        self.counts = Counter(self.keys.values())
        self.lines = Counter(self._line(one.field) for one in self.filled)
        self.headed = Counter((self.keys[id(one)], tokens(template.text(one.field.heading))) for one in self.filled)
        self.columned = Counter((self.keys[id(one)], tokens(template.text(one.field.column))) for one in self.filled)

    def ask(self, sheet: Sheet) -> None:
        """Add the questions to the sheet."""
        seen: set[tuple[str, ...]] = set()
        for one in self.filled:
            check = one.field.kind == "check"
            if check and self.chance.random() >= (_TICKS if one.ticked else _EMPTY_TICKS):
                continue
            for _ in range(2 if one.pieces and not check and self.chance.random() < _TWICE else 1):
                question = self._question(one)
                if question is None or tokens(question) in seen:
                    continue
                seen.add(tokens(question))
                figures = [one.figure] if one.figure is not None else []
                kind = "checkbox" if figures else None
                sheet.ask(question, one.pieces, printed_key=bool(one.field.key), figures=figures, region_type=kind)
        self._ask_choices(sheet)

    def _ask_choices(self, sheet: Sheet) -> None:
        """Ask the questions that several boxes answer; the answer is the label of the ticked one, with its mark."""
        groups: dict[tuple[int, ...], list[Filled]] = {}
        for one in self.filled:
            if one.field.group:
                groups.setdefault(one.field.group, []).append(one)
        texts = Counter(tokens(self.template.text(group)) for group in groups)
        for group, members in groups.items():
            ticked = [one for one in members if one.ticked]
            text = self.template.text(group).strip(" :.")
            if len(ticked) > 1 or texts[tokens(text)] > 1 or tokens(text) in self.counts or len(text.split()) > 40:
                continue
            if self.chance.random() < _NAMED_BOXES:
                self._ask_box(sheet, text, self.chance.choice(members))
            whole = text.endswith("?") and self.chance.random() < 0.6
            question = text if whole else questions.about(self.chance, text)
            if not whole and self.chance.random() < 0.25:
                question = self.chance.choice(_CHOSEN).format(text.rstrip("?"))
            if not ticked:
                sheet.ask(question)
                continue
            only = ticked[0]
            figures = [only.figure] if only.figure is not None else []
            sheet.ask(question, only.pieces + only.label, only.label, figures=figures, region_type="checkbox")

    def _ask_box(self, sheet: Sheet, text: str, one: Filled) -> None:
        """Ask for one box of a group, ticked or empty; the answer is the box."""
        label = self._key(one.field)
        if one.figure is None or len(label.split()) > _LONG or len(text.split()) > 2 * _LONG:
            return
        question = self.chance.choice(_NAMED_BOX).format(question=text.rstrip("?"), label=label)
        sheet.ask(question, one.pieces, figures=[one.figure], region_type="checkbox")

    def _question(self, one: Filled) -> str | None:
        """Return a question that means this field alone; None when there is none."""
        field, chance = one.field, self.chance
        key = self._key(field)
        ways = []
        unique = self.counts[self.keys[id(one)]] == 1 and not _PLAIN_ANSWERS.issuperset(self.keys[id(one)])
        if unique and not field.column:
            ways += [self._plain] * 6
        line = self._line(field)
        if line and self.lines[line] == 1 and field.kind != "check":
            ways += [self._lined]
        heading = tokens(self.template.text(field.heading))
        if (
            heading
            and field.key
            and not field.column
            and field.kind != "check"
            and self.headed[self.keys[id(one)], heading] == 1
        ):
            ways += [self._headed] * (1 if ways else 4)
        if field.column and self.columned[self.keys[id(one)], tokens(self.template.text(field.column))] == 1:
            ways += [self._columned] * 4
        return chance.choice(ways)(one, key) if ways else None

    def _plain(self, one: Filled, key: str) -> str:
        chance = self.chance
        short = [text for text in shorter(self.template, one.field) if self._alone(one, text)]
        concept = _CONCEPTS.get(key.lower().strip(" :.?"))
        tick = one.field.kind == "check"
        if short and not tick and chance.random() < (0.75 if len(key.split()) > _LONG else 0.4):
            return questions.about(chance, chance.choice(short))
        if tick and (not one.ticked or chance.random() < 0.4):
            named = chance.choice(short) if short and len(key.split()) > 6 and chance.random() < 0.6 else key
            named = f'"{named}"' if chance.random() < 0.3 else named
            return (
                f"Which box is ticked: {named}?"
                if one.ticked and chance.random() < 0.2
                else (chance.choice(_BOXED).format(named))
            )
        return questions.about(chance, key, concept if self._only(concept) else None, synonyms=0.2)

    def _lined(self, one: Filled, key: str) -> str:
        line = one.field.line.strip("().:")
        return self.chance.choice(_LINED if one.field.box[2] - one.field.box[0] < 120 else _LINED + _ITEMS).format(line)

    def _headed(self, one: Filled, key: str) -> str:
        heading = self.template.text(one.field.heading).strip(" :.")
        return questions.around(self.chance, self.chance.choice(_HEADED).format(key=key, heading=heading))

    def _columned(self, one: Filled, key: str) -> str:
        column = self.template.text(one.field.column).strip(" :.")
        return questions.around(self.chance, self.chance.choice(_COLUMNED).format(key=key, column=column))

    def _key(self, field: FormField) -> str:
        name = self.template.name(field)
        return name.strip(" :.…_-►") or name

    def _line(self, field: FormField) -> str:
        """Return the number of a line; none for a letter alone."""
        line = field.line.strip("().:").lower()
        return line if any(sign.isdigit() for sign in line) else ""

    def _alone(self, one: Filled, text: str) -> bool:
        """Return whether no other key on the page has all words of a text."""
        wanted = set(tokens(text)) - _SMALL
        return bool(wanted) and not any(
            other is not one and wanted <= set(self.keys[id(other)]) for other in self.filled
        )

    def _only(self, concept: Concept | None) -> bool:
        """Return whether one key of the page alone is of a concept."""
        return concept is not None and sum(_CONCEPTS.get(" ".join(key)) is concept for key in self.keys.values()) == 1


def _sleeping(one: Filled, filled: Sequence[Filled]) -> bool:
    """Return whether a field is an empty cell of a column of which others are filled: nobody would ask for it."""
    return (
        one.field.table >= 0
        and not one.pieces
        and any(other.field.table == one.field.table and other.pieces for other in filled)
    )


def shorter(template: FormTemplate, field: FormField) -> list[str]:
    """Return shorter forms of a key: its bold words, without brackets, one sentence, its first words."""
    key = template.name(field)
    found = []
    bold = [at for at in field.key if template.words[at].bold]
    if 2 <= len(bold) < len(field.key):
        found.append(template.text(bold))
    plain = re.sub(r"\s*\([^)]*\)", "", key)
    if plain != key:
        found.append(plain)
    parts = [part.strip() for part in re.split(r"[.;?]\s", plain) if len(part.split()) >= 2]
    if len(parts) > 1:
        found += [parts[0], parts[-1]]
    clause = re.split(r",\s", plain)[0]
    if clause != plain and len(clause.split()) >= 2:
        found.append(clause)
    words = plain.split()
    if len(words) > 7:
        found.append(" ".join(words[: 4 + len(words) % 4]))
    return [text.strip(" :.,;") for text in found if text.strip(" :.,;")]


def tokens(text: str) -> tuple[str, ...]:
    """Return the words of a text in lower case, without signs."""
    return tuple(re.findall(r"[^\W_]+|[#$%]", text.lower()))
