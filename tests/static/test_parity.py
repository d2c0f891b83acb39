"""The page's scripts and the server do the same to masks and to words: edits wait in the browser for the network."""

import json
import random
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import TypeAdapter

from engine.annotation.word_list import ListedWord, WordChange, WordList
from engine.annotation.words import as_lists
from model.masks import decode_patch, encode_patch
from tests.conftest import needed

HEIGHT, WIDTH = 37, 53


def in_node(given: dict[str, Any]) -> Any:
    """Return what tests/static/parity.js makes of it."""
    node = shutil.which("node")
    if node is None:
        needed("The page's scripts need Node.js to run without a browser.")
    script = Path(__file__).with_name("parity.js")
    done = subprocess.run([node, script], input=json.dumps(given), capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def masks() -> list[np.ndarray]:
    rng = np.random.default_rng(7)
    noise = [rng.random((HEIGHT, WIDTH)) < share for share in (0.02, 0.5, 0.98)]
    corner, edges = np.zeros((2, HEIGHT, WIDTH), dtype=bool)
    corner[-1, -1] = True
    edges[:, [0, -1]] = True
    return [*noise, corner, edges, np.zeros((HEIGHT, WIDTH), dtype=bool), np.ones((HEIGHT, WIDTH), dtype=bool)]


def test_browser_and_server_write_and_read_a_mask_the_same_way() -> None:
    given = [{"width": WIDTH, "height": HEIGHT, "patch": encode_patch(mask)} for mask in masks()]
    answers = in_node({"masks": given, "pages": []})["masks"]
    for mask, sent, answer in zip(masks(), given, answers, strict=True):
        assert answer["patch"] == sent["patch"]
        assert (np.array(answer["pixels"], dtype=bool).reshape(mask.shape) == mask).all()
        assert (decode_patch(answer["patch"], mask.shape) == mask).all()


def random_edit(rng: random.Random, words: list[ListedWord]) -> dict[str, Any]:
    live, retired = [word for word in words if not word.retired], [word for word in words if word.retired]
    one = rng.choice(live)
    x0, y0, x1, y1 = one.box
    middle = (x0 + x1) // 2
    parts = [{"text": "a", "box": [x0, y0, middle, y1]}, {"text": "שלום", "box": [middle, y0, x1, y1]}]
    left, top = rng.randrange(0, 900), rng.randrange(0, 1000)
    kinds: list[dict[str, Any]] = [
        {"op": "text", "number": one.number, "text": rng.choice(["Summe", "مجموع", "12.50"])},
        {"op": "text", "number": one.number, "text": one.text, "doubtful": one.doubtful},
        {"op": "add", "text": rng.choice(["neu", "חדש", "7"]), "box": [left, top, left + 60, top + 22]},
    ]
    if x1 - x0 >= 4:
        kinds.append({"op": "split", "number": one.number, "parts": parts})
    if len(live) > 12:
        kinds += [
            {"op": "merge", "numbers": [word.number for word in rng.sample(live, 3)]},
            {"op": "remove", "number": one.number},
        ]
    if retired:
        instead = [word.number for word in rng.sample(live, 1)] if len(live) > 12 else []
        kinds.append({"op": "restore", "numbers": [rng.choice(retired).number], "instead": instead})
    return rng.choice(kinds)


def test_browser_and_server_fix_words_the_same_way() -> None:
    one_change: TypeAdapter[WordChange] = TypeAdapter(WordChange)
    given, expected = [], []
    for seed in range(6):
        rng = random.Random(seed)
        boxes = [(90 * (at % 8), 60 * (at // 8), 90 * (at % 8) + 70, 60 * (at // 8) + 24) for at in range(40)]
        texts = ["שלום" if at // 8 == 2 else f"w{at}" for at in range(40)]
        words = [
            ListedWord(at, at // 8, text, box, confidence=(None, 0.4, 0.99)[at % 3])
            for at, (text, box) in enumerate(zip(texts, boxes, strict=True))
        ]
        page = WordList(words, (1000, 1100))
        before = as_lists(page.words, 0)
        edits = []
        for _ in range(80):
            edits.append(random_edit(rng, page.words))
            page.apply([one_change.validate_python(edits[-1])])
        given.append({"words": before, "edits": edits})
        expected.append(json.loads(json.dumps(as_lists(page.words, 80))))
    assert in_node({"masks": [], "pages": given})["pages"] == expected
