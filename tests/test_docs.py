"""README and docs are true: links, commands, settings, routes, generated pages."""

import re
from functools import cache
from pathlib import Path

import pytest

from tests.generated_docs import DOCS, PAGES, commands, openapi, options_of
from tests.support.repository import ROOT

README = ROOT / "README.md"
FILES = [README, ROOT / "CHANGELOG.md", *sorted(DOCS.glob("*.md"))]
LONGEST = 120  # characters of a line of prose


@cache
def text_of(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def prose_of(path: Path) -> str:
    """A file without its blocks of code."""
    return re.sub(r"^```.*?^```$", "", text_of(path), flags=re.MULTILINE | re.DOTALL)


@cache
def anchors_of(path: Path) -> set[str]:
    """The anchors of a file's headings, as GitHub makes them."""
    found: set[str] = set()
    for title in re.findall(r"^#+ (.+)$", prose_of(path), re.MULTILINE):
        anchor = re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")
        found.add(anchor if anchor not in found else f"{anchor}-1")
    return found


def spans_of(path: Path) -> list[str]:
    """Every command that a file names: spans of code, and lines of blocks."""
    blocks = re.findall(r"^```\w*\n(.*?)^```$", text_of(path), re.MULTILINE | re.DOTALL)
    lines = [line.split("#")[0].strip() for block in blocks for line in block.splitlines()]
    return lines + re.findall(r"`([^`\n]+)`", prose_of(path))


@pytest.mark.parametrize("name", PAGES)
def test_generated_pages_are_those_of_the_code(name: str) -> None:
    assert PAGES[name]() == text_of(DOCS / name), "run: make docs"


def test_every_command_and_route_has_its_heading() -> None:
    single = {name for name, command in commands().items() if not hasattr(command, "commands")}
    assert single <= set(re.findall(r"^## (.+)$", text_of(DOCS / "cli.md"), re.MULTILINE))
    document, _, _ = openapi()
    routes = {f"{method.upper()} {path}" for path, each in document["paths"].items() for method in each}
    assert routes == set(re.findall(r"^### (.+)$", text_of(DOCS / "api.md"), re.MULTILINE))


def test_every_route_of_a_project_names_its_role() -> None:
    document, roles, _ = openapi()
    for path, operations in document["paths"].items():
        for method in operations:
            if re.search(r"\{(project|document|page|annotation|task|run|job)_id\}", path):
                assert (method.upper(), path) in roles, (method, path)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_every_link_leads_somewhere(path: Path) -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", prose_of(path)):
        if re.match(r"https?:", target):
            continue
        file, _, anchor = target.partition("#")
        there = (path.parent / file).resolve() if file else path
        assert there.exists(), target
        assert not anchor or anchor in anchors_of(there), target


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_every_named_path_of_the_code_exists(path: Path) -> None:
    if path.name == "LOG.md":
        return  # history names what was
    for span in re.findall(
        r"`((?:annotator|engine|model|db|migrations|tests|docs|deploy|\.ci)/[\w./-]*)`", prose_of(path)
    ):
        assert "NAME" in span or (ROOT / span).exists(), span
    for script in re.findall(r"`(\w+\.js)`", prose_of(path)):
        assert any((ROOT / "annotator" / "static").rglob(script)), script


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_every_named_command_exists(path: Path) -> None:
    known = commands()
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    for span in spans_of(path):
        words = re.sub(r"^(?:[A-Z_]+=\S+ )+", "", span).split()
        if words[:1] == ["make"] and len(words) > 1 and path.name != "LOG.md":
            assert words[1].rstrip(",.;") in targets, span
        if words[:1] == ["glossator"] and len(words) > 1:
            name = "glossator"
            for word in words[1:]:
                if f"{name} {word}" not in known:
                    break
                name = f"{name} {word}"
            assert name != "glossator" or words[1] in ("COMMAND", "--version"), span
            used = {re.split("[=`]", word)[0] for word in words if word.startswith("--")}
            assert hasattr(known[name], "commands") or used <= options_of(known[name]), span


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_every_named_setting_exists(path: Path) -> None:
    known = set(re.findall(r"^\| `(GLOSSATOR_\w+)`", text_of(DOCS / "settings.md"), re.MULTILINE))
    assert set(re.findall(r"GLOSSATOR_[A-Z_]+[A-Z]", text_of(path))) <= known


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_prose_lines_are_short(path: Path) -> None:
    long = [
        line
        for line in prose_of(path).splitlines()
        if len(line) > LONGEST and not line.startswith(("|", "![", "`glossator"))
    ]
    assert not long, long[0]


def test_the_readme_stays_short_and_names_every_page() -> None:
    assert len(text_of(README).splitlines()) <= 200
    linked = set(re.findall(r"\(docs/([\w-]+\.md)", text_of(README)))
    assert linked == {path.name for path in DOCS.glob("*.md")}


def test_every_picture_is_shown_somewhere() -> None:
    shown = {Path(each).name for path in FILES for each in re.findall(r"!\[[^\]]*\]\(([^)]+)\)", text_of(path))}
    assert {path.name for path in (DOCS / "pictures").iterdir()} <= shown


def test_every_format_is_described() -> None:
    from engine.interchange.formats import FORMATS

    heads = re.findall(r"^\| ((?:`[\w.-]+`(?:, )?)+) \|", text_of(DOCS / "formats.md"), re.MULTILINE)
    rows = {name for head in heads for name in re.findall(r"`([\w.-]+)`", head)}
    assert set(FORMATS) <= rows
