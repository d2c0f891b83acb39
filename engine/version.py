"""Version of the running code: release, and commit of a checkout."""

from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def code_version(root: Path = ROOT) -> str:
    """Return the version of the code, such as "0.1.0" or, from a git checkout, "0.1.0+g3f83e9f9c0de"."""
    try:
        release = version("glossator")
    except PackageNotFoundError:
        release = "unreleased"
    commit = _commit(root / ".git")
    return f"{release}+g{commit[:12]}" if commit else release


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
