"""Sources of training give the same examples from background processes."""

import pytest

from engine.training.sources.examples import mixed_source, synthetic_source
from model.examples import Example, Source
from model.prefetch import BLOCK, prefetch


def alike(one: Example, other: Example) -> bool:
    images = [None if example.image is None else example.image.tobytes() for example in (one, other)]
    same = (one.words, one.size, images[0]) == (other.words, other.size, images[1])
    texts = [[(asked.text, asked.answers, asked.prompt) for asked in example.questions] for example in (one, other)]
    masks = [[mask.tobytes() for asked in example.questions for mask in asked.masks] for example in (one, other)]
    return same and texts[0] == texts[1] and masks[0] == masks[1]


@pytest.mark.parametrize("stride", [1, 2])
def test_generated_pages_made_ahead_are_those_made_at_once(stride: int) -> None:
    def source() -> Source:
        rendered = synthetic_source(4, pages=1, questions=4, regions=0.3, images=True)
        return mixed_source(synthetic_source(3, pages=2, questions=4), rendered, 0.1, 5)

    plain, steps = source(), range(0, stride * (BLOCK + 2), stride)
    with prefetch(source(), 2, stride) as ahead:
        for step in steps:
            expected, found = plain(step), ahead(step)
            assert len(expected) == len(found) and all(map(alike, expected, found))
