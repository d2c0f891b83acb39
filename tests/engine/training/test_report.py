"""The report of an evaluation: what it calls wrong, which answers it shows, and the page itself."""

import base64
import io
import re
from collections import Counter
from html.parser import HTMLParser

import numpy as np
import pytest
from PIL import Image

from engine.grounded import GroundedPage, GroundedQuestion, GroundedWord
from engine.training.evaluation.evaluate import Answered, Evaluation
from engine.training.evaluation.metrics import Scored, best_iou, best_word_f1
from engine.training.evaluation.report.failures import MOST, Failures, Kind, kind_of
from engine.training.evaluation.report.page import report_page
from engine.training.evaluation.report.pictures import area, crop_box, outline
from engine.training.evaluation.report.wording import format_difference, format_share, side_by_side
from model.inference import Answer
from model.masks import Mask, rasterise

SIZE = (400, 600)  # height, width
BOXES = [(20 + 90 * (at % 6), 20 + 40 * (at // 6), 90 + 90 * (at % 6), 40 + 40 * (at // 6)) for at in range(36)]


def mask(*words: int) -> Mask:
    return rasterise([BOXES[at] for at in words], SIZE)


def answered(
    gold: list[int],
    marked: list[int],
    *,
    sure: float = 0.9,
    page_id: str = "p",
    question: str = "Which?",
    text: str = "word",
    predicted: float = 0.8,
) -> Answered:
    """An answer of word indices, and the same in what an evaluation makes of it."""
    page = GroundedPage(
        page_id, None, SIZE[1], SIZE[0], [GroundedWord(f"{text}{at}", box) for at, box in enumerate(BOXES)], []
    )
    asked = GroundedQuestion(f"{page_id}-q", question, [gold] if gold else [])
    acceptable = [mask(*gold)] if gold else []
    said = mask(*marked)
    scored = Scored(
        page_id=page_id,
        question_id=asked.question_id,
        answerable=bool(gold),
        printed_key=True,
        iou=best_iou(said, acceptable),
        word_iou=best_iou(said, acceptable),
        pixel_iou=0.0,
        baseline_iou=0.0,
        answered=sure,
        predicted_iou=predicted,
        milliseconds=1.0,
        word_f1=best_word_f1(marked, asked.answers),
        baseline_word_f1=best_word_f1([], asked.answers),
    )
    answer = Answer(said, marked, " ".join(f"{text}{at}" for at in marked), predicted, sure, said, mask())
    return Answered(page, asked, answer, mask(0), acceptable, scored)


@pytest.mark.parametrize(
    ("gold", "marked", "sure", "kind"),
    [
        ([1, 2], [7, 8], 0.9, Kind.MISSED),
        ([1, 2], [], 0.9, Kind.MISSED),
        ([1, 2], [1, 2, 3], 0.9, Kind.TOO_MUCH),
        ([1, 2], [2], 0.9, Kind.TOO_LITTLE),
        ([1, 2], [2, 3], 0.9, Kind.BOTH),
        ([1, 2], [1, 2], 0.9, None),
        ([1, 2], [1, 2], 0.3, Kind.NOT_HERE),
        ([], [3], 0.7, Kind.INVENTED),
        ([], [3], 0.3, None),
    ],
)
def test_the_kind_of_failure_follows_from_the_masks(
    gold: list[int], marked: list[int], sure: float, kind: Kind | None
) -> None:
    one = answered(gold, marked, sure=sure)
    assert kind_of(one.scored, one.answer.mask, mask(*gold) if gold else None) is kind


def test_a_word_too_many_counts_however_small_and_the_edge_of_a_region_does_not() -> None:
    region = rasterise([(100, 100, 300, 300)], SIZE)
    nearly = rasterise([(102, 98, 302, 298)], SIZE)
    of_words = answered([1], [1, 2]).scored
    of_regions = Scored(**{name: getattr(of_words, name) for name in of_words.__slots__} | {"word_f1": None})
    assert kind_of(of_regions, nearly, region) is None
    assert kind_of(of_words, nearly, region) is Kind.BOTH
    assert kind_of(of_regions, rasterise([(100, 100, 300, 360)], SIZE), region) is Kind.TOO_MUCH


def test_every_kind_gets_its_turn_and_every_page_within_it() -> None:
    failures = Failures(most=7)
    for number in range(30):
        failures.add(answered([1], [9], page_id="crowded", predicted=number / 30))
    failures.add(answered([1], [9], page_id="lonely", predicted=0.0))
    for number in range(3):
        failures.add(answered([1, 2], [1], page_id=f"{number}"))
    failures.add(answered([1, 2], [1, 2]))  # right
    assert failures.counts == {Kind.MISSED: 31, Kind.TOO_LITTLE: 3}
    worst = failures.worst()
    assert {kind: len(shown) for kind, shown in worst.items()} == {Kind.MISSED: 4, Kind.TOO_LITTLE: 3}
    assert [one.page.page_id for one in worst[Kind.MISSED]] == ["crowded", "lonely", "crowded", "crowded"]
    assert worst[Kind.MISSED][0].scored.predicted_iou == pytest.approx(29 / 30)  # the surest of those wrong by as much


def painted(path: str, size: tuple[int, int]) -> Mask:
    """The mask that a path of rectangles fills, read from the path."""
    found = np.zeros(size, bool)
    for x0, y, x1, height in re.findall(r"M(\d+) (\d+)H(\d+)v(\d+)H\d+z", path):
        found[int(y) : int(y) + int(height), int(x0) : int(x1)] = True
    return found


def test_a_mask_is_drawn_as_it_is() -> None:
    rng = np.random.default_rng(0)
    blobs = [rng.random((20, 30)) < 0.4, rasterise([(2, 3, 9, 8), (5, 6, 20, 12)], (20, 30)), np.ones((20, 30), bool)]
    for one in blobs:
        assert np.array_equal(painted(area(one), one.shape), one)
        border = outline(one)
        length = sum(int(x1) - int(x0) for x0, x1 in re.findall(r"M(\d+) \d+H(\d+)", border))
        length += sum(int(y1) - int(y0) for y0, y1 in re.findall(r"M\d+ (\d+)V(\d+)", border))
        inside = np.pad(one, 1)
        assert length == sum(int((inside != np.roll(inside, 1, axis)).sum()) for axis in (0, 1))
    assert area(np.zeros((5, 5), bool)) == outline(np.zeros((5, 5), bool)) == ""


@pytest.mark.parametrize(("gold", "marked"), [([0], [1]), ([35], [34]), ([14], [15]), ([0], [35])])
def test_a_crop_holds_answer_and_mark_and_stays_on_the_page(gold: list[int], marked: list[int]) -> None:
    failures = Failures()
    failures.add(answered(gold, marked))
    ((failure,),) = failures.worst().values()
    x0, y0, x1, y1 = crop_box(failure)
    assert min(x0, y0) >= 0 and x1 <= SIZE[1] and y1 <= SIZE[0]
    for box in (BOXES[gold[0]], BOXES[marked[0]]):
        assert x0 <= box[0] and y0 <= box[1] and box[2] <= x1 and box[3] <= y1
    if (gold, marked) != ([0], [35]):
        assert (x1 - x0) * (y1 - y0) < 0.5 * SIZE[0] * SIZE[1]


class Reader(HTMLParser):
    """Tags, text and attributes of a page; an end without a beginning is an error."""

    EMPTY = frozenset({"meta", "input", "br", "!doctype"})

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: Counter[str] = Counter()
        self.attributes: list[tuple[str, str]] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags[tag] += 1
        self.attributes += [(name, value or "") for name, value in attrs]
        if tag not in self.EMPTY:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags[tag] += 1
        self.attributes += [(name, value or "") for name, value in attrs]

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] != "style":
            self.text += data


def page_of(answers: list[Answered], image: Image.Image | None = None) -> tuple[str, Reader]:
    failures = Failures()
    for one in answers:
        failures.add(one)
    scored = tuple(one.scored for one in answers)
    answer = {**Evaluation("0123456789abcdef", 3, (1.0,), scored).to_json(), "noise": 0.06, "drop": 0.0, "ocr": False}
    html = report_page("A set <of> pages", answer, scored, failures, images_from=lambda _: image)
    reader = Reader()
    reader.feed(html)
    reader.close()
    assert reader.open == []
    return html, reader


def test_a_page_shows_no_more_than_forty_failures_and_counts_them_all() -> None:
    html, reader = page_of([answered([1], [9], page_id=str(at), question=f"Question {at}?") for at in range(60)])
    assert MOST == 40
    assert reader.tags["article"] == reader.tags["image"] == 40
    assert "The worst 40 of 60." in reader.text
    assert "6% of characters misread" in reader.text
    assert len(html) < 2_000_000


def test_what_the_documents_say_is_text_and_never_markup() -> None:
    evil = "<script>alert('x')</script><img src=https://example.org/x.png> \" & $name"
    html, reader = page_of([answered([1], [9], page_id=evil, question=evil, text=evil)])
    assert reader.tags["script"] == reader.tags["img"] == 0
    assert reader.text.count(evil) >= 3
    assert "A set <of> pages" in reader.text
    assert html.count("<script") == 0


def test_the_page_loads_nothing_from_elsewhere() -> None:
    html, reader = page_of([answered([1], [9]), answered([], [2])])
    links = [value for name, value in reader.attributes if name in ("href", "src", "xlink:href", "action", "data")]
    assert links
    assert all(value.startswith(("data:image/jpeg;base64,", "#")) for value in links)
    assert "default-src 'none'" in html
    assert not re.search(r"url\(|@import|https?:", html)


def test_pictures_are_crops_of_the_page_and_pages_without_image_are_drawn() -> None:
    red = Image.new("RGB", (SIZE[1], SIZE[0]), (200, 30, 30))
    for image, dark in ((red, True), (None, False)):
        html, _ = page_of([answered([1], [9])], image)
        found = re.search(r"data:image/jpeg;base64,([^\"]+)", html)
        assert found is not None
        with Image.open(io.BytesIO(base64.b64decode(found[1]))) as shown:
            assert shown.format == "JPEG"
            blue = np.asarray(shown)[..., 2].mean()
        assert bool(blue < 60) is dark


def test_a_set_without_failures_or_without_questions_is_a_page_too() -> None:
    for answers in ([answered([1], [1])], []):
        _, reader = page_of(answers)
        assert "No answer was wrong." in reader.text
        assert reader.tags["article"] == 0


def test_figures_are_written_briefly() -> None:
    assert [format_share(value) for value in (0.6384, 1.0, 0.0, -0.0001, None)] == [
        ".638",
        "1.000",
        ".000",
        ".000",
        "-",
    ]
    assert [format_difference(value, 2) for value in (0.057, -0.01, 0.0, None)] == ["+.06", "-.01", "+.00", "-"]
    figures = {
        "mean_iou": 0.638,
        "floor_mean_iou": 0.581,
        "interval": {"mean_iou": [0.61, 0.664], "floor_mean_iou": None},
    }
    assert side_by_side(figures, "mean_iou") == (".638 (.61 - .66)", ".581", "+.057")
