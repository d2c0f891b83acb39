"""The gate, on answers whose differences are known."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from engine.fields.compare_values import ValueAgreement
from engine.fields.types import FieldType
from engine.training.evaluation.judged_values import JudgedValues
from engine.training.evaluation.metrics import Scored
from engine.training.retraining.gate import WIDE_LIMIT, Holdout, check, judge
from engine.training.retraining.latency import Latency


def scored(page: str, question: int, iou: float | None, answered: float = 0.9) -> Scored:
    return Scored(
        page_id=page,
        question_id=str(question),
        answerable=iou is not None,
        printed_key=False,
        iou=iou or 0.0,
        word_iou=iou or 0.0,
        pixel_iou=0.0,
        baseline_iou=0.0,
        answered=answered,
        predicted_iou=0.5,
        milliseconds=1.0,
    )


def holdout(
    name: str, documents: int, change: Callable[[int, int], float], *, questions: int = 4, base: float = 0.5
) -> Holdout:
    """Pages, one a document; the challenger differs by `change(document, question)` on each question."""
    places = [(document, question) for document in range(documents) for question in range(questions)]
    return Holdout(
        name,
        {f"{name} {document}": f"{name} document {document}" for document in range(documents)},
        [scored(f"{name} {document}", question, base) for document, question in places],
        [scored(f"{name} {document}", question, base + change(document, question)) for document, question in places],
    )


def steady(value: float) -> Callable[[int, int], float]:
    return lambda document, question: value


def test_better_on_its_own_and_no_worse_elsewhere_passes() -> None:
    verdict = judge([holdout("own", 12, steady(0.1)), holdout("generated", 40, steady(0.0))])
    assert verdict["passed"] is True
    assert "12 held-out documents" in verdict["sentence"]
    assert verdict["holdouts"]["own"]["difference"] == pytest.approx(0.1)
    assert verdict["holdouts"]["own"]["documents"] == 12


def test_better_on_its_own_but_forgetful_does_not_pass() -> None:
    verdict = judge([holdout("own", 12, steady(0.1)), holdout("generated", 40, steady(-0.08))])
    assert verdict["passed"] is False
    assert "on generated pages" in verdict["sentence"]


def test_a_gain_carried_by_a_few_documents_while_others_lose_much_does_not_pass() -> None:
    verdict = judge(
        [
            holdout("own", 10, lambda document, question: 0.45 if document < 4 else -0.29),
            holdout("generated", 40, steady(0.0)),
        ]
    )
    assert verdict["holdouts"]["own"]["difference"] > 0
    assert verdict["passed"] is False


def test_no_gain_does_not_pass_even_where_nothing_is_lost() -> None:
    verdict = judge([holdout("own", 10, steady(0.0)), holdout("generated", 40, steady(0.02))])
    assert verdict["passed"] is False
    assert "did not rise" in verdict["sentence"]


@pytest.mark.parametrize(
    ("own", "generated", "taught", "passes"),
    [
        (0.0, 0.0, 0.2, True),
        (0.1, -0.005, 0.2, True),
        (-0.1, 0.0, 0.2, False),
        (0.1, -0.02, 0.2, False),
        (0.1, 0.0, 0.0, False),
    ],
)
def test_with_too_few_held_out_documents_it_must_have_learned_and_lost_nothing(
    own: float, generated: float, taught: float, passes: bool
) -> None:
    verdict = judge(
        [
            holdout("own", 3, steady(own)),
            holdout("generated", 40, steady(generated)),
            holdout("taught", 6, steady(taught)),
        ]
    )
    assert verdict["passed"] is passes
    assert "Only 3 of the 30 held-out documents needed have an answer to find" in verdict["sentence"]
    assert verdict["holdouts"]["own"]["judged"] is False


def test_thirty_held_out_documents_narrow_the_limit_and_are_not_called_few() -> None:
    few = judge([holdout("own", 29, steady(0.1)), holdout("generated", 40, steady(-0.03))])
    enough = judge([holdout("own", 30, steady(0.1)), holdout("generated", 40, steady(-0.03))])
    assert (few["passed"], enough["passed"]) == (True, False)
    assert (few["limit"], enough["limit"]) == (pytest.approx(-0.0207), -0.02)
    assert few["holdouts"]["generated"]["limit"] == -0.05 and enough["holdouts"]["generated"]["limit"] == -0.02
    assert "of the 30 held-out documents needed" in few["sentence"]
    assert "held-out documents needed" not in enough["sentence"]


def test_fewer_documents_widen_the_limit_but_a_sure_loss_always_fails() -> None:
    def mixed(document: int, question: int) -> float:
        return 0.2 if document % 3 else -0.25

    generated = holdout("generated", 40, steady(0.0))
    six, fifteen = judge([holdout("own", 6, mixed), generated]), judge([holdout("own", 15, mixed), generated])
    assert six["holdouts"]["own"]["low"] < -0.06 and six["holdouts"]["own"]["limit"] == pytest.approx(-0.1)
    assert fifteen["holdouts"]["own"]["limit"] == pytest.approx(-0.04)
    assert six["passed"] is True and "0.10 was allowed on them" in six["sentence"]
    lost = judge([holdout("own", 6, steady(-0.06)), generated])
    assert lost["passed"] is False and "on the held-out documents it lost 0.060" in lost["sentence"]


def test_a_slice_that_suffers_fails_though_the_mean_rises() -> None:
    pages = {f"{page}": f"{page}" for page in range(40)}

    def asked(keyed: float, keyless: float) -> list[Scored]:
        return [
            replace(scored(page, question, keyless if question == 0 else keyed), printed_key=question > 0)
            for page in pages
            for question in range(4)
        ]

    verdict = judge([Holdout("own", pages, asked(0.5, 0.5), asked(0.6, 0.35))])
    assert verdict["holdouts"]["own"]["difference"] > 0
    assert verdict["passed"] is False
    assert "no printed key" in verdict["sentence"]
    assert verdict["holdouts"]["own"]["slices"]["printed_key false"]["questions"] == 40


def test_a_slice_that_may_have_lost_by_chance_does_not_fail() -> None:
    rng = np.random.default_rng(3)
    pages = {f"{page}": f"{page}" for page in range(40)}
    luck = rng.normal(-0.03, 0.5, 40)  # of the questions without a printed key: a wide interval around a small loss

    def asked(keyed: float, lucky: bool) -> list[Scored]:
        return [
            replace(
                scored(page, question, 0.5 + float(luck[int(page)]) * lucky if question == 0 else keyed),
                printed_key=question > 0,
            )
            for page in pages
            for question in range(4)
        ]

    verdict = judge([Holdout("own", pages, asked(0.5, False), asked(0.65, True))])
    slice_ = verdict["holdouts"]["own"]["slices"]["printed_key false"]
    assert slice_["low"] < -0.1 and slice_["high"] > 0
    assert verdict["passed"] is True


def test_a_slice_of_few_documents_is_not_looked_at() -> None:
    verdict = judge([holdout("own", 9, steady(0.1)), holdout("generated", 40, steady(0.0))])
    assert verdict["holdouts"]["own"]["slices"] == {}
    assert "printed_key false" in verdict["holdouts"]["generated"]["slices"]


@pytest.mark.parametrize(("ratio", "passes"), [(1.2, True), (1.3, False)])
def test_a_slower_model_fails(ratio: float, passes: bool) -> None:
    pace = Latency(12, 20.0, 20.0 * ratio, ratio)
    verdict = judge([holdout("own", 30, steady(0.1)), holdout("generated", 40, steady(0.0))], latency=pace)
    assert verdict["passed"] is passes
    assert ("as long to answer" in verdict["sentence"]) is not passes
    assert verdict["latency"]["ratio"] == ratio


def test_saying_no_answer_less_often_where_there_is_none_fails() -> None:
    pages = {str(page): str(page) for page in range(20)}
    better = ([scored(page, 0, 0.5) for page in pages], [scored(page, 0, 0.7) for page in pages])
    absent = ([scored(page, 1, None, 0.1) for page in pages], [scored(page, 1, None, 0.8) for page in pages])
    verdict = judge([Holdout("own", pages, better[0] + absent[0], better[1] + absent[1])])
    assert verdict["holdouts"]["own"]["unanswerable"]["difference"] == -1.0
    assert verdict["passed"] is False
    assert "no answer" in verdict["sentence"]


def test_the_verdict_is_the_same_every_time() -> None:
    rng = np.random.default_rng(1)
    noise = rng.normal(0.02, 0.2, (12, 4))
    one = holdout("own", 12, lambda document, question: float(noise[document, question]))
    assert judge([one], seed=3) == judge([one], seed=3)


def test_answers_to_different_questions_are_not_compared() -> None:
    with pytest.raises(ValueError, match="same questions"):
        Holdout("own", {"p": "d"}, [scored("p", 1, 0.5)], [scored("p", 2, 0.5)])


def test_nothing_held_out_and_nothing_learned_does_not_pass() -> None:
    assert judge([])["passed"] is False


def unanswerable(name: str, documents: int) -> Holdout:
    """As many documents, each with a question that has no answer on its page."""
    pages = {f"{name} absent {number}": f"{name} absent document {number}" for number in range(documents)}
    asked = [scored(page, 1, None, answered=0.1) for page in pages]
    return Holdout(name, pages, asked, asked)


def test_a_project_without_an_answer_to_find_hears_so() -> None:
    verdict = judge([unanswerable("own", 10), unanswerable("taught", 10), holdout("generated", 40, steady(0.0))])
    assert verdict["passed"] is False
    assert "no accepted question has an answer to find" in verdict["sentence"]
    assert "trained on wrong" not in verdict["sentence"]
    assert "None of the 30 held-out documents needed has an answer to find" in verdict["sentence"]


def test_documents_without_an_answer_to_find_do_not_narrow_the_limit() -> None:
    four, others = holdout("own", 4, steady(0.1)), unanswerable("own", 36)
    own = Holdout(
        "own",
        {**four.documents, **others.documents},
        [*four.champion, *others.champion],
        [*four.challenger, *others.challenger],
    )
    verdict = judge([own, holdout("taught", 20, steady(0.1)), holdout("generated", 40, steady(0.0))])
    assert verdict["holdouts"]["generated"]["limit"] == WIDE_LIMIT
    assert "Only 4 of the 30 held-out documents needed have an answer to find" in verdict["sentence"]
    assert (verdict["holdouts"]["own"]["documents"], verdict["holdouts"]["own"]["with_answers"]) == (40, 4)


def test_too_few_documents_for_folds_are_not_said_to_have_no_answers() -> None:
    verdict = judge([holdout("taught", 3, steady(0.1)), holdout("generated", 40, steady(0.0))])
    assert "No document could be asked of weights that had not learned from it" in verdict["sentence"]


def test_refitted_weights_are_used_without_a_gain_but_not_after_a_loss() -> None:
    same = check([holdout("generated", 40, steady(0.0)), holdout("taught", 20, steady(0.0))])
    assert same["passed"] is True and same["objections"] == []
    forgetful = check([holdout("generated", 40, steady(-0.08)), holdout("taught", 20, steady(0.1))])
    assert forgetful["passed"] is False and "on generated pages" in forgetful["objections"][0]
    half = [holdout("generated", 40, steady(-0.03)), holdout("taught", 20, steady(0.1))]
    assert check(half)["passed"] is True, "few own documents: the limit is wide"
    assert check(half, own=30)["passed"] is False, "as for the verdict"
    dull = check([holdout("generated", 40, steady(0.0)), holdout("taught", 20, steady(-0.1))])
    assert dull["passed"] is False and "fell by 0.100 on the training answers" in dull["objections"][0]
    chance = check([holdout("generated", 40, steady(0.0)), holdout("taught", 20, lambda one, _: 0.2 * (-1) ** one)])
    assert chance["passed"] is True


def typed_holdout(kind: FieldType, before: float, after: float, documents: int = 12) -> Holdout:
    """Own documents with a better IoU, whose values are right with these shares before and after."""

    def with_values(score: Scored, share: float) -> Scored:
        right = float(int(score.question_id) < share * 4)
        agreement = ValueAgreement(kind, right, right, right)
        return replace(score, values=JudgedValues(agreement, agreement))

    own = holdout("own", documents, steady(0.1))
    return replace(
        own,
        champion=[with_values(score, before) for score in own.champion],
        challenger=[with_values(score, after) for score in own.challenger],
    )


def test_a_challenger_that_reads_fewer_values_right_does_not_pass_though_its_marks_are_better() -> None:
    worse, same = judge([typed_holdout(FieldType.DATE, 0.75, 0.5)]), judge([typed_holdout(FieldType.DATE, 0.75, 0.75)])
    assert worse["passed"] is False
    assert "on the held-out documents it reads fewer values right (75% before, 50% now)" in worse["sentence"]
    values = worse["holdouts"]["own"]["values"]
    assert values["value_equal"]["difference"] == -0.25 and values["typed"]["judged"] is True
    assert worse["holdouts"]["own"]["challenger"]["value_equal"] == 0.5
    assert same["passed"] is True and "75% of the values were right before, 75% are now" in same["sentence"]


def test_texts_and_few_typed_values_are_shown_and_judge_nothing() -> None:
    texts, few = (
        judge([typed_holdout(FieldType.STRING, 0.75, 0.5)]),
        judge([typed_holdout(FieldType.DATE, 0.75, 0.5, documents=7)]),
    )
    assert texts["passed"] is True and texts["holdouts"]["own"]["values"]["typed"]["questions"] == 0
    assert few["passed"] is True and few["holdouts"]["own"]["values"]["typed"]["judged"] is False
    assert "values" not in judge([holdout("own", 12, steady(0.1))])["holdouts"]["own"]
