"""Generated pages: seeded, of every kind, with exact boxes and answers that say what they should."""

import json
import subprocess
import sys
from collections import Counter
from functools import cache
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
from pycocotools import mask as coco

from engine.grounded import page_to_json, read_pages, write_pages
from engine.synthetic import KINDS, SyntheticPage, generate, generate_kind

PAGES = 40
DIGEST = """
import hashlib, json, sys
from itertools import islice
from engine.grounded import page_to_json
from engine.synthetic import generate
pages = [page_to_json(page.page) for page in islice(generate(int(sys.argv[1])), 12)]
print(hashlib.sha256(json.dumps(pages).encode()).hexdigest())
"""


@cache
def many(kind: str) -> list[SyntheticPage]:
    """Pages of a kind, for tests that change none of them: laying them out takes longer than looking at them."""
    return list(islice(generate_kind(kind, 5), 2 * PAGES))


def some(kind: str) -> list[SyntheticPage]:
    return many(kind)[:PAGES]


def digest(seed: int, hash_seed: str) -> str:
    command = [sys.executable, "-c", DIGEST, str(seed)]
    root = Path(__file__).parents[3]
    return subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=True,
        cwd=root,
        env={"PYTHONHASHSEED": hash_seed, "PYTHONPATH": str(root)},
    ).stdout


def test_the_same_seed_gives_the_same_corpus_in_every_process() -> None:
    assert digest(3, "1") == digest(3, "2")
    assert digest(3, "1") != digest(4, "1")


def test_a_page_depends_on_its_seed_and_number_alone() -> None:
    first = list(islice(generate(8), 6))
    again = generate(8)
    for _ in range(5):
        next(again).render()
    assert page_to_json(next(again).page) == page_to_json(first[5].page)


def test_a_corpus_mixes_all_kinds_and_forms_are_most_common() -> None:
    counted = Counter(page.kind for page in islice(generate(1), 160))
    assert set(counted) == set(KINDS)
    assert len(KINDS) == 10
    assert counted.most_common(1)[0][0] == "form"


def test_an_unknown_kind_is_refused_by_name() -> None:
    with pytest.raises(ValueError, match="'poem': choose one of form"):
        next(generate_kind("poem", 1))


@pytest.mark.parametrize("kind", KINDS)
def test_every_page_is_a_page_of_the_grounded_format(kind: str, tmp_path: Path) -> None:
    pages = [made.page for made in some(kind)]
    write_pages(tmp_path, ((page, None) for page in pages))
    assert list(read_pages(tmp_path)) == pages
    assert len({page.page_id for page in pages}) == len(pages)


@pytest.mark.parametrize("kind", KINDS)
def test_words_lie_on_the_page_and_do_not_cover_each_other(kind: str) -> None:
    covered = words = 0
    for made in some(kind):
        boxes = [piece.box(tight=True) for piece in made.canvas.pieces if piece.upright]
        words += len(boxes)
        for at, (x0, y0, x1, y1) in enumerate(boxes):
            assert x0 >= 0
            assert x1 <= made.page.width + 1
            for u0, v0, u1, v1 in boxes[:at]:
                shared = max(0.0, min(x1, u1) - max(x0, u0)) * max(0.0, min(y1, v1) - max(y0, v0))
                covered += shared > 0.25 * min((x1 - x0) * (y1 - y0), (u1 - u0) * (v1 - v0))
    assert covered < 0.002 * words


@pytest.mark.parametrize("kind", KINDS)
def test_about_one_question_in_seven_has_no_answer(kind: str) -> None:
    questions = [question for made in many(kind) for question in made.page.questions]
    share = sum(not question.answerable for question in questions) / len(questions)
    assert 0.1 < share < 0.21
    assert all(not question.printed_key for question in questions if not question.answerable)


def test_no_question_is_put_twice_on_a_page() -> None:
    for made in islice(generate(2), 60):
        put = [question.question.lower() for question in made.page.questions]
        assert len(put) == len(set(put))


def test_people_ask_in_many_ways() -> None:
    openings = Counter(
        " ".join(question.question.split()[:3]) for made in islice(generate(4), 150) for question in made.page.questions
    )
    assert sum(count >= 3 for count in openings.values()) > 40
    assert openings.most_common(1)[0][0] == "What is the"


def test_keys_are_not_learnt_by_heart() -> None:
    """Half of what two corpora ask for is asked in one of them only."""
    asked = [
        {question.question for made in islice(generate_kind("form", seed), 60) for question in made.page.questions}
        for seed in (1, 2)
    ]
    assert len(asked[0] & asked[1]) < 0.2 * len(asked[0])


def test_every_copy_of_the_total_of_a_receipt_is_accepted() -> None:
    checked = 0
    for made in some("receipt"):
        printed = [piece.text.lstrip("RM$€") for piece in made.canvas.pieces]
        for asked in made.canvas.asked:
            if asked.question == "What is the total amount?":
                (said,) = {printed[at] for answer in asked.answers for at in answer}
                assert len(asked.answers) == min(4, printed.count(said))
                checked += 1
    assert checked >= 5


def test_regions_answer_on_the_page_where_they_are_drawn() -> None:
    """A region differs from its surroundings in the picture, and lies inside the page."""
    kinds = set()
    for made in islice(generate(6), 60):
        regions = [question for question in made.page.questions if question.masks]
        if not regions:
            continue
        grey = np.asarray(made.render().convert("L"), np.float32)
        for question in regions:
            kinds.add(question.region_type)
            for rle in question.masks:
                mask = coco.decode({"size": rle["size"], "counts": rle["counts"].encode()}).astype(bool)
                assert mask.shape == grey.shape
                assert mask.sum() > 20
                if question.region_type in ("stamp", "barcode", "logo"):
                    assert grey[mask].std() > 4
    assert {"signature", "checkbox", "stamp"} <= kinds


def test_tables_are_asked_for_and_hold_their_cells() -> None:
    """Every cell of a table lies in an answer to the question for tables."""
    checked = 0
    for made in islice(generate(5), 120):
        asked = [question for question in made.page.questions if question.region_type == "table"]
        cells = [piece for piece in made.canvas.pieces if piece.role == "cell" and piece.drawn]
        if not asked or not cells:
            continue
        (question,) = asked
        whole = np.any([coco.decode({**rle, "counts": rle["counts"].encode()}) for rle in question.masks], axis=0)
        inside = [
            whole[
                min(int((box[1] + box[3]) / 2), whole.shape[0] - 1), min(int((box[0] + box[2]) / 2), whole.shape[1] - 1)
            ]
            for box in (piece.box(tight=False) for piece in cells)
        ]
        assert np.mean(inside) > 0.97
        checked += 1
    assert checked >= 5


def test_pages_can_be_stored_with_their_pictures(tmp_path: Path) -> None:
    made = list(islice(generate(9), 2))
    write_pages(tmp_path, ((page.page, page.render()) for page in made))
    stored = [json.loads(line) for line in (tmp_path / "pages.jsonl").read_text().splitlines()]
    assert all((tmp_path / page["image"]).is_file() for page in stored)
