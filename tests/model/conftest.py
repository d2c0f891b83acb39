"""Fixtures of a small network, for the tests of the model."""

from tests.support.small_network import config, network, one_thread, vocabulary  # noqa: F401 (fixtures)
