"""Beginning of a pretraining run: the network's initial weights, and what its stages are given."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import torch

from engine.training.pretraining.pretraining_stage import StageInputs
from engine.training.pretraining.schedule import Schedule, has_run
from engine.training.unlabelled.page_corpus import PageCorpus
from model import checkpoint
from model.distributed import Ranks
from model.examples import Source
from model.network import GroundingNetwork, load_network
from model.presets import NetworkConfig
from model.pretraining.token_vectors import token_vectors

_START_FILE = "start.safetensors"


def inputs_of(
    network: GroundingNetwork,
    schedule: Schedule,
    folder: Path,
    teacher: Path,
    seed: int,
    held_out: int = 24,
    feed: Callable[[Source], Source] | None = None,
) -> StageInputs:
    """Return what a stage of the schedule is given; `feed` wraps its sources."""
    around = StageInputs(
        network,
        seed,
        folder,
        teacher,
        held_out,
        schedule.decoder,
        _folder(schedule.forms),
        _folder(schedule.labelled),
        None if schedule.corpus is None else PageCorpus.load(Path(schedule.corpus)),
        schedule.pages,
    )
    return around if feed is None else replace(around, feed=feed)


def _folder(path: str | None) -> Path | None:
    return None if path is None else Path(path)


def fresh_network(config: NetworkConfig, teacher: Path, seed: int) -> GroundingNetwork:
    """Return a network with random weights and the teacher's token vectors.

    Raises ValueError where the teacher has another number of wordpieces.
    """
    torch.manual_seed(seed)
    network = GroundingNetwork(config)
    vectors = token_vectors(teacher, config.text.vector_width)
    if vectors.shape != network.text_encoder.embedding.piece_vectors.shape:
        raise ValueError(
            f"The teacher has {len(vectors)} wordpieces, the network {config.text.pieces}; choose a matching teacher."
        )
    network.text_encoder.embedding.piece_vectors.copy_(vectors)
    return network


def load_beginning(
    network: GroundingNetwork,
    folder: Path,
    schedule: Schedule,
    config: NetworkConfig,
    begin: Callable[[GroundingNetwork], None] | None,
    ranks: Ranks,
) -> None:
    """Load the initial weights, and keep them in `folder`, so that a run resumes without the files they came from."""
    start_file, public = folder / _START_FILE, schedule.start is not None or bool(schedule.public)
    again = ranks.on_first(partial(has_run, folder))
    if again and public and ranks.on_first(start_file.is_file):  # a run that never began may have left another one
        _begin_with(network, ranks.on_first(partial(_load_start, start_file, config)))
        return
    if schedule.start is not None:
        _begin_with(network, ranks.on_first(partial(_load_start, Path(schedule.start), config)))
    if begin is not None:
        begin(network)
    if public and not again:
        ranks.on_first(partial(checkpoint.save, start_file, network, config.to_dict()))


def _load_start(path: Path, config: NetworkConfig) -> GroundingNetwork:
    network, _ = load_network(path)
    ranked = replace(network.config, ranker_width=config.ranker_width, region_ranker_width=config.region_ranker_width)
    if ranked != config:
        raise ValueError(f"{path} holds another network than the preset {config.name!r}; choose its preset.")
    return network


def _begin_with(network: GroundingNetwork, start: GroundingNetwork) -> None:
    """Copy weights; the rankers of `network` stay as they are where `start` was saved without them."""
    own = {
        name: tensor for name, tensor in network.state_dict().items() if name.startswith(("ranker.", "region_ranker."))
    }
    network.load_state_dict({**own, **start.state_dict()})
