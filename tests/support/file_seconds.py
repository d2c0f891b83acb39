"""Seconds that each file of tests took when all of it ran last: `make test-changed` reads them."""

import json
from collections import defaultdict
from pathlib import Path

import pytest

_KEY = "glossator/file_seconds"


def recorded_seconds(root: Path) -> dict[str, float]:
    """Return the seconds of a worker that each file of tests took last; empty before the first run."""
    try:
        stored = json.loads((root / ".pytest_cache" / "v" / _KEY).read_text(encoding="utf-8"))
        return {str(path): float(seconds) for path, seconds in stored.items()}
    except (OSError, ValueError, AttributeError):
        return {}


class _Recorder:
    """Adds up the seconds of each file, and keeps them when the run has ended well."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._seconds: dict[str, float] = defaultdict(float)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._seconds[report.nodeid.partition("::")[0]] += report.duration

    def pytest_sessionfinish(self, exitstatus: int) -> None:
        cache = self._config.cache
        if exitstatus == pytest.ExitCode.OK and cache is not None:
            seconds = {path: round(spent, 2) for path, spent in self._seconds.items()}
            cache.set(_KEY, {**cache.get(_KEY, {}), **seconds})


def pytest_configure(config: pytest.Config) -> None:
    """Record where tests run in this process or in workers of it, and whole files of them."""
    in_parts = bool(config.option.keyword or config.option.markexpr or any("::" in arg for arg in config.args))
    if not hasattr(config, "workerinput") and not in_parts:
        config.pluginmanager.register(_Recorder(config))
