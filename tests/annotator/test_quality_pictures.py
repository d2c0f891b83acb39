"""The plots of the tab Quality: what they show, what they say, and that nothing in them breaks the page."""

import re
from datetime import UTC, date, datetime, timedelta
from typing import Any, cast
from xml.etree import ElementTree

from annotator.ui import plots, quality
from annotator.ui.label_plots import left_out, weights
from engine.annotation.agreement import Mean
from engine.datasets.snapshot_views import LeftOutLine, PersonWeight, SnapshotView
from engine.datasets.weights import Reliability
from engine.selection.stage_view import AuditView, PrecisionPoint, StageView
from engine.statistics.project_agreement import ProjectAgreement
from engine.statistics.queue_depth import QueueDepth
from engine.statistics.selection_gain import Choices, Finished, compare_choices
from engine.statistics.throughput import Figures, MasksADay, ModelFigures, PersonFigures

DAY = date(2026, 3, 2)


def pace(**more):  # type: ignore[no-untyped-def]
    return {
        "masks": 40,
        "timed": 40,
        "seconds_median": 20.0,
        "seconds_low": 15.0,
        "seconds_high": 26.0,
        "unchanged": 10,
        "unchanged_share": 0.25,
        "unchanged_low": 0.14,
        "unchanged_high": 0.4,
        **more,
    }


def some(people: int = 2, days: int = 7) -> Figures:
    names = [f"Person {at}" for at in range(people)]
    return Figures(
        first_day=DAY,
        last_day=DAY + timedelta(days=days - 1),
        as_of=datetime.now(UTC),
        masks_a_day=[MasksADay(day=DAY, person=name, masks=at + 1) for at, name in enumerate(names)],
        by_model=[
            ModelFigures(model="a", label="nano", **pace()),
            ModelFigures(model="b", label="v1", **pace(seconds_median=8.0, seconds_low=6.0, seconds_high=9.0)),
        ],
        people=[PersonFigures(person=name, **pace()) for name in names],
        queue=[QueueDepth(day=DAY + timedelta(days=at), open=at, submitted=3) for at in range(days)],
    )


def pictures(html: str) -> list[ElementTree.Element]:
    return [ElementTree.fromstring(svg) for svg in re.findall(r"<svg.*?</svg>", html, re.S)]


def test_every_plot_has_a_name_for_screen_readers_and_its_values_as_a_table() -> None:
    html = quality.draw(some())
    drawn = pictures(html)
    assert [svg.get("aria-label", "").split(".")[0] for svg in drawn] == [
        "Masks a day",
        "Seconds a mask",
        "Accepted unchanged",
        "Queue depth",
    ]
    assert all(svg.get("role") == "img" for svg in drawn)
    assert html.count("<details><summary>Values</summary>") == 4
    assert "8.0 s with v1, 20 s with nano" in html


def test_names_that_look_like_markup_are_shown_as_they_are() -> None:
    found = some()
    for row in (*found.masks_a_day, *found.people):
        cast(Any, row).person = '<img src=x onerror="alert(1)">'
    found.by_model[0].label = "<b>&"
    html = quality.draw(found)
    assert "<img" not in html and "<b>&" not in html
    pictures(html)  # still well-formed


def test_heights_of_stacked_bars_are_in_the_proportion_of_their_values() -> None:
    svg = pictures(quality.draw(some(3)))[0]
    heights = {each.get("class"): float(each.get("height", "0")) + 0.8 for each in svg if each.tag == "rect"}
    assert abs(heights["s0"] / heights["s2"] - 3) < 0.05  # most first: Person 2 with 3 masks, Person 0 with 1


def test_more_people_than_colours_are_drawn_together_and_none_is_lost() -> None:
    found = some(11)
    svg = pictures(quality.draw(found))[0]
    colours = {each.get("class") for each in svg if each.tag == "rect"}
    assert colours == {f"s{at}" for at in range(plots.SERIES)}
    hovers = [each.text or "" for each in svg.iter("title")]
    assert sum(int(re.findall(r", (\d+) masks", hover)[0]) for hover in hovers) == sum(
        row.masks for row in found.masks_a_day
    )
    assert any("others" in hover for hover in hovers)


def test_a_year_is_drawn_in_weeks() -> None:
    html = quality.draw(some(days=364))
    assert "Masks a week" in html


def test_nothing_is_drawn_outside_its_picture() -> None:
    found = some(days=90)
    found.by_model[0].seconds_high = 300.0
    for svg in pictures(quality.draw(found)):
        _, _, width, height = map(float, svg.get("viewBox", "").split())
        for each in svg.iter("rect"):
            x, y = float(each.get("x", 0)), float(each.get("y", 0))
            assert x >= 0 and y >= 0 and x + float(each.get("width", 0)) <= width + 0.5
            assert y + float(each.get("height", 0)) <= height + 0.5
        for each in svg.iter("circle"):
            assert 0 <= float(each.get("cy", 0)) <= height


