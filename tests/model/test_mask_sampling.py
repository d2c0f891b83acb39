import random

import pytest
import torch

from model.objectives.mask_sampling import BlockShapes, draw_blocks, hide_units, page_cells


def two_pages():
    """A portrait page and a receipt on a grid of 16 x 12 cells, margins at the right."""
    return page_cells([(750, 1000), (300, 1000)], long_side=256, cell=16, grid=(16, 12))


def shape_of(cells, columns=12):
    """Rows and columns of the rectangle that cells span."""
    rows, sides = {cell // columns for cell in cells}, {cell % columns for cell in cells}
    return max(rows) - min(rows) + 1, max(sides) - min(sides) + 1


def test_the_margin_is_not_page():
    page = two_pages()
    assert page[0].all() and page[1, :, :5].all() and not page[1, :, 5:].any()  # 77 of 80 pixels are page


def test_a_page_of_one_pixel_has_a_cell():
    assert page_cells([(1, 4000)], 256, 16, (16, 2)).sum() == 16
    assert page_cells([(1, 1)], 8, 16, (2, 2)).sum() == 1


def test_every_page_keeps_the_same_number_of_units_and_hides_no_margin():
    page = page_cells([(750, 1000), (500, 1000)], long_side=256, cell=32, grid=(8, 6))
    hidden = hide_units(page, 0.6, random.Random(1))
    assert not (hidden & ~page).any()
    kept = (page & ~hidden).flatten(1).sum(1).tolist()
    assert kept == [13, 13]  # .4 of the smaller page's 32 units


def test_units_are_hidden_anywhere_and_by_seed():
    page = two_pages()
    one, same = hide_units(page, 0.6, random.Random(1)), hide_units(page, 0.6, random.Random(1))
    assert torch.equal(one, same)
    often = torch.stack([hide_units(page, 0.6, random.Random(seed))[0].float() for seed in range(200)]).mean(0)
    assert often.std() < 0.08 and often.min() > 0.4


def test_blocks_leave_the_context_without_a_cell_of_a_target():
    for seed in range(50):
        page = two_pages()
        blocks = draw_blocks(page, random.Random(seed))
        for context, targets, cells in zip(blocks.context, blocks.targets, page.flatten(1), strict=True):
            assert not set(context.tolist()) & set(targets.flatten().tolist())
            assert cells[context].all() and cells[targets].all()
        assert torch.equal(blocks.hidden, hidden_without(page, blocks.context))


def hidden_without(page, context):
    hidden = page.clone()
    for row, seen in zip(hidden, context, strict=True):
        row.view(-1)[seen] = False
    return hidden


def test_targets_have_the_papers_scales_and_aspects_and_half_are_lines():
    page = page_cells([(1000, 1000)], 512, 16, (32, 32))
    ratios = []
    for seed in range(60):
        for target in draw_blocks(page, random.Random(seed)).targets[0]:
            rows, columns = shape_of(target.tolist(), 32)
            assert 0.12 < rows * columns / 1024 < 0.23
            ratios.append(columns / rows)
    lines = [ratio for ratio in ratios if ratio > 2.4]
    assert len(lines) == len(ratios) / 2
    assert all(0.65 < ratio < 1.75 for ratio in ratios if ratio <= 2.4)
    assert max(lines) > 5  # up to what fits into the width: .15 * 5.2² ~ 1


def test_contexts_have_the_scale_of_the_paper_when_nothing_is_cut_out():
    shapes = BlockShapes(targets=1, target_scale=(0.001, 0.002), lines=0.0)
    page = two_pages()[:1]
    sizes = [len(draw_blocks(page, random.Random(seed), shapes).context[0]) / 192 for seed in range(60)]
    assert 0.8 < min(sizes) < 0.9 and 0.95 < max(sizes) <= 1.0


def test_a_context_that_is_cut_loses_cells_anywhere():
    """The larger page of a batch is cut to the smaller one's context: not to its first cells."""
    rows = torch.zeros(16)
    for seed in range(300):
        context = draw_blocks(two_pages(), random.Random(seed)).context[0]
        rows += torch.bincount(context // 12, minlength=16)
    assert len(context) < 60  # much was cut: about 90 of 192 are left by the targets
    assert rows[8:].sum() / rows.sum() == pytest.approx(0.5, abs=0.05)


def test_a_page_of_one_cell_is_refused():
    with pytest.raises(ValueError, match="too small to hide"):
        draw_blocks(page_cells([(10, 10)], 16, 16, (2, 2)), random.Random(0))
