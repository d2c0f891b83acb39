"""Fixtures of the tests of training: the nano network made small, on one thread."""

from tests.support.small_network import config, network, one_thread  # noqa: F401 (fixtures)
