"""Version of the running code: release, and commit of a checkout. `version` in pyproject.toml is its only source."""

import tomllib
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
NAME = "glossator"


@cache
def release(root: Path = ROOT) -> str:
    """Return the release, such as "0.3.0": of the pyproject.toml beside the packages, else of the installed wheel.

    A checkout is asked first: what pip noted at an installation with `-e` stays as it was when the version changes.
    """
    try:
        project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8")).get("project", {})
    except (OSError, tomllib.TOMLDecodeError):
        project = {}
    if project.get("name") == NAME:
        return str(project["version"])
    try:
        return version(NAME)
    except PackageNotFoundError:
        return "unreleased"


def code_version(root: Path = ROOT) -> str:
    """Return the version of the code, such as "0.3.0" or, from a git checkout, "0.3.0+g3f83e9f9c0de"."""
    commit = _commit(root / ".git")
    return f"{release(root)}+g{commit[:12]}" if commit else release(root)


def _commit(git: Path) -> str | None:
    """Return the commit of HEAD, read from files: git may not be installed."""
    try:
        head = (git / "HEAD").read_text().strip()
        if not head.startswith("ref: "):
            return head
        name = head.removeprefix("ref: ")
        loose = git / name
        if loose.is_file():
            return loose.read_text().strip()
        packed = (git / "packed-refs").read_text().splitlines()
    except OSError:
        return None
    return next((line.split()[0] for line in packed if line.endswith(f" {name}")), None)
