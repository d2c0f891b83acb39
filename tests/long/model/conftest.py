"""Fixtures of the long tests of the network: the nano network made small, on one thread."""

import pytest

from model.presets import NetworkConfig
from tests.support.small_network import DEEP, network, one_thread, vocabulary  # noqa: F401 (fixtures)


@pytest.fixture(scope="session")
def config() -> NetworkConfig:
    return DEEP
