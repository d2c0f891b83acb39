"""The parts of the README that follow from the code, file tree and settings: `python tests/readme_parts.py` writes them anew."""

import ast
import re
import subprocess

from tests.support.repository import ROOT

TOPS = ("annotator", "engine", "model", "db", "migrations", "tests")
WIDTH = 30
TOP_FILES = ("Makefile", "pyproject.toml", "constraints.txt", "LICENSE", ".ci/run")
SAID = {
    "Makefile": "serve, test, lint, bench: the commands",
    "pyproject.toml": "packages, extras, and the settings of ruff, mypy, pytest, import-linter",
    "constraints.txt": "the versions that were tested together",
    "LICENSE": "AGPL-3.0-or-later",
    ".ci/run": "what CI runs on a clean clone",
    "workspace.png": "the picture above",
    "icon.svg": "the mark on the page",
    "script.py.mako": "the form of a new migration",
    "nano.safetensors": "the shipped model",
    "tokenizer.json": "its word pieces (all-MiniLM-L6-v2, Apache-2.0)",
    "MODEL_CARD.md": "how it was made, its figures, its limits",
    "invoice.html": "a sample: an invoice",
    "letter.html": "a sample: a letter of two pages",
    "registration.html": "a sample: a form",
    "page.html": "the page of a report, without its contents",
}


def tree() -> str:
    """Return the tree as Markdown."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    files = sorted(name for name in set(listed.stdout.split("\n")) if name and (ROOT / name).exists())
    lines = [_line(name, SAID[name], 0) for name in TOP_FILES]
    for top in TOPS:
        lines += ["", f"{top}/".ljust(WIDTH) + _first(f"{top}/__init__.py")]
        last = ""
        for name in sorted((name for name in files if name.startswith(f"{top}/")), key=_order):
            folder, _, file = name[len(top) + 1 :].rpartition("/")
            if file == "__init__.py":
                continue
            if folder and folder != last:
                lines.append(f"  {folder}/".ljust(WIDTH) + _first(f"{top}/{folder}/__init__.py"))
            last = folder
            lines.append(_line(file, SAID.get(file) or _first(name), 2 if folder else 1))
    return "```\n" + "\n".join(line.rstrip() for line in lines) + "\n```"


def _order(name: str) -> tuple[bool, str, str]:
    folder, _, file = name.rpartition("/")
    return "/" in folder, folder, file


def _line(file: str, said: str, depth: int) -> str:
    return ("  " * depth + file + " ").ljust(WIDTH) + said


def _first(name: str) -> str:
    """Return the first sentence of a file: of its docstring, or of the comment it begins with."""
    path = ROOT / name
    if not path.is_file():
        return ""
    text = path.read_text(encoding="utf-8", errors="replace")
    if name.endswith(".py"):
        found = (ast.get_docstring(ast.parse(text)) or "").split("\n\n")[0].replace("\n", " ")
    else:
        match = re.match(r"\s*(?://|/\*+|#)\s*(.*?)\s*(?:\*/)?\s*(?:\n|$)", text)
        found = match.group(1) if match else ""
    sentence = re.split(r"(?<=[.:;])\s", found)[0] if len(found) > 110 else found
    return sentence.rstrip(".:;")


def settings() -> str:
    """Return the table of settings as Markdown."""
    from engine.settings import Settings

    rows = ["| variable | default | what it chooses |", "|---|---|---|"]
    for name, field in Settings.model_fields.items():
        default = "" if field.default in (None, "", []) else f"`{field.default}`"
        rows.append(f"| `GLOSSATOR_{name.upper()}` | {default} | {field.description} |")
    return "\n".join(rows)


def replaced(readme: str) -> str:
    """Return the README with those parts as they should be."""
    for name, part in (("settings", settings()), ("tree", tree())):
        begin, end = f"<!-- {name}: python tests/readme_parts.py -->", f"<!-- /{name} -->"
        before, found, rest = readme.partition(begin)
        _, closed, after = rest.partition(end)
        if not found or not closed:
            raise SystemExit(f"README.md has lost its marks {begin} and {end}.")
        readme = f"{before}{begin}\n{part}\n{end}{after}"
    return readme


if __name__ == "__main__":
    path = ROOT / "README.md"
    path.write_text(replaced(path.read_text(encoding="utf-8")), encoding="utf-8")
