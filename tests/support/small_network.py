"""Fixtures: the nano network made small, on one thread."""

import pytest
import torch

from model.network import GroundingNetwork
from model.presets import ImageConfig, NetworkConfig, TextConfig
from model.vocabulary import Vocabulary


@pytest.fixture(autouse=True)
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="session")
def config() -> NetworkConfig:
    """The nano network, narrower, on smaller pages."""
    return NetworkConfig(
        name="test", width=32, heads=2, image=ImageConfig(long_side=128, embed_dim=16), text=TextConfig(buckets=512)
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
