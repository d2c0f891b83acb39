"""Answers of a model as values: equal to an accepted value as the type of the field, exact, and ANLS. Pure.

Beside IoU: a date that is marked at another place is the right value, and an amount with a digit missing is a wrong one
though the marks nearly agree. The value of an answer is read from its words as the table of values reads it.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from engine.fields.compare_values import WITHOUT_TEXT, ComparedValue, ValueAgreement, compare_values
from engine.fields.definition import LONGEST_QUESTION, FieldDefinition
from engine.fields.normalisation import LocaleContext, Value
from engine.fields.read_value import read_value
from engine.fields.types import FieldType
from engine.grounded import GroundedPage, GroundedQuestion, GroundedWord
from model.kinds import Kind
from model.printed_text import printed_text

_TYPES = {
    Kind.NUMBER: FieldType.NUMBER,
    Kind.AMOUNT: FieldType.CURRENCY,
    Kind.DATE: FieldType.DATE,
    Kind.TIME: FieldType.TIME,
    Kind.PHONE: FieldType.PHONE,
    Kind.COUNTRY: FieldType.COUNTRY,
    Kind.TICK: FieldType.BOOLEAN,
    Kind.ADDRESS: FieldType.ADDRESS,
}


@dataclass(frozen=True, slots=True)
class AcceptedValue:
    """Value of an accepted answer: its text, printed or corrected by a person, and the reading that a person picked."""

    text: str
    picked: Value | None = None
    corrected: bool = False


@dataclass(frozen=True, slots=True)
class KnownValues:
    """What is known about the values of questions.

    Attributes:
        fields: Fields by the id of their question.
        context: How the papers print values.
        accepted: Values of accepted answers by page and question; others are read from the words of the page.
        by_kind: Whether the kind of a question without a field gives its type, for sets from elsewhere.
    """

    fields: Mapping[str, FieldDefinition] = field(default_factory=dict)
    context: LocaleContext = field(default_factory=LocaleContext)
    accepted: Mapping[str, Mapping[str, Sequence[AcceptedValue]]] = field(default_factory=dict)
    by_kind: bool = False

    def of_pages(self, page_ids: Collection[str]) -> "KnownValues":
        """Return what concerns some pages."""
        return replace(self, accepted={name: self.accepted[name] for name in page_ids if name in self.accepted})

    def field_of(self, question: GroundedQuestion) -> FieldDefinition | None:
        """Return the field of a question whose values have text; None without one."""
        known = self.fields.get(question.question_id)
        if known is None and self.by_kind and question.kind in _TYPES:
            text = question.question[:LONGEST_QUESTION]
            known = FieldDefinition(name="value", question=text, type=_TYPES[question.kind])
        return None if known is None or known.type in (*WITHOUT_TEXT, FieldType.TABLE) else known


@dataclass(frozen=True, slots=True)
class JudgedValues:
    """Judgement of the model's answer and of the lexical baseline's, best over the accepted values."""

    model: ValueAgreement
    baseline: ValueAgreement


def judge_values(
    known: KnownValues,
    page: GroundedPage,
    question: GroundedQuestion,
    read: Sequence[GroundedWord],
    *,
    model: Sequence[int],
    baseline: Sequence[int],
) -> JudgedValues | None:
    """Judge the answers to one question as values; None where it has no field, or no accepted value has text.

    Args:
        known: Fields and accepted values.
        page: Page with its given words.
        question: Question with its acceptable answers.
        read: Words that were asked; mostly the page's own.
        model: Indices of the words of `read` that the model names.
        baseline: The same of the lexical baseline.
    """
    of_question = known.field_of(question)
    if of_question is None:
        return None
    acceptable = list(_acceptable(known, of_question, page, question))
    if not acceptable:
        return None

    def judge_answer(indices: Sequence[int]) -> ValueAgreement:
        """Judge one answer."""
        text = _text(read, indices)
        ours = [_read(known, of_question, AcceptedValue(text))] if text else []
        compared = [compare_values(of_question.type, ours, [value]) for value in acceptable]
        found = [agreement for agreement in compared if agreement is not None]
        return ValueAgreement(
            of_question.type,
            max(agreement.exact for agreement in found),
            max(agreement.equal or 0.0 for agreement in found),
            max(agreement.anls for agreement in found),
        )

    return JudgedValues(judge_answer(model), judge_answer(baseline))


def _acceptable(
    known: KnownValues, of_question: FieldDefinition, page: GroundedPage, question: GroundedQuestion
) -> Iterator[ComparedValue]:
    """Yield the accepted values that have text: those of people, and those printed at other places of the same text."""
    accepted = known.accepted.get(page.page_id, {}).get(question.question_id, ())
    for value in accepted:
        if value.text:
            yield _read(known, of_question, value)
    if not any(value.corrected or value.picked is not None for value in accepted):
        for answer in question.answers:
            if text := _text(page.words, answer):
                yield _read(known, of_question, AcceptedValue(text))


def _read(known: KnownValues, of_question: FieldDefinition, value: AcceptedValue) -> ComparedValue:
    return ComparedValue(value.text, read_value(of_question, value.text, value.picked, known.context).value)


def _text(words: Sequence[GroundedWord], indices: Sequence[int]) -> str:
    return printed_text(words[at] for at in sorted(set(indices)))