def test_agreement_of_people_stands_beside_the_model_s() -> None:
    found = ProjectAgreement([], [], Mean(12, 0.91, 0.94), Mean(131, 0.78, 0.81))
    html = quality.draw(some(), found)
    svg = next(each for each in pictures(html) if "Agreement" in each.get("aria-label", ""))
    widths = [float(each.get("width", "0")) for each in svg.iter("rect")]
    assert abs(widths[1] / widths[0] - 0.78 / 0.91) < 0.01 and len(widths) == 4
    hovers = [each.text for each in svg.iter("title")]
    assert "IoU of the pixels, people: 0.910, 12 questions" in hovers
    assert "is the ceiling" in html
    assert "Agreement" not in quality.draw(some())  # for reviewers


def test_agreement_says_what_is_missing_for_it() -> None:
    nobody, nothing = ProjectAgreement([], [], Mean(0, None, None), Mean(9, 0.7, None)), Mean(0, None, None)
    html = quality.draw(some(), nobody)
    assert "once tasks overlap" in html and html.count("IoU of the pixels") > 0 and "F1 of the words" not in html
    assert "an overlap" in quality.draw(some(), ProjectAgreement([], [], nothing, nothing))


def stage(**more) -> StageView:  # type: ignore[no-untyped-def]
    points = [
        PrecisionPoint(
            threshold=at / 20, answers=400 - 15 * at, right=300, documents=60, precision=at / 20, low=at / 22
        )
        for at in range(10, 20)
    ]
    values = {
        "stage": "semi_automatic",
        "since": None,
        "reason": "",
        "changed_by": None,
        "model": "v3",
        "target": 0.95,
        "least_answers": 100,
        "measured_answers": 250,
        "measured_documents": 60,
        "points": points,
        "threshold": None,
        "blocked": "v3 has not reached the target of 95.0%.",
        "would_accept": 0,
        "automatic": 0,
        "confirmed": 0,
        "corrected": 0,
        "audit": AuditView(drawn=0, checked=0, right=0, low=0, high=1),
        "surveyed": 0,
        "tasks": 4,
    }
    return StageView(**{**values, **more})


def test_the_stage_says_where_it_stands_why_and_what_people_found() -> None:
    html = quality.draw(some(), stage=stage())
    assert "<li aria-current=step>Semi-automatic</li>" in html
    assert "v3 has not reached the target of 95.0%." in html and 'class="chosen"' not in html
    audit = AuditView(drawn=30, checked=20, right=19, low=0.76, high=0.99)
    more = stage(stage="automatic", threshold=0.9, blocked=None, would_accept=1, automatic=12, audit=audit)
    html = quality.draw(some(), stage=more)
    assert (
        "At confidence 0.90 and above, at least 95.0% are right. 1 open task lies above it." in html
        and 'class="chosen"' in html
    )
    assert "20 of 30" in html and "95% right (76% to 99%)" in html
    for svg in pictures(html):
        _, _, width, height = map(float, svg.get("viewBox", "").split())
        for each in svg.iter("circle"):
            assert 0 <= float(each.get("cx", 0)) <= width and 0 <= float(each.get("cy", 0)) <= height


def test_a_reason_that_looks_like_markup_is_shown_as_it_is() -> None:
    html = quality.draw(
        some(), stage=stage(since=datetime(2026, 3, 2, tzinfo=UTC), reason="<script>", changed_by="<b>Bo")
    )
    assert "<script>" not in html and "<b>Bo" not in html and "&lt;script&gt;" in html


def test_a_precision_that_was_not_measured_says_what_to_do() -> None:
    blank = [PrecisionPoint(threshold=0.5, answers=0, right=0, documents=0, precision=None, low=0)]
    html = quality.draw(
        some(), stage=stage(points=blank, blocked="The precision of v3 is not measured yet: run a survey.")
    )
    assert "The precision of v3 is not measured yet" in html


def test_corrections_a_page_say_whether_a_difference_is_sure() -> None:
    found = some()
    assert "Set the document order" in quality.draw(found, stage=stage())
    many, few = {Finished(1, 3): 10}, {Finished(1, 1): 10}
    found.choices = compare_choices({"model": many, "random": few})
    html = quality.draw(found, stage=stage())
    assert "+2.0 corrections a page compared with random documents (+2.0 to +2.0). The selection finds" in html
    assert "model: 3.0 (3.0 to 3.0), 10 documents" in html
    mixed = {Finished(2, 0): 5, Finished(1, 9): 5}
    found.choices = compare_choices({"model": mixed, "random": mixed})
    assert "not significant yet" in quality.draw(found, stage=stage())
    found.choices = compare_choices({"model": {Finished(1, 3): 3}, "random": {}})
    assert "needs finished documents of both kinds" in quality.draw(found, stage=stage())
    assert isinstance(found.choices, Choices) and found.choices.by[0].low is None


