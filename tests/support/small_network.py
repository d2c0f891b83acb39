"""Fixtures: the nano network made small, on one thread."""

import pytest
import torch

from model.network import GroundingNetwork
from model.presets import ImageConfig, NetworkConfig, TextConfig
from model.vocabulary import Vocabulary

DEEP = NetworkConfig(
    name="test", width=32, heads=2, image=ImageConfig(long_side=128, embed_dim=16), text=TextConfig(buckets=512)
)
"""The nano network, narrower, on smaller pages: for tests that the flat one of the others is too small to learn."""


@pytest.fixture(autouse=True)
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="session")
def config() -> NetworkConfig:
    """The nano network, narrower and flatter, on smaller pages: a checkpoint of a tenth of the size."""
    return NetworkConfig(
        name="test",
        width=32,
        heads=2,
        image=ImageConfig(long_side=128, embed_dim=16, stages=(1, 1, 2, 1), global_attention=(3,)),
        text=TextConfig(buckets=512, vector_width=16, layers=1),
        fusion_layers=1,
        word_layers=2,
        mask_layers=1,
    )


@pytest.fixture
def network(config) -> GroundingNetwork:
    torch.manual_seed(3)
    network = GroundingNetwork(config)
    torch.nn.init.normal_(network.text_encoder.embedding.piece_vectors, std=0.05)
    return network.eval()


@pytest.fixture(scope="session")
def vocabulary(config) -> Vocabulary:
    return Vocabulary(config.text.buckets)
