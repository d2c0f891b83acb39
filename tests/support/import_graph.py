"""Which file of the repository needs which: imports of Python and of JavaScript, files and modules named in strings."""

import re
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from pathlib import Path, PurePosixPath

_PACKAGES = ("annotator", "db", "engine", "migrations", "model", "tests")
# Read by patterns: to parse the 1,200 files and to walk through a million nodes takes ten times as long.
_FOR_TYPES = re.compile(r"^([ \t]*)if TYPE_CHECKING:\n(?:\1[ \t]+.*\n|[ \t]*\n)+", re.MULTILINE)
_FROM = re.compile(r"^[ \t]*from[ \t]+([\w.]+)[ \t]+import[ \t]+(\([^)]*\)|[^\n#(]+)", re.MULTILINE)
_IMPORT = re.compile(r"^[ \t]*import[ \t]+([^\n#]+)", re.MULTILINE)
_NAMED = re.compile(r"""["']([\w./-]+)["']""")
_SCRIPT_IMPORT = re.compile(r"""(?:from|import)\s*\(?\s*['"](\.{1,2}/[^'"]+)['"]""")
_NOT_DATA = (".py", ".js", ".md")


class ImportGraph:
    """Files, as paths from the root with slashes, and what each of them needs directly.

    A Python file needs the modules that it imports anywhere but under `if TYPE_CHECKING`, those that define the names
    which it imports from a package, modules that a string names ("engine.documents.reading.child"), files of data whose
    name ends a string, and, as a test, every conftest.py above it. A script needs what it imports by a relative path.

    Attributes:
        files: All files.
    """

    def __init__(self, root: Path, files: Iterable[str]) -> None:
        """Prepare the graph of `files`, which lie in `root`; they are read when it is first asked."""
        self._root = root
        self.files = frozenset(files)
        self._modules = {name: path for path in self.files if (name := _module_of(path))}
        self._data: dict[str, list[str]] = {}
        for path in self.files:
            if not path.endswith(_NOT_DATA):
                self._data.setdefault(PurePosixPath(path).name, []).append(path)
        self._packages: dict[str, Mapping[str, str]] = {}

    @cached_property
    def needs(self) -> Mapping[str, frozenset[str]]:
        """Return what each file needs directly."""
        return {path: self.files.intersection(self._needs_of(path)) - {path} for path in self.files}

    @cached_property
    def needed_by(self) -> Mapping[str, frozenset[str]]:
        """Return the files that need each file directly."""
        users: dict[str, set[str]] = {path: set() for path in self.files}
        for path, needed in self.needs.items():
            for source in needed:
                users[source].add(path)
        return {path: frozenset(found) for path, found in users.items()}

    def distances(self, changed: Iterable[str]) -> dict[str, int]:
        """Return how many imports lie between each file that a change reaches and the change: 0 for itself."""
        steps = {path: 0 for path in changed if path in self.needed_by}
        waiting = deque(steps)
        while waiting:
            path = waiting.popleft()
            for user in self.needed_by[path]:
                if user not in steps:
                    steps[user] = steps[path] + 1
                    waiting.append(user)
        return steps

    def _needs_of(self, path: str) -> Iterator[str]:
        if path.endswith(".js"):
            folder = PurePosixPath(path).parent
            yield from (_joined(folder, found) for found in _SCRIPT_IMPORT.findall(self._text(path)))
        elif path.endswith(".py"):
            if path.startswith("tests/"):
                yield from (f"{folder}/conftest.py" for folder in PurePosixPath(path).parents)
            text = _FOR_TYPES.sub("", self._text(path))
            for module, names in _imported(text):
                yield from self._defining(module, names)
            for named in _NAMED.findall(text):
                if "." in named:
                    yield from (self._modules.get(named, path), *self._data.get(named.rpartition("/")[2], ()))

    def _defining(self, module: str, names: Iterable[str]) -> Iterator[str]:
        """Yield the files that an import of names from a module needs, with those where the names are defined."""
        names = list(names)
        modules = {name: found for name in names if (found := self._modules.get(f"{module}.{name}"))}
        yield from modules.values()
        if module in self._modules and (len(modules) < len(names) or not names):
            yield self._modules[module]
        for name in names:
            if name not in modules and (source := self._given_on(module).get(name, module)) != module:
                yield from self._defining(source, [name])

    def _given_on(self, module: str) -> Mapping[str, str]:
        """Return the modules from which a package takes the names that it gives on."""
        path = self._modules.get(module, "")
        if not path.endswith("/__init__.py"):
            return {}
        if path not in self._packages:
            self._packages[path] = {
                name: source for source, names in _imported(self._text(path)) for name in names if source != module
            }
        return self._packages[path]

    def _text(self, path: str) -> str:
        return (self._root / path).read_text(encoding="utf-8")


def _imported(text: str) -> Iterator[tuple[str, list[str]]]:
    """Yield each module that a Python file imports, with the names that it takes from it."""
    for modules in _IMPORT.findall(text):
        for module in modules.split(","):
            yield module.split()[0], []
    for module, names in _FROM.findall(text):
        lines = (line.split("#")[0] for line in names.strip("()").split("\n"))
        yield module, [name.split()[0] for line in lines for name in line.split(",") if name.strip()]


def _module_of(path: str) -> str | None:
    """Return the name by which a Python file is imported."""
    parts = PurePosixPath(path).with_suffix("").parts
    if not path.endswith(".py") or parts[0] not in _PACKAGES:
        return None
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _joined(folder: PurePosixPath, relative: str) -> str:
    """Return a path without its `..`."""
    parts: list[str] = []
    for part in (*folder.parts, *PurePosixPath(relative).parts):
        if part == "..":
            parts.pop()
        else:
            parts.append(part)
    return "/".join(parts)