def test_where_there_is_nothing_a_sentence_says_what_to_do() -> None:
    bare = Figures(
        first_day=DAY, last_day=DAY, as_of=datetime.now(UTC), masks_a_day=[], by_model=[], people=[], queue=[]
    )
    assert "Accept answers on the tab Annotate" in quality.draw(bare)
    old = some()
    old.masks_a_day, old.people, old.queue = [], [], []
    old.by_model = [ModelFigures(model="a", label="nano", **pace(seconds_median=None, seconds_low=None, timed=0))]
    html = quality.draw(old)
    assert "Choose a longer period" in html and "No time has been measured yet" in html and "standard questions" in html


def test_colours_of_people_stay_apart_for_the_colour_blind() -> None:
    """Distances in Lab as people without red or green cones see them (Viénot, Brettel and Mollon 1999)."""
    from pathlib import Path

    css = Path(quality.__file__).parents[1].joinpath("static/css/quality.css").read_text()
    blocks = re.findall(r"\{ (--s0:[^}]*?)(?:;\n|; \})", css)
    assert len(blocks) == 2
    for block in blocks:
        colours = re.findall(r"#[0-9a-f]{6}", block)
        assert len(colours) == plots.SERIES
        for missing in ("none", "red", "green"):
            seen = [_lab(_seen(colour, missing)) for colour in colours[: plots.SERIES]]
            nearest = min(
                (sum((a - b) ** 2 for a, b in zip(one, other, strict=True)) ** 0.5, at, to)
                for at, one in enumerate(seen)
                for to, other in enumerate(seen[:at])
            )
            assert nearest[0] > 12, (missing, nearest, colours)


def _linear(colour: str) -> list[float]:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    return [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]


def _seen(colour: str, missing: str) -> list[float]:
    r, g, b = _linear(colour)
    if missing == "none":
        return [r, g, b]
    if missing == "red":
        return [0.11238 * r + 0.88762 * g, 0.11238 * r + 0.88762 * g, 0.00401 * r - 0.00401 * g + b]
    return [0.29275 * r + 0.70725 * g, 0.29275 * r + 0.70725 * g, -0.02234 * r + 0.02234 * g + b]


def _lab(rgb: list[float]) -> tuple[float, float, float]:
    r, g, b = rgb
    xyz = (
        (0.4124 * r + 0.3576 * g + 0.1805 * b) / 0.9505,
        0.2126 * r + 0.7152 * g + 0.0722 * b,
        (0.0193 * r + 0.1192 * g + 0.9505 * b) / 1.089,
    )
    x, y, z = (each ** (1 / 3) if each > 0.008856 else 7.787 * each + 16 / 116 for each in (max(v, 0.0) for v in xyz))
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def test_the_least_agreeing_person_comes_first_and_omissions_have_reasons() -> None:
    people = [
        Reliability("Mal", 0.14, 30, 0, "Mal agrees with others on 0% of 30 questions."),
        Reliability("Ann <b>", 0.97, 30, 4),
    ]
    left = LeftOutLine(
        annotation_id="a",
        document_id="d",
        document="bill & co.pdf",
        question="What is the <total>?",
        author="Mal",
        sentences=["It covers most of the page."],
    )
    snapshot = SnapshotView(
        id="s",
        sha256="0" * 64,
        splits=["train"],
        annotations=12,
        documents=4,
        left_out={"most_of_the_page": 1},
        reduced=2,
        weightless=0,
        created_at=datetime(2026, 3, 2, tzinfo=UTC),
        needed="",
        left_out_answers=1,
        left_out_labels=[left],
        people=[
            PersonWeight(person="Mal", labels=2, mean_weight=0.1, reliability=0.14, comparisons=30, gold_questions=0)
        ],
    )
    shown = weights(people, snapshot)
    assert (
        shown.index("Mal agrees with others on 0% of 30 questions.") < shown.index(">Mal<") < shown.index("Ann &lt;b")
    )
    assert ">0.10<" in shown
    shown = left_out(snapshot, "p")
    assert "12 answers included, 1 left out" in shown
    assert "What is the &lt;total&gt;?" in shown and "bill &amp; co.pdf" in shown
    assert "#project=p&amp;document=d&amp;annotation=a" in shown


def test_without_comparisons_or_snapshot_it_is_said_what_to_do() -> None:
    assert "Set an overlap" in weights([], None)
    assert "the first retraining creates one" in left_out(None, "p")


def test_no_two_ticks_of_an_axis_are_written_alike() -> None:
    for fastest in (0.12, 0.2, 0.9, 3.0, 41.0, 900.0):
        dots = [plots.Dot("nano", fastest, None, None, 4)]
        svg = pictures(plots.dots("Seconds", "By model.", dots, "{:.1f} s".format))[0]
        ticks = [each.text for each in svg if each.tag == "text" and each.get("text-anchor") == "end"]
        assert len(ticks) >= 3 and len(set(ticks)) == len(ticks), ticks
        assert all(str(each).endswith(" s") for each in ticks)
