"""A wheel installed outside of the checkout serves, answers, exports and learns, without a network and without a try.

The source distribution gives the same wheel.
"""

import json
import re
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

from engine.version import release
from tests.support import first_visit, recorded_addresses
from tests.support.built_distributions import build_sdist, build_wheel, copy_checkout, unpack_sdist
from tests.support.installed_wheel import install_wheel, outside_environment
from tests.support.no_network import without_network

RECORDER = Path(recorded_addresses.__path__[0])
LOOK_UP = "import socket; socket.getaddrinfo('glossator.invalid', 80)"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("built")
    return build_wheel(copy_checkout(folder / "source"), folder / "dist")


@pytest.fixture(scope="module")
def python(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return install_wheel(wheel, tmp_path_factory.mktemp("installed"))


@pytest.fixture(scope="module")
def addresses(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("recorded") / "addresses.txt"


@pytest.fixture(scope="module")
def seen(python: Path, addresses: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What a first visitor sees in a network namespace of its own."""
    scratch = tmp_path_factory.mktemp("visit")
    command = without_network([str(python), str(Path(first_visit.__file__)), str(scratch), "--alone"])
    environment = outside_environment(PYTHONPATH=str(RECORDER), ADDRESSES=str(addresses))
    done = subprocess.run(command, cwd=scratch, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-4000:]
    print(seconds := json.loads(done.stdout)["seconds"], file=sys.stderr)  # noqa: T201
    assert seconds["live"] <= seconds["answer"]
    return dict(json.loads(done.stdout))


def test_the_sdist_gives_the_same_wheel(wheel: Path, tmp_path: Path) -> None:
    sdist = build_sdist(copy_checkout(tmp_path / "source"), tmp_path / "dist")
    again = build_wheel(unpack_sdist(sdist, tmp_path / "unpacked"), tmp_path / "again")
    with zipfile.ZipFile(wheel) as first, zipfile.ZipFile(again) as second:
        sums = [{entry.filename: entry.CRC for entry in archive.infolist()} for archive in (first, second)]
    assert sums[0] == sums[1]


def test_the_installed_program_is_that_of_the_wheel(python: Path, tmp_path: Path) -> None:
    where = "import annotator, engine, db, model, migrations; print(annotator.__file__, engine.__file__)"
    done = subprocess.run(
        [python, "-c", where], cwd=tmp_path, env=outside_environment(), capture_output=True, text=True
    )
    assert [Path(path).is_relative_to(python.parents[1]) for path in done.stdout.split()] == [True, True], done.stderr
    shown = subprocess.run([python.with_name("glossator"), "--version"], cwd=tmp_path, capture_output=True, text=True)
    assert shown.stdout == f"glossator {release()}\n"


def test_samples_are_served_and_a_question_is_answered_with_a_mask(seen: dict[str, Any]) -> None:
    assert seen["health"]["status"] == "ok" and seen["health"]["version"] == release()
    assert seen["text"] == "CHF 2,987.88"
    [mask] = seen["mask"]
    left, top, right, bottom = mask["box"]
    assert 0 <= left < right and 0 <= top < bottom and sum(mask["counts"][1::2]) > 0
    assert seen["exit"] == 0 and seen["left"] == [".data"]


def test_papers_come_in_answers_go_out_and_a_retraining_begins(seen: dict[str, Any]) -> None:
    assert seen["uploaded"] == ["Second letter.pdf"] and seen["exported"] > 1000
    assert seen["retraining"] == "running" and seen["runs"] == ["running"]


def test_nothing_outside_of_this_machine_is_looked_up_or_called(
    seen: dict[str, Any], python: Path, addresses: Path, tmp_path: Path
) -> None:
    assert not addresses.exists() or addresses.read_text() == ""
    environment = outside_environment(PYTHONPATH=str(RECORDER), ADDRESSES=str(tmp_path / "addresses.txt"))
    subprocess.run([python, "-c", LOOK_UP], env=environment, capture_output=True, cwd=tmp_path)
    assert "glossator.invalid" in (tmp_path / "addresses.txt").read_text(), "the recorder records nothing"


def test_the_page_loads_nothing_from_elsewhere(seen: dict[str, Any]) -> None:
    loaded = re.findall(r"<(?:script|link|img|iframe)\b[^>]*?(?:src|href)=[\"'](https?:)?//([^/\"']+)", seen["page"])
    assert {host for _, host in loaded} <= {"127.0.0.1"}, loaded
    assert "/static/" in seen["page"]
