"""Run the tests that a change touches: `python -m tests.changed_tests`, or `make test-changed`.

The change is what the working tree has that the main branch had not where this branch left it, uncommitted files
included. Its tests are found by imports (tests.support.import_graph); files that nothing imports follow BY_PLACE.
"""

import argparse
import fnmatch
import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from tests.support.file_seconds import recorded_seconds
from tests.support.import_graph import ImportGraph
from tests.support.repository import ROOT

BASES = ("origin/main", "main")
LONG = ("tests/browser/long/", "tests/long/", "tests/benchmarks/")
# Seconds of one worker that the chosen tests may take together. Two workers need about half of it, and ten to start.
BUDGET = 150.0
FARTHER = 2  # imports: how much farther than the nearest test others may lie that are run as well
# What a file of tests takes that never ran here, by its folder.
GUESSES = {"tests/browser/": 30.0, "tests/engine/documents/": 8.0, "": 5.0}
# Tests of files that no other file imports; the browser loads scripts by their address, and people read docs.
BY_PLACE = {
    "annotator/static/canvas/*": ("tests/browser/test_canvas.py", "tests/browser/test_correcting.py"),
    "annotator/static/core/*": ("tests/browser/test_lists.py", "tests/browser/test_repeated_keys.py"),
    "annotator/static/css/*": ("tests/browser/test_annotate_layout.py", "tests/annotator/test_palettes.py"),
    "annotator/static/panels/*": ("tests/browser/test_annotate_layout.py", "tests/browser/test_document_list.py"),
    "annotator/static/settings/*": ("tests/browser/test_fresh.py",),
    "annotator/static/state/*": ("tests/browser/test_correcting.py", "tests/browser/test_sequences.py"),
    "annotator/static/sync/*": (
        "tests/browser/test_fresh.py",
        "tests/browser/test_words_saving.py",
    ),
    "annotator/static/tabs/*": ("tests/browser/test_tabs_*.py", "tests/browser/test_projects.py"),
    "annotator/static/tasks/*": ("tests/browser/test_deciding.py",),
    "annotator/static/words/*": ("tests/browser/test_words.py", "tests/browser/test_words_saving.py"),
    "annotator/static/*": ("tests/browser/test_fresh.py", "tests/browser/test_correcting.py"),
    "docs/*": ("tests/test_docs.py",),
    "migrations/*": ("tests/db/test_database.py",),
    "Makefile": ("tests/test_docs.py", "tests/test_changed_tests.py"),
    "README.md": ("tests/test_docs.py",),
}
OF_EVERYTHING = ("pyproject.toml", "constraints.txt", "package.json", "package-lock.json", "tests/conftest.py")


@dataclass(frozen=True, slots=True)
class Choice:
    """Tests of a change.

    Attributes:
        files: Files of tests to run, the nearest first, with the steps between each and the change.
        specs: Unit specs of the front end to run.
        left_out: Files that the change reaches, too, but that the budget leaves no time for.
        long: Changed tests that `make test` leaves out; they run by their own name.
        unknown: Changed files that neither an import nor a rule connects with a test.
    """

    files: dict[str, int] = field(default_factory=dict)
    specs: list[str] = field(default_factory=list)
    left_out: dict[str, int] = field(default_factory=dict)
    long: list[str] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)


def choose(changed: Sequence[str], graph: ImportGraph, seconds: Mapping[str, float], budget: float = BUDGET) -> Choice:
    """Return the tests of a change, the nearest first, while they fit into the budget.

    Nearest are changed tests, then those named after a changed file (tests/a/test_c.py for a/b/c.py), then direct
    importers, and so on; among equals those that lie in the folder of tests that belongs to a changed file's, then the
    quick ones. A changed test runs whatever it takes. Tests that lie more than FARTHER imports behind the nearest one
    are left out, since what they share with the change is what every test needs.

    Args:
        changed: Changed files, deleted ones included, as paths from the root.
        graph: Imports of the repository as it is now.
        seconds: Seconds of a worker by file of tests; guessed where missing.
        budget: Seconds of a worker for all of them together.
    """
    steps = graph.distances(changed)
    for path in changed:
        for test in _by_place(path, graph):
            steps[test] = min(steps.get(test, 1), 1)
    tests = {path: far for path, far in steps.items() if is_test(path) and not path.startswith(LONG)}
    named = {name for path in changed for name in _named_after(path)}
    folders = {_folder_of_tests(path) for path in changed}

    def rank(path: str) -> tuple[bool, bool, int, bool, float, str]:
        near = str(PurePosixPath(path).parent) in folders
        return (path not in changed, path not in named, tests[path], not near, _cost(path, seconds), path)

    files: dict[str, int] = {}
    left_out: dict[str, int] = {}
    left = budget
    farthest = FARTHER + min((far for path, far in tests.items() if path not in changed), default=0)
    for path in sorted(tests, key=rank):
        cost = _cost(path, seconds)
        if path in changed or (cost <= left and tests[path] <= farthest):
            files[path] = tests[path]
            left -= cost
        else:
            left_out[path] = tests[path]
    return Choice(
        files,
        sorted(path for path in steps if path.endswith(".spec.js")),
        left_out,
        sorted(path for path in changed if is_test(path) and path.startswith(LONG) and path in steps),
        sorted(path for path in changed if _reaches_nothing(path, graph)),
    )


