"""Which database a test runs on: `make test` takes one of the two for each test, `make test-long` the other."""

import re
from zlib import crc32

import pytest

KINDS_OF_DATABASE = ("sqlite", "postgresql")
_KIND = re.compile(rf"(?<=[\[-])({'|'.join(KINDS_OF_DATABASE)})(?=[\]-])")
_ALWAYS_BOTH = ("tests/db/",)  # their subject is the database


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option."""
    parser.addoption(
        "--databases",
        choices=("both", "one", "other"),
        default="both",
        help="for tests that run on SQLite and PostgreSQL: both, one of them by the name of the test, or the other",
    )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the database that is not the turn of a test; with `other`, what does not run on both as well."""
    wanted = config.getoption("databases")
    if wanted == "both":
        return
    names = {item.nodeid for item in items}
    runs = {name for name in names if _runs(name, names, wanted)}
    config.hook.pytest_deselected(items=[item for item in items if item.nodeid not in runs])
    items[:] = [item for item in items if item.nodeid in runs]


def _runs(name: str, names: set[str], wanted: str) -> bool:
    """Return whether a test runs, of the tests that there are."""
    kind = _KIND.search(name)
    twins = {_KIND.sub(each, name, count=1) for each in KINDS_OF_DATABASE}
    if kind is None or not twins <= names or name.startswith(_ALWAYS_BOTH):
        return wanted == "one"
    turn = KINDS_OF_DATABASE[crc32(_KIND.sub("", name, count=1).encode()) % 2]
    return (kind[0] == turn) == (wanted == "one")
