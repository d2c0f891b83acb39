import subprocess
import sys

import numpy as np
import pytest

from model.masks import decode_patch, encode_patch, is_encoded, rasterise, words_under


@pytest.mark.parametrize("density", [0.0, 0.02, 0.5, 0.98, 1.0])
def test_a_mask_survives_its_patch(density):
    rng = np.random.default_rng(int(density * 100))
    for height, width in ((1, 1), (1, 17), (23, 1), (40, 31)):
        mask = rng.random((height, width)) < density
        patch = encode_patch(mask)
        assert np.array_equal(decode_patch(patch, (height, width)), mask)
        x0, y0, x1, y1 = patch["box"]
        assert sum(patch["counts"]) == (x1 - x0) * (y1 - y0)


def test_the_patch_is_what_a_slow_reader_of_rows_would_write():
    mask = np.zeros((6, 7), dtype=bool)
    mask[2, 3:5] = mask[3, 2] = mask[4, 4] = True
    runs, value, length = [], False, 0
    for pixel in mask[2:5, 2:5].ravel().tolist():
        if pixel != value:
            runs.append(length)
            value, length = pixel, 0
        length += 1
    assert encode_patch(mask) == {"box": [2, 2, 5, 5], "counts": [*runs, length]}


def test_a_mask_that_starts_with_ones_has_a_leading_zero():
    assert encode_patch(np.ones((2, 3), dtype=bool)) == {"box": [0, 0, 3, 2], "counts": [0, 6]}


def test_whether_a_patch_is_as_it_would_be_written_is_told_without_pixels():
    rng = np.random.default_rng(7)
    found = []
    for _ in range(2000):
        width, height = rng.integers(1, 6, 2)
        cuts = np.sort(rng.integers(0, width * height + 1, rng.integers(0, 5)))
        counts = np.diff([0, *cuts, width * height]).tolist()
        patch = {"box": [2, 1, 2 + int(width), 1 + int(height)], "counts": counts}
        written = encode_patch(decode_patch(patch, (8, 8)))
        assert is_encoded(patch["box"], counts) is (written == patch)
        found.append(written == patch)
    assert 100 < sum(found) < 1900
    assert is_encoded([0, 0, 0, 0], [])


def test_the_empty_mask_has_one_form():
    patch = encode_patch(np.zeros((5, 5), dtype=bool))
    assert patch == {"box": [0, 0, 0, 0], "counts": []}
    assert not decode_patch(patch, (5, 5)).any()


def test_a_patch_holds_plain_integers():
    patch = encode_patch(np.eye(4, dtype=bool))
    assert all(type(value) is int for values in patch.values() for value in values)


@pytest.mark.parametrize(
    ("patch", "said"),
    [
        ({"box": [0, 0, 2, 2]}, "keys"),
        ([0, 0, 2, 2], "keys"),
        ({"box": [0, 0, 2, 2], "counts": [4], "extra": 1}, "keys"),
        ({"box": [0, 0, 2], "counts": [4]}, "4 integers"),
        ({"box": [0, 0, 2.0, 2], "counts": [4]}, "list of integers"),
        ({"box": [False, 0, 2, 2], "counts": [4]}, "list of integers"),
        ({"box": "0022", "counts": [4]}, "list of integers"),
        ({"box": [0, 0, 2, 2], "counts": [4.0]}, "list of integers"),
        ({"box": [0, 0, 2, 2], "counts": [True, 3]}, "list of integers"),
        ({"box": [0, 0, 2, 2], "counts": [3]}, "sum to 3"),
        ({"box": [0, 0, 2, 2], "counts": [6, -2]}, "negative"),
        ({"box": [0, 0, 12, 2], "counts": [24]}, "inside the page"),
        ({"box": [-1, 0, 1, 2], "counts": [4]}, "inside the page"),
        ({"box": [3, 3, 1, 1], "counts": [4]}, "inside the page"),
        ({"box": [1, 1, 2, 2], "counts": []}, "empty mask"),
        ({"box": [0, 0, 0, 0], "counts": [0]}, "inside the page"),
    ],
)
def test_a_malformed_patch_is_refused_with_a_sentence(patch, said):
    with pytest.raises(ValueError, match=said):
        decode_patch(patch, (10, 10))


def test_a_mask_needs_two_dimensions():
    with pytest.raises(ValueError, match="two dimensions"):
        encode_patch(np.zeros((2, 2, 2), dtype=bool))


def test_the_mask_of_words_is_the_union_of_their_boxes_cut_at_the_page():
    mask = rasterise([(1, 1, 3, 2), (2, 1, 4, 3), (8, 8, 20, 20), (-5, -5, 1, 1), (-4, 2, -1, 4)], (10, 10))
    expected = np.zeros((10, 10), dtype=bool)
    for x, y in [(1, 1), (2, 1), (3, 1), (2, 2), (3, 2), (8, 8), (9, 8), (8, 9), (9, 9), (0, 0)]:
        expected[y, x] = True
    assert np.array_equal(mask, expected)


def test_words_count_when_half_of_their_box_is_covered():
    mask = np.zeros((10, 10), dtype=bool)
    mask[0:4, 0:5] = True
    boxes = [(0, 0, 10, 2), (0, 0, 10, 9), (1, 1, 3, 3), (3, 3, 3, 8), (20, 20, 30, 30), (4, 0, 6, 4)]
    assert words_under(mask, boxes) == [0, 2, 5]


def test_masks_import_without_torch():
    code = "import model.masks, sys; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_torchvision_imports_beside_a_cpu_torch():
    assert subprocess.run([sys.executable, "-c", "import model, timm"], check=False).returncode == 0
