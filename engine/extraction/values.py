"""Values of a paper from answers: normalised, cited, checked by rules, and why a person should look at them."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from db.statuses import AUTOMATIC
from engine.annotation.proposal import cell_texts, table_state
from engine.annotation.state import AnnotationState, PageMark
from engine.annotation.survey_answers import Prepared
from engine.annotation.values import ReadingView, read_part
from engine.extraction.paper import PaperPage
from engine.extraction.view import Citation, ExtractedField, ExtractedValue, ValueConfidence
from engine.fields.definition import FieldDefinition
from engine.fields.normalisation import LocaleContext, Normalised
from engine.fields.read_value import MARK_ALONE
from engine.fields.rules import broken_rules, fields_named, proven_fields
from engine.fields.table_rows import is_table, table_rows
from engine.fields.types import FieldType
from engine.selection.uncertainty import confidence

PROPOSAL = "proposal"  # status of a model's answer
_BY_PERSON = ("accepted", "fixed", "submitted")
_THERE = 0.5  # probability from which a paper counts as answering, as in engine.selection
_SHARE_DIGITS = 6  # of a box in shares of the page: finer than a pixel of any page
_UNREAD = (FieldType.STRING, FieldType.ADDRESS, *MARK_ALONE)


@dataclass(frozen=True, slots=True)
class FieldAnswer:
    """Answer to a field.

    Attributes:
        status: "proposal", "automatic", or of a person's answer.
        parts: Each value as an answer of its own, with its printed text; none where the paper does not answer.
        score: Predicted IoU of the model's mark, 0..1.
        answered: The model's probability that the paper answers, 0..1.
        confidence: That the answer is right, 0..1; None for a person's.
    """

    status: str
    parts: Sequence[tuple[AnnotationState, str]]
    score: float | None = None
    answered: float | None = None
    confidence: float | None = None


def answer_by_model(prepared: Prepared) -> FieldAnswer:
    """Return a model's answer; one that is less likely than not marks nothing."""
    answer = prepared.answer
    sure = confidence(prepared.answered, prepared.score, 0.0, answer.rival)
    if prepared.answered < _THERE or not answer.mask.counts:
        return FieldAnswer(PROPOSAL, [], prepared.score, prepared.answered, 1 - prepared.answered)
    if answer.cells:
        parts = list(zip(table_state(answer.cells).single_values(), cell_texts(answer.cells), strict=True))
    else:
        state = AnnotationState(pages={prepared.page_id: PageMark(words=answer.words, mask=answer.mask)})
        parts = [(state, answer.text)]
    return FieldAnswer(PROPOSAL, parts, prepared.score, prepared.answered, sure)


def build_fields(
    fields: Sequence[FieldDefinition],
    answers: Mapping[str, FieldAnswer],
    pages: Mapping[str, PaperPage],
    context: LocaleContext,
    least: float | None,
    unseen: Collection[str] = (),
) -> dict[str, ExtractedField]:
    """Return the fields of a paper with their values.

    Args:
        fields: The fields, in their order.
        answers: By the name of the field; a field that was not asked has none.
        pages: Pages of the paper, by their keys.
        context: How the papers of the project print values.
        least: Confidence from which a value counts without people, where the field has none of its own; None: any.
        unseen: Fields that people answer without the model, of which the caller sees nothing.
    """
    read = {
        field.name: [
            (part, printed, *read_part(field, part, printed, context)) for part, printed in answers[field.name].parts
        ]
        for field in fields
        if field.name in answers
    }
    present = {
        name: [normalised.value for *_, normalised in parts if normalised.value is not None]
        for name, parts in read.items()
    }
    # A value that was not asked, or that nobody can read, is not missing.
    missing = {name for name, parts in read.items() if not parts}
    checked = [field if field.name in missing else field.model_copy(update={"required": False}) for field in fields]
    tables = {
        field.name: table_rows(
            field,
            (
                (part.cell.row, part.cell.column, normalised.value)
                for part, *_, normalised in read[field.name]
                if part.cell is not None
            ),
        )
        for field in fields
        if field.name in read and is_table(field)
    }
    broken, proven = broken_rules(checked, present, tables=tables), proven_fields(checked, present, tables)
    suspect = {other: name for name in broken for other in fields_named(checked, name) if other not in broken}
    extracted = {}
    for field in fields:
        answer = answers.get(field.name)
        if answer is None:
            extracted[field.name] = ExtractedField(
                type=field.type,
                question=field.question,
                status=PROPOSAL,
                values=[],
                broken_rules=[],
                unsure=[
                    f"People answer {field.name} without the model."
                    if field.name in unseen
                    else f"{field.name} was not asked: the document has too many pages for one request."
                ],
            )
            continue
        by_person = answer.status in _BY_PERSON
        validated = "person" if by_person else "rule" if field.name in proven else "nothing"
        values = [
            _value(part, printed, text, normalised, answer, pages, validated)
            for part, printed, text, normalised in read[field.name]
        ]
        said = broken.get(field.name, [])
        doubts = [] if by_person else [*_doubts(field, answer, values, least), *_suspicion(suspect.get(field.name))]
        extracted[field.name] = ExtractedField(
            type=field.type,
            question=field.question,
            status=answer.status,
            values=values,
            rows=tables.get(field.name),
            broken_rules=said,
            unsure=[*said, *doubts],
        )
    return extracted


