"""The version has one place; the wheel holds every file of the packages and nothing else."""

import re
import sys
import tomllib
import zipfile
from collections import defaultdict
from email.parser import Parser
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
from typer.testing import CliRunner

from engine.cli import app
from engine.version import code_version, release
from tests.support.built_distributions import PACKAGES, build_wheel, copy_checkout, tracked_files
from tests.support.repository import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
IMPORTED = re.compile(r"^ *(?:from (?=\S+ import )|import )(\w+)", re.MULTILINE)  # lines that ruff has put in order
# Packages that come with others which are declared, and are part of what these offer.
BROUGHT = {"anyio": "fastapi", "starlette": "fastapi", "grpc": "ray", "pydantic-core": "pydantic"}
BROUGHT["typing-extensions"] = "pydantic"


def normalised(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def imported_packages() -> dict[str, set[str]]:
    """The files that import each package of others, by its first name; also within functions."""
    files = defaultdict(set)
    for path in tracked_files(*PACKAGES):
        if path.endswith(".py"):
            for name in IMPORTED.findall((ROOT / path).read_text(encoding="utf-8")):
                files[name].add(path)
    ours = {*sys.stdlib_module_names, *PACKAGES, "_typeshed"}
    return {name: paths for name, paths in files.items() if name not in ours}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    if not (ROOT / ".git").exists():
        pytest.skip("This is no checkout: git says which files belong to the packages.")
    folder = tmp_path_factory.mktemp("wheel")
    return zipfile.ZipFile(build_wheel(copy_checkout(folder / "source"), folder / "dist"))


def test_the_wheel_holds_every_file_of_the_packages_and_no_other(wheel: zipfile.ZipFile) -> None:
    beside = f"glossator-{PROJECT['version']}.dist-info/"
    held = {name for name in wheel.namelist() if not name.startswith(beside)}
    tracked = set(tracked_files(*PACKAGES))
    assert held == tracked
    assert {Path(name).suffix for name in held} >= {".py", ".js", ".css", ".safetensors", ".json", ".html", ".mako"}
    assert f"{beside}licenses/LICENSE" in wheel.namelist()


def test_the_files_in_the_wheel_are_whole(wheel: zipfile.ZipFile) -> None:
    for name in tracked_files(*PACKAGES):
        assert wheel.getinfo(name).file_size == (ROOT / name).stat().st_size, name


def test_the_wheel_names_version_command_and_extras(wheel: zipfile.ZipFile) -> None:
    beside = f"glossator-{PROJECT['version']}.dist-info/"
    named = Parser().parsestr(wheel.read(f"{beside}METADATA").decode())
    assert (named["Name"], named["Version"]) == ("glossator", PROJECT["version"])
    assert {"postgresql", "s3", "ray"} <= set(named.get_all("Provides-Extra", []))
    assert "glossator = engine.cli:main" in wheel.read(f"{beside}entry_points.txt").decode()


def test_every_package_that_is_imported_is_declared() -> None:
    extras = [wanted for name, extra in PROJECT["optional-dependencies"].items() if name != "test" for wanted in extra]
    required = [*PROJECT["dependencies"], *extras]
    declared = {normalised(re.split(r"[^\w.-]", wanted, maxsplit=1)[0]) for wanted in required}
    installed = packages_distributions()
    undeclared = {}
    for name, paths in imported_packages().items():
        sources = {normalised(source) for source in installed.get(name, [name])}
        if not {BROUGHT.get(source, source) for source in sources} & declared:
            undeclared[name] = sorted(paths)
    assert not undeclared


def test_the_version_is_that_of_pyproject() -> None:
    shown = CliRunner().invoke(app, ["--version"])
    assert shown.output == f"glossator {PROJECT['version']}\n"
    assert release() == PROJECT["version"] and code_version().startswith(PROJECT["version"])


def test_a_folder_of_another_project_does_not_name_the_version(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "another"\nversion = "9.9"\n')
    assert release(tmp_path) != "9.9"


def test_the_changelog_begins_with_unreleased_and_this_version() -> None:
    heads = re.findall(r"^## \[([^\]]+)\](?: - (\d{4}-\d{2}-\d{2}))?$", (ROOT / "CHANGELOG.md").read_text(), re.M)
    assert heads[0] == ("Unreleased", "")
    assert heads[1][0] == PROJECT["version"]
    assert all(day for _, day in heads[1:])
