"""Wheel and source distribution, built as pip builds them, from a copy of the files that git knows.

A copy, for a build inside the checkout leaves `build/lib`, whose deleted files come back in the next wheel.
`python -m tests.support.built_distributions FOLDER` builds both into a folder.
"""

import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

from tests.support.repository import ROOT

PACKAGES = ("annotator", "engine", "model", "db", "migrations")


def tracked_files(*folders: str) -> list[str]:
    """Return the files that git knows, and those that it neither knows nor ignores, by path from the root."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", *folders]
    named = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    return [name for name in sorted(set(named.split("\0"))) if name and (ROOT / name).is_file()]


def copy_checkout(folder: Path) -> Path:
    """Copy the checkout's files to a new folder and return it."""
    for name in tracked_files():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, folder / name)
    return folder


def build_wheel(source: Path, into: Path) -> Path:
    """Build a wheel from a folder with a pyproject.toml, without a network, and return its path."""
    return _build("build_wheel", source, into)


def build_sdist(source: Path, into: Path) -> Path:
    """Build a source distribution from such a folder, without a network, and return its path."""
    return _build("build_sdist", source, into)


def unpack_sdist(sdist: Path, into: Path) -> Path:
    """Unpack a source distribution, and return its folder."""
    with tarfile.open(sdist) as archive:
        archive.extractall(into, filter="data")
    [folder] = into.iterdir()
    return folder


def _build(hook: str, source: Path, into: Path) -> Path:
    into.mkdir(parents=True, exist_ok=True)
    program = f"import sys; from setuptools import build_meta; print(build_meta.{hook}(sys.argv[1]))"
    command = [sys.executable, "-c", program, str(into.resolve())]
    done = subprocess.run(command, cwd=source, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{hook} failed:\n{done.stderr[-2000:]}")
    return into / done.stdout.splitlines()[-1]


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        sources = copy_checkout(Path(scratch))
        for path in (build_sdist(sources, Path(sys.argv[1])), build_wheel(sources, Path(sys.argv[1]))):
            print(path)  # noqa: T201
