"""How much generated pages are like real ones, in figures: python -m tests.benchmarks.synthetic_likeness KIND=SET [KIND=SET ...]

For every pair, as form=data/forms, the generated kind beside the real set (grounded format): how the lexical baseline fares, how long answers are,
where they stand to what looks like the key, how wide gaps are. Lengths in line heights; three numbers are the 25th, 50th and
90th percentile.
"""

import argparse
import re
from collections import Counter
from collections.abc import Iterable
from itertools import islice, pairwise
from pathlib import Path

import numpy as np

from engine.grounded import GroundedPage, GroundedQuestion, pages_file, read_pages
from engine.synthetic import KINDS, generate_kind
from engine.training.evaluation import lexical_baseline
from engine.training.evaluation.metrics import HIT, best_iou
from model.anchors import find_anchors
from model.examples import Word
from model.layout import Layout, read_layout
from model.masks import rasterise
from model.vocabulary import words_of
from tests.benchmarks.markdown import table

_SEEN = 0.3  # share of the question that a run must cover to be taken for its key


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pairs", nargs="+", metavar="KIND=SET", help=f"kinds: {', '.join(KINDS)}")
    parser.add_argument("--pages", type=int, default=150)
    parser.add_argument("--seed", type=int, default=77)
    chosen = parser.parse_args()
    columns: dict[str, dict[str, str]] = {}
    for pair in chosen.pairs:
        kind, _, folder = pair.partition("=")
        made = (one.page for one in generate_kind(kind, chosen.seed))
        columns[f"generated {kind}"] = figures(islice(made, chosen.pages))
        columns[f"real {Path(folder).name}"] = figures(islice(read_pages(pages_file(Path(folder))), chosen.pages))
    names = dict.fromkeys(name for column in columns.values() for name in column)
    rows = [[name, *(column.get(name, "-") for column in columns.values())] for name in names]
    print(table(["", *columns], rows))


def figures(pages: Iterable[GroundedPage]) -> dict[str, str]:
    """The figures of one column."""
    seen: dict[str, list[float]] = {}
    places: Counter[str] = Counter()
    for page in pages:
        layout = read_layout([Word(word.text, word.box) for word in page.words])
        prepared = lexical_baseline.prepare(page.words)
        note(seen, "words a page", len(page.words))
        note(seen, "page width", page.width / layout.height)
        for question in page.questions:
            if question.answers:
                _note_answer(seen, page, layout, question, prepared)
                places[place_of(layout, question)] += 1
    shown = {name: " ".join(f"{value:.3g}" for value in np.percentile(values, (25, 50, 90)))
             for name, values in seen.items() if not name.startswith("share")}  # fmt: skip
    shares = {
        name.removeprefix("share: "): f"{np.mean(values):.3f}" for name, values in seen.items() if name not in shown
    }
    total = places.total()
    return shown | shares | {f"answer {name}": f"{count / total:.2f}" for name, count in sorted(places.items())}


def note(seen: dict[str, list[float]], name: str, value: float) -> None:
    seen.setdefault(name, []).append(float(value))


def _note_answer(
    seen: dict[str, list[float]],
    page: GroundedPage,
    layout: Layout,
    question: GroundedQuestion,
    prepared: lexical_baseline.BaselinePage,
) -> None:
    answer = sorted(question.answers[0], key=lambda at: layout.rank[at])
    size = (page.height, page.width)
    acceptable = [rasterise([page.words[at].box for at in one], size) for one in question.answers]
    by_baseline = rasterise([page.words[at].box for at in lexical_baseline.predict(prepared, question.question)], size)
    note(seen, "share: baseline acc@.5", best_iou(by_baseline, acceptable) > HIT)
    note(seen, "share: answers of one word", len(answer) == 1)
    note(seen, "share: answers of nine and more", len(answer) > 8)
    note(seen, "share: answers in one segment", len({int(layout.segment[at]) for at in answer}) == 1)
    note(seen, "share: answers on one line", len({int(layout.line[at]) for at in answer}) == 1)
    note(seen, "share: answers with figures", any(re.search(r"\d", page.words[at].text) for at in answer))
    for left, right in pairwise(answer):
        if layout.line[left] == layout.line[right] and layout.rank[right] == layout.rank[left] + 1:
            note(seen, "gap within an answer", layout.boxes[right, 0] - layout.boxes[left, 2])
    if (before := neighbour(layout, answer[0], -1)) is not None:
        note(seen, "gap before", layout.boxes[answer[0], 0] - layout.boxes[before, 2])
        note(seen, "share: a colon before", page.words[before].text.endswith(":"))
    if (after := neighbour(layout, answer[-1], 1)) is not None:
        note(seen, "gap behind", layout.boxes[after, 0] - layout.boxes[answer[-1], 2])


def neighbour(layout: Layout, word: int, step: int) -> int | None:
    """The next word on the line of a word, to the left (-1) or right (1)."""
    at = int(layout.rank[word]) + step
    if not 0 <= at < len(layout.order) or layout.line[layout.order[at]] != layout.line[word]:
        return None
    return int(layout.order[at])


def place_of(layout: Layout, question: GroundedQuestion) -> str:
    """Where the answer stands, seen from the words that look most like its key."""
    x0, y0, x1, y1, cover = find_anchors(layout, words_of(question.question, 40)).runs[0].tolist()
    if cover < _SEEN:
        return "without a printed key"
    boxes = layout.boxes[list(question.answers[0])]
    left, top, right = boxes[:, 0].min(), boxes[:, 1].min(), boxes[:, 2].max()
    if abs((boxes[0, 1] + boxes[0, 3] - y0 - y1) / 2) < 0.7:
        return "right of its key" if left >= x1 - 0.5 else "elsewhere on its line"
    if top > (y0 + y1) / 2:
        return "below its key" if min(right, x1) > max(left, x0) else "below and beside"
    return "above its key"


if __name__ == "__main__":
    main()
