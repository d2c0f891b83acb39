"""Answers from the form layer of a document: a question that names an entry of its form is answered by it.

The words or the box of the entry are the mark, and its value is the text. Where several entries have the name that a
question asks for, the model's mark chooses among them. Where none has, and the model's mark lies in an entry, the form
says what the entry holds; that it is the right one is the model's word, with its scores.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from sqlalchemy import select
from sqlalchemy.orm import Session

from db.tables import Document, Page, Project, ProjectField, Question
from engine.annotation.form_entries import FormEntry, asked_for, entries_of
from engine.annotation.page_cache import PageWords, words_of
from engine.annotation.proposal import Candidate, RankedPage, StoredAnswer
from engine.annotation.state import PageGeometry, raster, to_patch
from engine.annotation.survey_answers import Prepared
from engine.annotation.table_answers import answer_table, document_words, load_tables
from engine.documents.form_layer.stored_widgets import widgets_of_document
from engine.documents.form_layer.ticks import EMPTY_BOX, TICK
from engine.documents.form_layer.widgets import FormWidget
from engine.fields.definition import FieldDefinition
from engine.fields.normalisation import LocaleContext, normalise
from engine.fields.read_value import MARK_ALONE, context_of
from engine.fields.types import FieldType
from engine.workspace import Workspace
from model.boxes import Box
from model.printed_text import printed_text

_ANSWERED = 0.5  # probability from which the model's mark counts
_INSIDE = 0.8  # share of the model's mark that lies in a widget, from which it marks that widget
_SHORTEST_PART = 3  # letters of a value whose end the box cuts off
_NEAR = 6.0  # heights of a button: its label is not further away
_ALTERNATIVES = 2  # proposals of the model beside the form's


@dataclass(frozen=True, slots=True)
class TypedQuestion:
    """Field that a question asks for, if it is one, and how its project's papers print values."""

    field: FieldDefinition | None
    context: LocaleContext

    @property
    def type(self) -> FieldType | None:
        """Return the type of the field."""
        return self.field.type if self.field is not None else None


class FormLayer:
    """Form layer of a paper, for all questions that are asked of it."""

    def __init__(
        self,
        widgets: Mapping[str, Sequence[FormWidget]],
        sizes: Mapping[str, tuple[int, int]],
        words_of_page: Callable[[str], PageWords],
    ) -> None:
        """Take the form of a paper; without any widget, `prefer` returns what the model says.

        Args:
            widgets: By page id.
            sizes: Height and width of the pages with widgets, in pixels, by page id.
            words_of_page: Returns the words of a page by its id.
        """
        self._sizes, self._words_of_page = sizes, words_of_page
        self._entries = entries_of(widgets)
        self._words: dict[str, PageWords] = {}

    def fitting(self, page_id: str | None, by_model: Prepared) -> list[FormEntry]:
        """Return the entries that may answer in place of the model; `page_id`: the only page that is asked."""
        if by_model.answer.source == "form":
            return []
        return [entry for entry in self._entries if page_id is None or entry.places[0][0] == page_id]

    def prefer(self, question: str, asked: TypedQuestion, by_model: Prepared, page_id: str | None = None) -> Prepared:
        """Return the form's answer to a question; the model's where the form has none, or none that is certain.

        Args:
            question: Text of the question.
            asked: The field that it asks for.
            by_model: The model's answer.
            page_id: The only page that is asked; None: all of them.
        """
        fitting = self.fitting(page_id, by_model)
        if not fitting:
            return by_model
        named = asked_for(fitting, question, asked.type)
        if len(named) != 1:
            among = named or [entry for entry in fitting if entry.suits(asked.type)]
            fitting = [entry for entry in among if self._is_marked(entry, by_model)]
        else:
            fitting = named
        score, answered = (1.0, 1.0) if named else (by_model.answer.score, by_model.answered)
        place = fitting[0].answer if len(fitting) == 1 else None
        candidate = self._candidate(*place, asked, is_group=fitting[0].is_group) if place is not None else None
        if place is None or candidate is None or not _is_readable(candidate.text, asked):
            return by_model
        answer = StoredAnswer(**{**candidate.model_dump(), "score": score}, source="form")
        if by_model.page_id == place[0]:
            others = [by_model.answer, *by_model.answer.candidates]
            answer.candidates = [_plain(other) for other in others if other.mask.counts][:_ALTERNATIVES]
        if by_model.answer.ranked:
            further = [page for page in by_model.answer.ranked if page.page_id != place[0]]
            answer.ranked = [RankedPage(page_id=place[0], answered=answered, score=score), *further]
        return Prepared(place[0], answer, score, answered, by_model.milliseconds)

    def _is_marked(self, entry: FormEntry, by_model: Prepared) -> bool:
        """Return whether the model's mark lies in one of an entry's widgets."""
        size = self._sizes.get(by_model.page_id)
        if size is None or by_model.answered < _ANSWERED:
            return False
        mark = raster(by_model.answer.mask, PageGeometry(size, {}))
        area, inside = int(mark.sum()), 0
        for page_id, widget in entry.places:
            x0, y0, x1, y1 = widget.box
            inside = max(inside, int(mark[y0:y1, x0:x1].sum()) if page_id == by_model.page_id else 0)
        return area > 0 and inside >= _INSIDE * area

    def _candidate(self, page_id: str, widget: FormWidget, asked: TypedQuestion, *, is_group: bool) -> Candidate | None:
        """Return the mark and the text of a widget; None where the page does not show what the form says."""
        words, size = self._words_of(page_id), self._sizes[page_id]
        if widget.kind == "signature":
            return _to_candidate([], [widget.box], "", words, size)
        if not widget.is_tick:
            shown = _shown_value(widget, words)
            return (
                _to_candidate(shown, [words.words[at].box for at in shown], widget.value, words, size)
                if shown
                else None
            )
        tick = [at for at in _inside(widget.box, words) if words.words[at].text == TICK]
        if not (widget.ticked and is_group):
            return _to_candidate(tick, [widget.box], TICK if widget.ticked else EMPTY_BOX, words, size)
        label = _label(widget, words)
        if not label and asked.type not in (FieldType.CHOICE, FieldType.BOOLEAN):
            return None  # a name for programs, which no person reads on the page
        chosen = sorted((*tick, *label))
        text = printed_text(words.words[at] for at in chosen) if label else widget.value
        return _to_candidate(chosen, [widget.box, *(words.words[at].box for at in label)], text, words, size)

    def _words_of(self, page_id: str) -> PageWords:
        if page_id not in self._words:
            self._words[page_id] = self._words_of_page(page_id)
        return self._words[page_id]


