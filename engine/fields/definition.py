"""Definition of a field: what a project wants of every paper, and the rules that its values keep."""

from __future__ import annotations

from typing import Annotated, Literal, Self

import regex
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, field_validator, model_validator

from engine.fields.types import Choice, FieldOptions, FieldType
from engine.text import storable

LONGEST_NAME = 60
LONGEST_QUESTION = 1000
MOST_COLUMNS = 40
NAME = r"^[a-z][a-z0-9_]{0,59}$"
SUMMAND = r"^[a-z][a-z0-9_]{0,59}(\.[a-z][a-z0-9_]{0,59})?$"
Summand = Annotated[str, Field(pattern=SUMMAND, description="Name of a field, or of a column as `table.column`.")]
FieldName = Annotated[str, Field(pattern=NAME, description="Key for programs: small letters, digits and _.")]
Text = Annotated[str, AfterValidator(storable)]
_NUMBERS = (FieldType.NUMBER, FieldType.INTEGER, FieldType.CURRENCY)
_ORDERED = (*_NUMBERS, FieldType.DATE, FieldType.TIME)


class _Rule(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class PatternRule(_Rule):
    """The whole normalised value fits a regular expression."""

    rule: Literal["pattern"]
    pattern: Text = Field(min_length=1, max_length=300)

    @field_validator("pattern")
    @classmethod
    def _compiles(cls, pattern: str) -> str:
        try:
            regex.compile(pattern)
        except regex.error as error:
            raise ValueError(f"{pattern!r} is no regular expression: {error}") from None
        return pattern


class RangeRule(_Rule):
    """The value is neither below `least` nor above `most`: numbers, amounts, dates and times as they are normalised."""

    rule: Literal["range"]
    least: Text | None = Field(None, max_length=40)
    most: Text | None = Field(None, max_length=40)

    @model_validator(mode="after")
    def _has_an_end(self) -> Self:
        if self.least is None and self.most is None:
            raise ValueError("a range needs a least or a most value")
        return self


class SumRule(_Rule):
    """The value is the sum of other fields of the paper, up to `tolerance`."""

    rule: Literal["sum"]
    of: list[Summand] = Field(min_length=1, max_length=50)
    tolerance: float = Field(0.005, ge=0, allow_inf_nan=False)


class NotBeforeRule(_Rule):
    """The date or time is not before that of another field."""

    rule: Literal["not_before"]
    field: FieldName


Rule = Annotated[PatternRule | RangeRule | SumRule | NotBeforeRule, Field(discriminator="rule")]


class ListedChoice(BaseModel):
    """One choice of a list, with other printed names of it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    value: Text = Field(min_length=1, max_length=200)
    names: tuple[Annotated[Text, Field(min_length=1, max_length=200)], ...] = Field((), max_length=50)


class ColumnDefinition(BaseModel):
    """Column of a table, or a field alone: a question, and the type of its value."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: FieldName
    question: str = Field(
        max_length=LONGEST_QUESTION,
        description="Asked of the model and shown to people; of a column, its heading on the papers.",
    )
    type: FieldType = FieldType.STRING
    guideline: Text = Field("", max_length=20_000, description="Markdown, shown beside the task.")
    required: bool = Field(False, description="Whether every paper, or every row of a table, must have a value.")
    examples: tuple[Annotated[Text, Field(max_length=300)], ...] = Field((), max_length=20)
    choices: tuple[ListedChoice, ...] = Field((), max_length=500, description="Of a field of type choice.")
    currency: str | None = Field(
        None, pattern=r"^[A-Z]{3}$", description="ISO 4217 code of amounts printed without a currency."
    )
    country: str | None = Field(
        None, pattern=r"^[A-Z]{2}$", description="ISO 3166-1 code of phone numbers printed without a country."
    )
    rules: tuple[Rule, ...] = Field((), max_length=20)

    @field_validator("question")
    @classmethod
    def _plain_spaces(cls, question: str) -> str:
        return " ".join(storable(question).split())

    @model_validator(mode="after")
    def _fits_its_type(self) -> Self:
        if self.type is FieldType.CHOICE and not self.choices:
            raise ValueError("a field of type choice needs its choices")
        values = [choice.value for choice in self.choices]
        if len(set(values)) < len(values):
            raise ValueError("a choice is listed twice")
        for rule in self.rules:
            allowed = {"range": _ORDERED, "sum": _NUMBERS, "not_before": (FieldType.DATE, FieldType.TIME)}.get(
                rule.rule
            )
            if allowed is not None and self.type not in allowed:
                raise ValueError(f"a rule {rule.rule!r} fits {', '.join(allowed)}, not {self.type}")
        return self

    @property
    def options(self) -> FieldOptions:
        """Return the options by which the type reads printed text."""
        choices = tuple(Choice(choice.value, choice.names) for choice in self.choices)
        return FieldOptions(choices=choices, currency=self.currency, country=self.country)


class FieldDefinition(ColumnDefinition):
    """What a project wants of every paper: a question, and the type of its value."""

    several: bool = Field(False, description="Whether a paper may have several values.")
    issuer: bool = Field(
        False, description="Whether the value says who issued the paper; conventions can be remembered for an issuer."
    )
    confidence: float | None = Field(
        None, gt=0, le=1, description="Confidence from which a value counts without people; empty: the project's."
    )
    columns: tuple[ColumnDefinition, ...] = Field(
        (),
        max_length=MOST_COLUMNS,
        description="Of a field of type table. Rules of a column are about the cells of one row.",
    )

    @model_validator(mode="after")
    def _fits_its_columns(self) -> Self:
        if self.issuer and self.type is not FieldType.STRING:
            raise ValueError("only a field of type string names the issuer")
        if self.columns and self.type is not FieldType.TABLE:
            raise ValueError("only a field of type table has columns")
        names = [column.name for column in self.columns]
        for column in self.columns:
            if column.type is FieldType.TABLE:
                raise ValueError(f"the column {column.name} is a table itself; a cell holds a single value")
            if names.count(column.name) > 1:
                raise ValueError(f"the column {column.name} is given twice")
            for rule in column.rules:
                others = rule.of if rule.rule == "sum" else [rule.field] if rule.rule == "not_before" else []
                if unknown := [other for other in others if other not in names or other == column.name]:
                    raise ValueError(f"a rule of the column {column.name} names {unknown[0]}, which is no other column")
        return self

    def column(self, name: str) -> ColumnDefinition | None:
        """Return a column of the table by its name; None where there is no such column."""
        return next((column for column in self.columns if column.name == name), None)
