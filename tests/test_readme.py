"""The README is true: its tree, its settings, its commands."""

import re

from typer.main import get_command

from engine.cli import app
from tests.readme_parts import replaced
from tests.support.repository import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_tree_and_settings_are_those_of_the_code() -> None:
    assert replaced(README) == README, "run: python tests/readme_parts.py"


def test_every_command_that_the_readme_names_exists() -> None:
    known = get_command(app).commands  # type: ignore[attr-defined]
    for line in re.findall(r"^glossator (.+?)(?:\s{2,}#.*)?$", README, re.MULTILINE):
        first, second = [*line.split(), ""][:2]
        assert first in known, line
        if hasattr(known[first], "commands"):
            assert second in known[first].commands, line
        else:
            options = {name for parameter in known[first].params for name in parameter.opts}
            used = {word for word in line.split() if word.startswith("--")}
            assert used <= options, line


def test_every_make_target_that_the_readme_names_exists() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert set(re.findall(r"(?:^|`)make ([a-z-]+)", README, re.MULTILINE)) <= targets


def test_pictures_of_the_readme_are_there() -> None:
    for path in re.findall(r"!\[[^\]]*\]\(([^)]+)\)", README):
        assert (ROOT / path).is_file(), path
