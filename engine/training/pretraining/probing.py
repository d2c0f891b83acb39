"""Probes of what unlabelled pages taught: figures of frozen features, fitted and judged separately.

Two probes. Region types (heading, key, value, cell, text, checkbox, figure): a linear probe of the image features.
Retrieval: which words lie in a region, and the reverse. The image is read without words, the words without image, and a
linear map fitted on other pages takes one to the other. Each is compared with the region's place and size alone, which
both encoders know, and with the image's addition to them.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

import torch
from torch import Tensor

from engine.synthetic.region_types import REGION_TYPES
from engine.training.sources.rendered import RenderedPage, drawn_pages, render_page
from model.devices import to_device
from model.encoders.image import STRIDE
from model.inputs import batch_pages, prepare_page
from model.network import GroundingNetwork
from model.objectives.djepa import JointJepa
from model.pretraining.probes import Probe, Standardizer, fit_map, linear_probe, pool_boxes, retrieval_accuracy
from model.pretraining.text_batches import evaluating
from model.vocabulary import Vocabulary

FEATURES = ("place", "coarse", "trunk", "place+trunk")
OTHERS = 7  # candidates beside the right one: chance is 1 / 8
_FEWEST_WORDS = 2  # of a queried region: single words often occur twice
_MOST_OF_A_KIND = 4  # regions of one kind taken from a page
_PROBE_SEED = 8_888_881
_SHOWN = ("mean_error", "target_std", "target_rank")  # of the log of D-JEPA, for its figures


@dataclass(frozen=True, slots=True)
class Regions:
    """Features of R regions of some pages."""

    coarse: Tensor  # [R, D] of the map that is fused with the words
    trunk: Tensor  # [R, E] of all four levels of the trunk
    words: Tensor  # [R, D] mean of the words' states, read without image; 0 without words
    place: Tensor  # [R, P] of place and size
    kinds: Tensor  # [R] indices of REGION_TYPES
    pages: Tensor  # [R] indices of pages
    counts: Tensor  # [R] number of words
    numbers: Tensor  # [R] index among the regions of the page

    def features(self, names: str) -> Tensor:
        """Return [R, .] features by name; names joined with "+" are concatenated."""
        return torch.cat([getattr(self, name) for name in names.split("+")], 1)


def probe_pages(count: int, long_side: int, *, held_out: bool) -> list[RenderedPage]:
    """Return pages to fit probes on, or, held out, to judge on; no training uses either."""
    return [render_page(made, long_side) for made in drawn_pages(_PROBE_SEED + held_out, count)]


@torch.no_grad()
def regions_of(network: GroundingNetwork, pages: Sequence[RenderedPage], seed: int = 0) -> Regions:
    """Return features of regions; at most a few of each kind per page, drawn by `seed`."""
    vocabulary, config = Vocabulary(network.config.text.buckets), network.config
    device = next(network.parameters()).device
    rows: list[tuple[Tensor, ...]] = []
    for number, page in enumerate(pages):
        chosen = _choose_regions(page, random.Random(f"{seed}:{number}"))
        if not chosen:
            continue
        example = page.example
        prepared = prepare_page(example.words, example.size, example.image, vocabulary, config)
        batch = to_device(batch_pages([prepared]), device)
        assert batch.image is not None
        boxes = torch.tensor([page.regions[at].box for at in chosen], dtype=torch.float32)
        unit = _on_page(boxes, example.size) / max(example.size)
        levels = network.image_encoder.trunk.forward_intermediates(batch.image, intermediates_only=True)
        coarse = network.image_encoder(batch.image).coarse[0].cpu()
        states = network.text_encoder(batch, network.layout_bias(batch)[: config.text.layers])[0][0].cpu()
        in_each = [page.regions[at].words for at in chosen]
        rows.append(
            (
                pool_boxes(coarse, unit * config.image.long_side / STRIDE),
                torch.cat(
                    [
                        pool_boxes(level[0].cpu(), unit * config.image.long_side / 2 ** (2 + n))
                        for n, level in enumerate(levels)
                    ],
                    1,
                ),
                torch.stack([states[list(words)].mean(0) if words else torch.zeros(config.width) for words in in_each]),
                place_features(unit),
                torch.tensor([REGION_TYPES.index(page.regions[at].kind) for at in chosen]),
                torch.full((len(chosen),), number),
                torch.tensor([len(words) for words in in_each]),
                torch.tensor(chosen),
            )
        )
    return Regions(*(torch.cat(column) for column in zip(*rows, strict=True)))


def place_features(unit: Tensor) -> Tensor:
    """Return [R, P] features of boxes [R, 4] in units of the long side: corners, sizes, logarithms, waves."""
    size = (unit[:, 2:] - unit[:, :2]).clamp_min(1e-4)
    waves = [wave(unit * (torch.pi * 2**octave)) for octave in range(4) for wave in (torch.sin, torch.cos)]
    return torch.cat([unit, size, size.log(), (size[:, :1] / size[:, 1:]).log(), *waves], 1)


def type_figures(fitted: Regions, judged: Regions) -> dict[str, Probe]:
    """Fit and judge the probe of region types on each of FEATURES."""
    return {
        name: linear_probe(fitted.features(name), fitted.kinds, judged.features(name), judged.kinds, len(REGION_TYPES))
        for name in FEATURES
    }


def retrieval_figures(fitted: Regions, judged: Regions, seed: int = 0) -> dict[str, float]:
    """Return top-1 of words by region and of regions by words, among OTHERS + 1 candidates.

    `same_page`: candidates of the same page. `same_place`: candidates of other pages with the most similar place and
    size, so that content decides. Each by image features, and by place and size alone.
    """
    fitted_wordy, judged_wordy = fitted.counts >= _FEWEST_WORDS, judged.counts >= _FEWEST_WORDS
    figures: dict[str, float] = {}
    for name in FEATURES:
        mapped = fit_map(fitted.features(name)[fitted_wordy], fitted.words[fitted_wordy])
        predicted, words = mapped(judged.features(name)[judged_wordy]), mapped.target(judged.words[judged_wordy])
        figures |= retrieve_both_ways(predicted, words, judged, judged_wordy, name, seed)
    return figures


@torch.no_grad()
def predicted_figures(objective: JointJepa, pages: Sequence[RenderedPage], seed: int = 0) -> dict[str, float]:
    """Return both retrievals by D-JEPA's own predictor, without a fitted map.

    Compares its prediction of a region's words from the image with the slow text encoder's output, both averaged over
    the words and standardised.
    """
    judged = regions_of(objective.network, pages, seed)
    wordy = judged.counts >= _FEWEST_WORDS
    predicted, truth = [], []
    for number in sorted(set(judged.pages.tolist())):
        page = pages[number]
        seen = objective.prepare([page.example])
        every = torch.arange(seen.batch.valid.shape[1], device=seen.image.device)[None]
        foretold, targets = objective.predict_words(seen, every).match[0].cpu(), objective.word_targets(seen)[0].cpu()
        for at in judged.numbers[wordy & (judged.pages == number)].tolist():
            words = list(page.regions[at].words)
            predicted.append(foretold[words].mean(0))
            truth.append(targets[words].mean(0))
    predicted_words, true_words = torch.stack(predicted), torch.stack(truth)
    return retrieve_both_ways(
        Standardizer.of(predicted_words)(predicted_words),
        Standardizer.of(true_words)(true_words),
        judged,
        wordy,
        "predictor",
        seed,
    )


@torch.no_grad()
def error_figures(
    objective: JointJepa, pages: Sequence[RenderedPage], seed: int = 0, at_once: int = 4
) -> dict[str, float]:
    """Return the errors of D-JEPA's predictions on held-out pages, beside those of predicting the mean.

    Args:
        objective: D-JEPA.
        pages: pages that no training uses.
        seed: of the hidden blocks and of the sampled words.
        at_once: pages a batch; the mean is that of the batch.

    Returns:
        For `regions` and `words`: `error`, `mean_error`, `of_mean` (their ratio), `target_std` and `target_rank`, means
        over batches.
    """
    alike = sorted(pages, key=lambda page: page.example.size[0] / page.example.size[1])
    rows: dict[str, list[float]] = {}
    with evaluating(objective.learned):
        for at in range(0, len(alike), at_once):
            seen, rng = (
                objective.prepare([page.example for page in alike[at : at + at_once]]),
                random.Random(f"{seed}:{at}"),
            )
            regions = objective.regions_loss(seen, rng)[1]
            errors = {"regions.error": regions["regions"]}
            errors |= {f"regions.{name}": regions[name] for name in _SHOWN}
            if bool(seen.batch.valid.any()):
                words = objective.words_loss(seen, rng)[1]
                errors |= {"words.error": words["words"]}
                errors |= {f"words.{name}": words[f"word_{name}"] for name in _SHOWN}
            for name, value in errors.items():
                rows.setdefault(name, []).append(float(value))
    means = {name: fmean(values) for name, values in rows.items()}
    ratios = {f"{kind}.of_mean": means[f"{kind}.error"] / max(means[f"{kind}.mean_error"], 1e-9)
              for kind in ("regions", "words") if f"{kind}.error" in means}  # fmt: skip
    return means | ratios


def retrieve_both_ways(
    predicted: Tensor, words: Tensor, judged: Regions, those: Tensor, name: str, seed: int
) -> dict[str, float]:
    """Return top-1 in both directions and for both kinds of candidates, of the regions `those`."""
    figures: dict[str, float] = {}
    pages, place = judged.pages[those], judged.place[those]
    for among, sets in (("same_page", same_page(pages, seed)), ("same_place", same_place(pages, place))):
        figures[f"words_from_region.{among}.{name}"] = retrieval_accuracy(predicted, words, sets)
        figures[f"region_from_words.{among}.{name}"] = retrieval_accuracy(words, predicted, sets)
    return figures


def same_page(pages: Tensor, seed: int) -> list[list[int]]:
    """Return OTHERS regions of the same page for each region, drawn by `seed`; none when there are fewer."""
    rng, candidates = random.Random(f"{seed}:same page"), []
    for row, page in enumerate(pages.tolist()):
        others = [at for at in (pages == page).nonzero()[:, 0].tolist() if at != row]
        candidates.append(rng.sample(others, OTHERS) if len(others) >= OTHERS else [])
    return candidates


def same_place(pages: Tensor, place: Tensor) -> list[list[int]]:
    """Return the OTHERS regions of other pages with the most similar corners; none when there are fewer."""
    distance = torch.cdist(place[:, :4], place[:, :4])
    distance[pages[:, None] == pages[None]] = torch.inf
    nearest = distance.argsort(1)[:, :OTHERS]
    return [
        row.tolist() if bool(distance[at, row].isfinite().all()) and len(row) == OTHERS else []
        for at, row in enumerate(nearest)
    ]


def _choose_regions(page: RenderedPage, rng: random.Random) -> list[int]:
    by_kind: dict[str, list[int]] = {}
    for number, region in enumerate(page.regions):
        by_kind.setdefault(region.kind, []).append(number)
    return sorted(at for group in by_kind.values() for at in rng.sample(group, min(_MOST_OF_A_KIND, len(group))))


def _on_page(boxes: Tensor, size: tuple[int, int]) -> Tensor:
    """Clip boxes to the page; each stays at least half a pixel wide."""
    limit = torch.tensor([*size, *size], dtype=boxes.dtype)
    cut = torch.minimum(boxes.clamp_min(0), limit)
    return torch.cat([torch.minimum(cut[:, :2], limit[:2] - 0.5), torch.maximum(cut[:, 2:], cut[:, :2] + 0.5)], 1)
