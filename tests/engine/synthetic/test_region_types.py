"""Generated pages say what stands where."""

from collections import Counter
from itertools import islice

import numpy as np

from engine.synthetic import generate, generate_kind
from engine.synthetic.region_types import REGION_TYPES, typed_regions


def test_every_type_of_region_occurs_and_lies_on_its_page() -> None:
    counted: Counter[str] = Counter()
    for made in islice(generate(1), 80):
        for region in typed_regions(made):
            counted[region.kind] += 1
            x0, y0, x1, y1 = region.box
            assert x0 < x1 and y0 < y1 and x0 < made.page.width and y0 < made.page.height and x1 > 0 and y1 > 0
    assert set(counted) == set(REGION_TYPES)
    assert all(counted[kind] > 20 for kind in REGION_TYPES), counted


def test_answers_of_fields_are_values_and_their_keys_stand_elsewhere() -> None:
    """Of what a memo's head is asked for by its printed key, all is a value."""
    values = keys = 0
    for made in islice(generate_kind("invoice", 3), 30):
        kinds = {word: region.kind for region in typed_regions(made) for word in region.words}
        asked = [question for question in made.page.questions if question.printed_key and question.answers]
        for question in asked:
            found = Counter(kinds.get(word, "none") for word in question.answers[0])
            values += found["value"] + found["cell"]
            keys += found["key"] + found["heading"]
    assert values > 300 and keys < 0.05 * values


def test_cells_stand_in_tables_and_headings_are_larger_than_text() -> None:
    heights: dict[str, list[float]] = {"heading": [], "text": [], "cell": []}
    for made in islice(generate_kind("table", 2), 30):
        for region in typed_regions(made):
            if region.kind in heights:
                heights[region.kind].append((region.box[3] - region.box[1]) / made.canvas.face.size)
    assert np.median(heights["heading"]) > 1.1 * np.median(heights["text"])
    assert len(heights["cell"]) > 5 * len(heights["heading"])


def test_the_words_of_a_region_say_what_was_set_there() -> None:
    made = next(generate_kind("receipt", 4))
    regions = typed_regions(made)
    words = [word for region in regions for word in region.words]
    assert len(set(words)) == len(words) > 0.9 * len(made.page.words)
