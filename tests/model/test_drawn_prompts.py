"""What an asker shows is drawn where it was shown."""

import numpy as np
import torch

from model.drawn_prompts import DRAWN, MASK_STRIDE, drawn_prompt, shows_a_place
from model.examples import Prompt

SIZE, SIDE = (600, 800), 128  # the page's width and height; pixels that its long side is scaled to
GRID = (SIDE // MASK_STRIDE, 96 // MASK_STRIDE)  # rows and columns: 32 x 24 cells of 25 pixels of the page


def test_a_question_alone_shows_no_place():
    assert not shows_a_place(Prompt("total"))
    assert shows_a_place(Prompt("", points=((1.0, 1.0, False),)))
    assert shows_a_place(Prompt("", box=(0, 0, 5, 5)))
    assert shows_a_place(Prompt("", mask=np.zeros(SIZE[::-1], bool)))


def test_clicks_are_disks_around_their_cell_one_map_for_each_sign():
    maps = drawn_prompt(Prompt("", points=((312.5, 412.5, True), (12.5, 12.5, False))), SIZE, GRID, SIDE)
    assert maps.shape == (DRAWN, *GRID)
    rows, columns = maps[1].nonzero(as_tuple=True)
    assert {(row - 16, column - 12) for row, column in zip(rows.tolist(), columns.tolist(), strict=True)} == {
        (down, across) for down in (-1, 0, 1) for across in (-1, 0, 1)
    }
    assert maps[2].nonzero().tolist() == [[0, 0], [0, 1], [1, 0], [1, 1]]  # cut at the corner
    assert not maps[0].any() and not maps[3].any()


def test_a_click_at_the_very_edge_is_drawn():
    assert drawn_prompt(Prompt("", points=((599.9, 799.9, True),)), SIZE, GRID, SIDE)[1].any()


def test_a_box_covers_its_cells_by_their_share():
    box = drawn_prompt(Prompt("", box=(25, 50, 62, 100)), SIZE, GRID, SIDE)[3]
    assert torch.allclose(box[2:4, 1:3], torch.tensor([[1.0, 0.48], [1.0, 0.48]]), atol=1e-5)
    assert float(box.sum()) == float(box[2:4, 1:3].sum())


def test_an_earlier_mask_is_shrunk_to_the_grid():
    mask = np.zeros(SIZE[::-1], bool)
    mask[100:150, 200:225] = True
    drawn = drawn_prompt(Prompt("", mask=mask), SIZE, GRID, SIDE)[0]
    assert drawn[4:6, 8].tolist() == [1, 1] and float(drawn.sum()) == 2
