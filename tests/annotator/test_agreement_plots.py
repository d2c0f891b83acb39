"""Agreement on the tab Quality: values beside marks, by question and by person."""

from annotator.ui import agreement_plots
from engine.annotation.agreement import Mean
from engine.fields.types import FieldType
from engine.statistics.project_agreement import PersonAgreement, ProjectAgreement, QuestionAgreement

NOTHING = Mean(0, None, None)
DATES = Mean(10, 0.2, 0.25, 10, 1.0, 0.3, 0.35, equal_elsewhere=8)
FREE = Mean(4, 0.9, 0.95, value_exact=0.75, value_anls=0.8)


def found() -> ProjectAgreement:
    return ProjectAgreement(
        [],
        [PersonAgreement("Ann <b>", 14, 0.4, 0.5, 4, 0.55, value_equal=1.0, gold_right=0.75)],
        Mean(14, 0.4, 0.45, 10, 1.0, 0.43, 0.48, equal_elsewhere=8, other_value_here=1),
        NOTHING,
        by_question=[
            QuestionAgreement("d", "When <issued>?", FieldType.DATE, DATES),
            QuestionAgreement("f", "Who signs?", None, FREE),
        ],
    )


def test_equal_values_are_drawn_beside_marks_over_the_answers_that_have_them() -> None:
    drawn = agreement_plots.overall(found())
    assert "Equal values, people: 1.000, 10 questions" in drawn and "IoU of the pixels, people: 0.400, 14" in drawn
    marks_alone = ProjectAgreement([], [], Mean(3, 0.9, 0.9), NOTHING)
    assert "Equal values" not in agreement_plots.overall(marks_alone)


def test_a_question_has_its_type_and_figures_and_a_free_one_no_equal_values() -> None:
    drawn = agreement_plots.by_question(found())
    assert "Between people: equal values at different places in 8 comparisons, other values at the same place" in drawn
    dates, free = drawn.split("When &lt;issued&gt;?")[1].split("Who signs?")
    assert all(cell in dates for cell in (">date<", ">10<", ">0.20<", ">100%<", ">30%<", ">0.35<"))
    assert ">free question<" in free and ">-<" in free and ">75%<" in free
    assert agreement_plots.by_question(ProjectAgreement([], [], NOTHING, NOTHING)) == ""


def test_a_person_has_the_share_of_gold_questions_answered_right() -> None:
    drawn = agreement_plots.by_person(found())
    assert "Ann &lt;b&gt;" in drawn
    assert all(cell in drawn for cell in (">75%<", ">0.55<", ">100%<", ">0.40<"))
