from dataclasses import replace

import pytest
import torch

from engine.synthetic.region_types import REGION_TYPES, TypedRegion
from engine.training.pretraining.probing import (
    FEATURES,
    OTHERS,
    predicted_figures,
    regions_of,
    retrieval_figures,
    same_page,
    same_place,
    type_figures,
)
from engine.training.sources.rendered import RenderedPage, drawn_pages, render_page, rendered_source
from model.examples import Example
from model.objectives.djepa import JointJepa
from model.pretraining.probes import fit_map, linear_probe, pool_boxes, retrieval_accuracy
from tests.support.drawn_pages import SIZE, page_image, page_words


def noise(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def test_pooling_weighs_cells_by_how_much_of_them_is_inside():
    ramp = torch.arange(12.0).view(1, 3, 4)
    boxes = torch.tensor([[0, 0, 4, 3], [1, 1, 2, 2], [0.5, 0, 2, 1], [2.25, 1.5, 2.5, 1.75]])
    assert pool_boxes(ramp, boxes)[:, 0].tolist() == pytest.approx([5.5, 5.0, (0.5 * 0 + 1.0 * 1) / 1.5, 6.0])


def test_a_probe_recognises_what_is_linear_and_guesses_at_noise():
    classes = torch.arange(600) % 3
    signal = torch.nn.functional.one_hot(classes, 3).float() @ noise(3, 8) + 0.5 * noise(600, 8, seed=1)
    good = linear_probe(signal[:400], classes[:400], signal[400:], classes[400:], 3)
    blind = linear_probe(noise(400, 8, seed=2), classes[:400], noise(200, 8, seed=3), classes[400:], 3)
    assert good.balanced > 0.9
    assert blind.balanced == pytest.approx(1 / 3, abs=0.1)


def test_rare_classes_count_as_much_as_common_ones():
    classes = torch.tensor([0] * 180 + [1] * 20)
    rows = noise(200, 4)
    probe = linear_probe(rows, classes, rows, classes, 3)
    assert probe.balanced == pytest.approx(sum(probe.recalls[:2]) / 2)
    assert probe.recalls[1] > 0.4  # the majority alone would be .9 right and .5 balanced
    assert torch.isnan(torch.tensor(probe.recalls[2]))


def test_a_map_is_found_and_judged_on_rows_that_it_has_not_seen():
    rows = noise(300, 10)
    targets = rows @ noise(10, 6, seed=1) * 5 + 3
    mapped = fit_map(rows[:200], targets[:200])
    told = mapped(rows[200:])
    assert (told - mapped.target(targets[200:])).abs().mean() < 0.15
    everyone = [[at for at in range(100) if at != own] for own in range(100)]
    assert retrieval_accuracy(told, mapped.target(targets[200:]), everyone) > 0.9
    strangers = fit_map(noise(200, 10, seed=5), targets[:200])(noise(100, 10, seed=6))
    assert retrieval_accuracy(strangers, mapped.target(targets[200:]), everyone) < 0.1


def test_equal_features_retrieve_nothing():
    rows = torch.ones(4, 3)
    assert retrieval_accuracy(rows, rows, [[1, 2, 3]] * 4) == 0.0


def test_candidates_come_from_the_page_or_from_the_same_place_elsewhere():
    pages = torch.tensor([0] * 9 + [1] * 9 + [2] * 3)
    for own, others in enumerate(same_page(pages, 0)):
        assert len(others) == (OTHERS if own < 18 else 0)
        assert own not in others and all(pages[at] == pages[own] for at in others)
    place = torch.arange(21.0)[:, None].expand(-1, 4) % 9
    for own, others in enumerate(same_place(pages, place)):
        assert len(others) == OTHERS and all(pages[at] != pages[own] for at in others)
    assert set(same_place(pages, place)[0][:2]) == {9, 18}  # the same corners, on the next pages


def test_features_are_those_of_the_region(network):
    """What is drawn in a region changes its features more than it changes those of a region far away."""
    changed = page_image()
    changed.paste("black", (430, 300, 560, 420))
    kinds = ("value", "figure")
    regions = (TypedRegion(kinds[0], (430, 300, 560, 420), (12, 13)), TypedRegion(kinds[1], (0, 700, 100, 800), ()))
    found = [
        regions_of(network, [RenderedPage(Example(page_words(), SIZE, (), image), regions)])
        for image in (page_image(), changed)
    ]
    for name in ("trunk", "coarse"):
        near, far = (getattr(found[0], name) - getattr(found[1], name)).norm(dim=1)
        assert near > 2 * far, name
    assert torch.equal(found[0].words, found[1].words) and (found[0].words[1] == 0).all()
    assert [REGION_TYPES[kind] for kind in found[0].kinds] == list(kinds)


def test_a_source_repeats_no_page_before_all_were_given():
    source, again = (rendered_source(3, long_side=64, pages=2, pool=6) for _ in range(2))
    first = [tuple(example.words) for step in range(3) for example in source(step)]
    assert len(set(first)) == 6
    assert {tuple(example.words) for step in range(3, 6) for example in source(step)} == set(first)
    one, same = source(4)[0].image, again(4)[0].image
    assert one is not None and same is not None
    assert one.tobytes() == same.tobytes()
    assert max(one.size) == 64


def test_the_figures_are_there_for_generated_pages(network):
    drawn = [render_page(made, 128) for made in drawn_pages(5, 12)]
    fitted, judged = regions_of(network, drawn[:8]), regions_of(network, drawn[8:])
    assert set(type_figures(fitted, judged)) == set(FEATURES)
    figures = retrieval_figures(fitted, judged)
    assert len(figures) == 4 * len(FEATURES) and all(0 <= value <= 1 for value in figures.values())
    assert figures["words_from_region.same_page.place"] > 1.5 / (OTHERS + 1)  # words know where they stand
    torch.manual_seed(0)
    told = predicted_figures(JointJepa(network, lambda step: []), drawn[8:])
    assert len(told) == 4 and all(0 <= value < 0.6 for value in told.values())


def test_what_is_not_on_the_page_is_not_in_the_figures(network):
    page = RenderedPage(Example(page_words(), SIZE, (), page_image()), ())
    with_one = replace(page, regions=(TypedRegion("key", (-20, 790, 700, 900), ()),))
    regions = regions_of(network, [page, with_one])
    assert regions.pages.tolist() == [1] and torch.isfinite(regions.coarse).all() and regions.coarse.abs().sum() > 0


def test_the_kinds_of_a_page_are_drawn_by_the_seed(network):
    page = render_page(drawn_pages(5, 1)[0], 128)
    one, same, other = (regions_of(network, [page], seed) for seed in (0, 0, 1))
    assert torch.equal(one.numbers, same.numbers)
    assert torch.bincount(one.kinds).max() <= 4 and not torch.equal(one.numbers, other.numbers)
