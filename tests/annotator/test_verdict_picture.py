"""The picture of a verdict shows what the verdict says."""

import re

from annotator.ui.verdict import picture


def holdout(difference: float, low: float, high: float, judged: bool = True) -> dict[str, object]:
    return {
        "difference": difference, "low": low, "high": high, "limit": -0.05, "judged": judged,
        "parent": {"mean_iou": 0.5}, "challenger": {"mean_iou": 0.5 + difference},
    }  # fmt: skip


def test_every_judged_holdout_has_a_row_with_its_figures() -> None:
    drawn = picture(
        {
            "level": 0.9,
            "sentence": 'said "so"',
            "holdouts": {"recent": holdout(0.1, 0.02, 0.2), "generated": holdout(-0.02, -0.04, 0.01)},
        }
    )
    assert "0.500 → 0.600" in drawn and "0.500 → 0.480" in drawn
    assert drawn.count("<circle") == 2 and drawn.count("stroke-dasharray") == 2
    assert "90 % interval" in drawn and "&quot;so&quot;" in drawn


def test_what_was_learned_from_has_no_limit_for_it_judges_nothing() -> None:
    drawn = picture({"holdouts": {"recent": holdout(0.1, 0.02, 0.2), "taught": holdout(-0.1, -0.2, -0.02)}})
    assert drawn.count("<circle") == 2 and drawn.count("stroke-dasharray") == 1


def test_better_lies_right_of_zero_and_worse_left() -> None:
    drawn = picture({"holdouts": {"recent": holdout(0.1, 0.02, 0.2), "frozen": holdout(-0.1, -0.2, -0.02)}})
    line = re.search(r'<line x1="([\d.]+)"', drawn)
    assert line is not None
    zero = float(line.group(1))
    right, left = (float(at) for at in re.findall(r'<circle cx="([\d.]+)"', drawn))
    assert left < zero < right


def test_its_colours_are_those_of_the_page_so_that_they_follow_light_and_dark() -> None:
    drawn = picture({"holdouts": {"recent": holdout(0.1, 0.02, 0.2), "frozen": holdout(-0.1, -0.2, -0.02)}})
    assert "#" not in drawn and "fill: var(--g-good)" in drawn and "fill: var(--g-person-ink)" in drawn


def test_too_small_a_holdout_shows_no_limit_and_no_holdout_no_picture() -> None:
    assert "dasharray" not in picture({"holdouts": {"recent": holdout(0.1, 0.02, 0.2, judged=False)}})
    assert picture({}) == ""
    assert picture({"holdouts": {"recent": {"difference": None}}}) == ""


def test_values_of_own_documents_have_rows_and_their_limit_only_where_they_judge() -> None:
    def change(difference: float, judged: bool = False) -> dict[str, object]:
        return {"difference": difference, "low": -0.3, "high": -0.1, "limit": -0.02, "judged": judged}

    shares = {"value_equal": 0.75, "value_exact": 0.7, "value_anls": 0.8}
    own = holdout(0.1, 0.02, 0.2)
    own["parent"], own["challenger"] = ({"mean_iou": iou, **shares} for iou in (0.5, 0.6))
    typed = {"questions": 40, "parent": 0.9, "challenger": 0.7, **change(-0.2, judged=True)}
    values = {**dict.fromkeys(shares, change(-0.1)), "typed": typed, "questions": 60, "documents": 12}
    drawn = picture({"holdouts": {"own": {**own, "values": values}}})
    assert drawn.count("<circle") == 3 and drawn.count("stroke-dasharray") == 2
    assert "75% → 75%" in drawn and "90% → 70%" in drawn and "Values, ANLS" in drawn
    texts = {**values, "typed": {**typed, "questions": 0}}
    drawn = picture({"holdouts": {"own": {**own, "values": texts}}})
    assert drawn.count("<circle") == 2 and drawn.count("stroke-dasharray") == 1
