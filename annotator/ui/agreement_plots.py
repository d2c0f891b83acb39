"""Agreement as marks and as values: a plot beside the model's, and tables by question and by person."""

from html import escape

from annotator.ui import plots
from annotator.ui.table import name, table
from engine.annotation.agreement import Mean
from engine.plurals import count
from engine.statistics.project_agreement import MOST_QUESTIONS, ProjectAgreement

_BARS = (("IoU of the pixels", "iou"), ("F1 of the words", "word_f1"), ("Equal values", "value_equal"))
_BY_QUESTION = ["Question", "Type", "Compared", "IoU", "Equal values", "Same text", "ANLS"]
_BY_PERSON = ["Person", "Compared", "IoU", "Equal values", "Gold questions", "Right", "IoU with gold"]
_NOTE = (
    "IoU: how far the marks overlap, 0 to 1. Equal values: the same date, amount or other value of the field’s type. "
    "Same text: equal but for case and spaces. ANLS: how alike the texts are, 0 to 1."
)


def overall(found: ProjectAgreement) -> str:
    """Return the agreement of the model with people, beside that of people, which is its ceiling."""
    title, sides = (
        "Agreement",
        (
            ("people", found.between_people),
            ("people, unaided", found.without_proposal),
            ("model", found.model),
        ),
    )
    if not found.between_people.questions and not found.model.questions:
        return plots.nothing(
            title,
            "Agreement between people, and of the model with people.",
            "Set an overlap on the tab Questions, so that several people answer a share of the tasks.",
        )
    if found.between_people.iou is None:
        sentence = "Model against accepted answers. Agreement between people appears once tasks overlap."
    elif found.model.iou is None:
        sentence = "Between people. The model cannot be compared yet: it has no accepted answer."
    else:
        sentence = "Between people, and model against accepted answers. Agreement between people is the ceiling."
    if found.without_proposal.questions and found.between_people.iou is not None:
        sentence += " Unaided: no proposal was shown, so people agree less by chance. That is the sounder figure."
    groups = [
        (
            label,
            [
                (who, value, count(mean.typed if field == "value_equal" else mean.questions, "question"))
                for who, mean in sides
                if (value := getattr(mean, field)) is not None
            ],
        )
        for label, field in _BARS
    ]
    return plots.bars(title, sentence, [group for group in groups if group[1]])


def by_question(found: ProjectAgreement) -> str:
    """Return the agreement between people by question as a table, the least first; empty without comparisons."""
    if not found.by_question:
        return ""
    between = found.between_people
    rows: list[list[object]] = [["All questions", "", *_figures(between)]]
    rows += [
        [name(escape(row.question)), row.type or "free question", *_figures(row.between_people)]
        for row in found.by_question
    ]
    sentence = _apart(between) or "Between people, the least agreement first."
    note = _NOTE
    if len(found.by_question) == MOST_QUESTIONS:
        note += f" The {MOST_QUESTIONS} questions with the least agreement are listed."
    return plots.framed_content(
        "Agreement by question", sentence, f'{table(_BY_QUESTION, rows)}<p class="glossator-note">{note}</p>'
    )


def by_person(found: ProjectAgreement) -> str:
    """Return each person's agreement with others and with gold answers as a table; empty without comparisons."""
    if not found.people:
        return ""
    rows = [
        [
            name(escape(row.person)),
            row.questions,
            _iou(row.iou),
            _share(row.value_equal),
            row.gold_questions,
            _share(row.gold_right),
            _iou(row.gold_iou),
        ]
        for row in found.people
    ]
    note = "Right: in a typed field the value equals the gold answer’s, wherever it is marked; else the mark agrees."
    return plots.framed_content(
        "Agreement by person",
        "With others, and with gold questions.",
        f'{table(_BY_PERSON, rows)}<p class="glossator-note">{note}</p>',
    )


def _apart(mean: Mean) -> str:
    """Return a sentence on answers whose values and marks disagree; empty without any."""
    parts = []
    if mean.equal_elsewhere:
        parts.append(f"equal values at different places in {count(mean.equal_elsewhere, 'comparison')}")
    if mean.other_value_here:
        parts.append(f"other values at the same place in {count(mean.other_value_here, 'comparison')}")
    return f"Between people: {', '.join(parts)}." if parts else ""


def _figures(mean: Mean) -> list[object]:
    return [
        mean.questions,
        _iou(mean.iou),
        _share(mean.value_equal),
        _share(mean.value_exact),
        _iou(mean.value_anls),
    ]


def _iou(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


def _share(value: float | None) -> str:
    return "-" if value is None else f"{value:.0%}"