class DocumentForm:
    """Form layer and tables of a stored document, loaded once for all questions that are asked of it."""

    def __init__(self, workspace: Workspace, document_id: str) -> None:
        """Load the form of a document."""
        self._workspace, self._document_id = workspace, document_id
        with workspace.database.read() as session:
            self._tables = load_tables(session, document_id)
            widgets = widgets_of_document(session, document_id)
            pages = session.scalars(select(Page).where(Page.id.in_(list(widgets)))) if widgets else ()
            sizes = {page.id: (page.height, page.width) for page in pages}
        self._layer = FormLayer(widgets, sizes, partial(words_of, workspace))

    def prefer(self, question: str, by_model: Prepared, page_id: str | None = None) -> Prepared:
        """Return the form's answer to a question, or the model's; see `FormLayer.prefer`; of a table its rows."""
        if question in self._tables:
            if by_model.answer.source == "table":
                return by_model
            return answer_table(self._tables[question], document_words(self._workspace, self._document_id, page_id))
        if not self._layer.fitting(page_id, by_model):
            return by_model
        with self._workspace.database.read() as session:
            asked = _load_field(session, self._document_id, question)
        return self._layer.prefer(question, asked, by_model, page_id)


def _load_field(session: Session, document_id: str, question: str) -> TypedQuestion:
    row = session.execute(
        select(ProjectField.definition, Project.settings)
        .join(Question, Question.id == ProjectField.question_id)
        .join(Project, Project.id == ProjectField.project_id)
        .join(Document, Document.project_id == Project.id)
        .where(Document.id == document_id, Question.text == question, ProjectField.name.is_not(None))
    ).one_or_none()
    if row is None:
        return TypedQuestion(None, LocaleContext())
    return TypedQuestion(FieldDefinition.model_validate(row.definition), context_of(row.settings))


def _plain(answer: Candidate) -> Candidate:
    """Return a proposal without what belongs to a whole answer."""
    return Candidate(**answer.model_dump(include=set(Candidate.model_fields)))


def _is_readable(text: str, asked: TypedQuestion) -> bool:
    """Return whether a value can be one of the field: an amount of money in a field for dates is another's value."""
    field = asked.field
    if field is None or field.type in MARK_ALONE:
        return True
    read = normalise(text, field.type, field.options, asked.context)
    return read.value is not None or bool(read.readings)


def _to_candidate(
    chosen: Sequence[int], boxes: Sequence[Box], text: str, words: PageWords, size: tuple[int, int]
) -> Candidate:
    mask = np.zeros(size, bool)
    for x0, y0, x1, y1 in boxes:
        mask[y0:y1, x0:x1] = True
    return Candidate(words=[words.numbers[at] for at in chosen], mask=to_patch(mask), text=text, score=1.0)


def _shown_value(widget: FormWidget, words: PageWords) -> list[int]:
    """Return the words in a widget that spell its value, or its beginning where the box cuts it off."""
    inside = _inside(widget.box, words)
    value = _letters(widget.value)
    for low in range(len(inside)):
        spelled = ""
        for high in range(low, len(inside)):
            spelled += _letters(words.words[inside[high]].text)
            if not value.startswith(spelled):
                break
            if spelled == value:
                return inside[low : high + 1]
    spelled = "".join(_letters(words.words[at].text) for at in inside)
    return inside if len(spelled) >= _SHORTEST_PART and value.startswith(spelled) else []


def _label(widget: FormWidget, words: PageWords) -> list[int]:
    """Return the words that print the label of a button: the nearest that spell it."""
    wanted = _letters(widget.printed)
    x0, y0, x1, y1 = widget.box
    reach = _NEAR * (y1 - y0)
    found: list[tuple[float, list[int]]] = []
    for low, word in enumerate(words.words):
        if not wanted or not wanted.startswith(_letters(word.text) or " "):
            continue
        spelled = ""
        for high in range(low, len(words.words)):
            spelled += _letters(words.words[high].text)
            if spelled == wanted:
                distance = min(abs(word.box[0] - x1), abs(words.words[high].box[2] - x0)) + abs(word.box[1] - y0)
                found.append((distance, list(range(low, high + 1))))
            if not wanted.startswith(spelled) or spelled == wanted:
                break
    nearby, nearest = min(found, default=(reach, list[int]()))
    return nearest if nearby < reach else []


def _inside(box: Box, words: PageWords) -> list[int]:
    """Return the words whose centre lies in a box, in reading order."""
    x0, y0, x1, y1 = box
    centres = [((word.box[0] + word.box[2]) / 2, (word.box[1] + word.box[3]) / 2) for word in words.words]
    return [at for at, (x, y) in enumerate(centres) if x0 <= x <= x1 and y0 <= y <= y1]


def _letters(text: str) -> str:
    return "".join(text.split()).casefold()