def _value(
    part: AnnotationState,
    printed: str,
    text: str,
    normalised: Normalised,
    answer: FieldAnswer,
    pages: Mapping[str, PaperPage],
    validated: str,
) -> ExtractedValue:
    marked = [(pages[key], part.pages[key]) for key in part.marked_pages() if key in pages]
    reading = [page.confidence[word] for page, mark in marked for word in mark.words if word in page.confidence]
    return ExtractedValue(
        value=normalised.value,
        rule=normalised.rule,
        locale=normalised.locale,
        readings=[
            ReadingView(value=each.value, words=each.words, convention=dict(each.convention))
            for each in normalised.readings
        ],
        reason=normalised.reason,
        answered=bool(marked),
        printed=printed,
        text=text,
        pages=[_cite(page, mark) for page, mark in sorted(marked, key=lambda place: place[0].number)],
        confidence=ValueConfidence(reading=min(reading, default=None), answer=answer.score, answered=answer.answered),
        validated_by=validated,  # type: ignore[arg-type]
        cell=part.cell,
    )


def _cite(page: PaperPage, mark: PageMark) -> Citation:
    x0, y0, x1, y1 = mark.mask.box
    shares = x0 / page.width, y0 / page.height, x1 / page.width, y1 / page.height
    left, top, right, bottom = (round(share, _SHARE_DIGITS) for share in shares)
    return Citation(
        page=page.number,
        width=page.width,
        height=page.height,
        box=(left, top, right, bottom),
        box_pixels=(x0, y0, x1, y1),
        words=list(mark.words),
    )


def _doubts(
    field: FieldDefinition, answer: FieldAnswer, values: Sequence[ExtractedValue], least: float | None
) -> list[str]:
    """Return why an answer without a person should be looked at, as sentences."""
    doubts = []
    for value in values:
        column = field.column(value.cell.column) if value.cell is not None else None
        asked = field if column is None else column
        name = field.name if value.cell is None else f"{field.name}, row {value.cell.row + 1}, {value.cell.column}"
        if value.readings and value.value is None:
            doubts.append(f'{name} is ambiguous: "{value.text}" can be read in {len(value.readings)} ways.')
        elif value.value is None and asked.type not in _UNREAD:
            doubts.append(f'{name}: "{value.text}" cannot be read as {asked.type.value}.')
    wanted = field.confidence if field.confidence is not None else least
    if wanted is not None and answer.status != AUTOMATIC and (answer.confidence or 0.0) < wanted:
        doubts.append(f"The confidence {answer.confidence or 0.0:.2f} of {field.name} is below {wanted:.2f}.")
    return doubts


def _suspicion(name: str | None) -> list[str]:
    return [] if name is None else [f"It is part of a rule of {name} that is broken."]
