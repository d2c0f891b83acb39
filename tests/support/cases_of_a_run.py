"""Which cases of a grid a run holds: `make test` takes few of them, `make test-long` the others.

Left to the long run are cases marked `long_case`, and modes of the optimizer that are not among FEW: the two that
people use, and the one with most parts. Tests marked `all_modes` run with every mode always, so that each is built and
steps in every run. What a single part of the optimizer does has tests of its own, without modes.
"""

import re

import pytest

FEW = ("whole", "blocks", "seeded")
_MODES = (*FEW, "source", "history", "orthogonal", "galore", "fira")
_PLACE = "tests/model/optim/"
_MODE = re.compile(rf"(?<=[\[-])(?:{'|'.join(_MODES)})(?=[\]-])")
_THROUGH_ALL = "test_conformance"  # files whose tests go through the modes by themselves
_chosen: tuple[str, ...] = _MODES


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option."""
    parser.addoption(
        "--cases",
        choices=("all", "few", "other"),
        default="all",
        help="of grids of like cases: all, few, or those that few leaves out",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Keep the choice for tests that go through the modes by themselves."""
    global _chosen
    if config.getoption("--cases") == "few":
        _chosen = FEW


def modes_of_this_run() -> tuple[str, ...]:
    """Return the modes that a test goes through which has them not as a parameter."""
    return _chosen


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the cases that are not chosen."""
    wanted = config.getoption("--cases")
    if wanted == "all":
        return
    kept = [item for item in items if (_is_long(item) if wanted == "other" else not _is_left_out(item))]
    left_out = set(items).difference(kept)
    config.hook.pytest_deselected(items=[item for item in items if item in left_out])
    items[:] = kept


def _is_left_out(item: pytest.Item) -> bool:
    """Return whether a run of few cases does without a test."""
    if item.get_closest_marker("long_case") is not None:
        return True
    mode = _MODE.search(item.nodeid) if item.nodeid.startswith(_PLACE) else None
    return mode is not None and mode[0] not in FEW and item.get_closest_marker("all_modes") is None


def _is_long(item: pytest.Item) -> bool:
    """Return whether a run of few cases lacks a test or something in it."""
    return _is_left_out(item) or item.nodeid.startswith(f"{_PLACE}{_THROUGH_ALL}")