def is_test(path: str) -> bool:
    """Return whether a file holds tests for pytest."""
    return path.startswith("tests/") and fnmatch.fnmatch(PurePosixPath(path).name, "test_*.py")


def changed_files(base: str) -> list[str]:
    """Return the files that differ from where this branch left `base`, deleted and untracked ones included."""
    start = _git("merge-base", "HEAD", base)[0]
    return sorted({*_git("diff", "--name-only", start), *_git("ls-files", "--others", "--exclude-standard")})


def known_files() -> list[str]:
    """Return the files of the working tree that git knows or would take."""
    listed = _git("ls-files", "--cached", "--others", "--exclude-standard")
    return [path for path in listed if (ROOT / path).is_file()]


def default_base() -> str:
    """Return the main branch: of the remote, else the local one."""
    for name in BASES:
        if subprocess.run(["git", "rev-parse", "-q", "--verify", name], cwd=ROOT, capture_output=True).returncode == 0:
            return name
    raise SystemExit(f"There is no branch {' or '.join(BASES)} here: name what to compare with, as in BASE=HEAD~1.")


def main() -> None:
    """Choose the tests, say which and why, and run them."""
    parser = argparse.ArgumentParser(description="Run the tests that a change touches.")
    parser.add_argument("--base", default="", help="branch or commit to compare with; else the main branch")
    parser.add_argument("--budget", type=float, default=BUDGET, help="seconds of one worker for all tests together")
    parser.add_argument("--list", action="store_true", help="name the tests and run nothing")
    given = parser.parse_args()
    changed = changed_files(given.base or default_base())
    seconds = recorded_seconds(ROOT)
    choice = choose(changed, ImportGraph(ROOT, known_files()), seconds, given.budget)
    _say(changed, choice, seconds)
    if not given.list:
        raise SystemExit(_run(choice))


def _say(changed: Sequence[str], choice: Choice, seconds: Mapping[str, float]) -> None:
    lines = [f"{_count(len(changed), 'changed file')}."]
    lines += [f"  {path}  ({_distance(path, far, changed)})" for path, far in choice.files.items()]
    lines += [f"  {path}" for path in choice.specs]
    spent = sum(_cost(path, seconds) for path in choice.files)
    reached = len(choice.files) + len(choice.left_out)
    lines.append(f"Runs {len(choice.files)} of {_count(reached, 'file')} of tests, about {spent:.0f} s of one worker.")
    if choice.left_out:
        nearest = min(choice.left_out.values())
        others = _count(len(choice.left_out), "file")
        lines.append(f"Not run: {others} that the change reaches by {_count(nearest, 'import')} or more: `make test`.")
    if general := [path for path in changed if path in OF_EVERYTHING]:
        lines.append(f"Everything depends on {', '.join(general)}: `make test`.")
    if choice.long:
        lines.append(f"Long tests that changed, not run here: {' '.join(choice.long)}")
    if choice.unknown:
        lines.append(f"No test imports or names: {' '.join(choice.unknown)}")
    sys.stdout.write("\n".join(lines) + "\n")
    sys.stdout.flush()


def _run(choice: Choice) -> int:
    """Run unit specs, then tests; return the worse exit status."""
    specs = 0
    if choice.specs and shutil.which("node"):
        specs = subprocess.run(["node", "--test", *choice.specs], cwd=ROOT, check=False).returncode
    if not choice.files:
        return specs
    options = ["-q", "--databases", "one", "--cases", "few"]
    if len(choice.files) > 1:
        options += ["-n", "auto", "--dist", "loadfile", "--no-loadscope-reorder"]
    command = [sys.executable, "-m", "pytest", *options, *choice.files]
    return subprocess.run(command, cwd=ROOT, check=False).returncode or specs


def _git(*words: str) -> list[str]:
    done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"git {' '.join(words)}: {done.stderr.strip()}")
    return done.stdout.splitlines()


def _by_place(path: str, graph: ImportGraph) -> Iterable[str]:
    """Yield the tests that a rule names for a file; of several rules the first one holds."""
    for pattern, tests in BY_PLACE.items():
        if fnmatch.fnmatch(path, pattern):
            for test in tests:
                yield from fnmatch.filter(graph.files, test)
            return


def _named_after(path: str) -> Iterable[str]:
    """Yield the files of tests that have a file's name: tests/a/b/test_c.py and tests/a/test_c.py for a/b/c.py."""
    place = PurePosixPath(path)
    return (f"tests/{folder}/test_{place.stem}.py" for folder in place.parents)


def _folder_of_tests(path: str) -> str:
    folder = str(PurePosixPath(path).parent)
    return folder if folder.startswith("tests") else f"tests/{folder}"


def _reaches_nothing(path: str, graph: ImportGraph) -> bool:
    if any(True for _ in _by_place(path, graph)) or path in OF_EVERYTHING:
        return False
    return not any(is_test(user) or user.endswith(".spec.js") for user in graph.distances([path]))


def _cost(path: str, seconds: Mapping[str, float]) -> float:
    guess = next(guess for folder, guess in GUESSES.items() if path.startswith(folder))
    return seconds.get(path, guess)


def _count(number: int, name: str) -> str:
    return f"{number} {name}" if number == 1 else f"{number} {name}s"


def _distance(path: str, far: int, changed: Sequence[str]) -> str:
    return "changed" if path in changed else f"{_count(far, 'import')} away"


if __name__ == "__main__":
    main()
