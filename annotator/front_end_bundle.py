"""The modules and the styles of the front end, each joined into one file when the server starts.

A browser that opens the page for the first time makes one request where it made one a module. The source stays as it
is: no build step, no Node.js. Modules are joined by their text, which is possible as they keep to a part of the
syntax: named imports and exports in lines of their own, no cycles, no exported variable that changes. Anything else
is refused when the server starts, and by a test. A module keeps its lines, so the map shows the original files in a
debugger.
"""

import json
import posixpath
import re
from collections.abc import Mapping

SCRIPT, STYLES, MAP = "bundle.js", "bundle.css", "bundle.js.map"
_IMPORT = re.compile(r"^import (\{[^}]*\}) from '([^']+)';$", re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async )?(?:function\*?|class|const) (\w+))", re.MULTILINE)
_EXPORT_LIST = re.compile(r"^export \{([\w\s,]*)\};$", re.MULTILINE)
_OTHER = re.compile(r"^(?:import|export)\b.*$|\bimport\(|\bimport\.meta\b", re.MULTILINE)
_COMMENT = re.compile(r"/\*.*?\*/|^\s*//.*$", re.MULTILINE | re.DOTALL)


def join_styles(files: Mapping[str, bytes], names: list[str]) -> bytes:
    """Return style sheets joined in the order of `names`."""
    return b"\n".join(files[name] for name in names)


def join_modules(files: Mapping[str, bytes], entry: str) -> dict[str, bytes]:
    """Join a module with all that it imports.

    Args:
        files: content by name, as in "core/dom.js".
        entry: name of the module that a page would load.

    Returns:
        The files SCRIPT and MAP. The script exports `modules`, what each module exports by its name, for debuggers and
        tests: the same module loaded from its own file is another one.

    Raises:
        ValueError: a module has syntax that is not joined, or modules import each other in a circle.
    """
    order = _in_order(files, entry)
    numbers = {name: number for number, name in enumerate(order)}
    lines, sections = 0, []
    parts = []
    for name in order:
        source = files[name].decode()
        head, body, tail = f"const m{numbers[name]} = (() => {{", _join_body(name, source, numbers), _tail(source)
        mappings = "AAAA" + ";AACA" * source.count("\n")  # each line is the same line of the source
        one_file = {"version": 3, "sources": [name], "names": [], "mappings": mappings}
        sections.append({"offset": {"line": lines + 1, "column": 0}, "map": one_file})
        part = f"{head}\n{body}\n{tail}\n"
        lines += part.count("\n")
        parts.append(part)
    named = ", ".join(f'"{name}": m{number}' for name, number in numbers.items())
    script = f"{''.join(parts)}export const modules = {{ {named} }};\n//# sourceMappingURL={MAP}\n"
    return {SCRIPT: script.encode(), MAP: json.dumps({"version": 3, "sections": sections}).encode()}


def _in_order(files: Mapping[str, bytes], entry: str) -> list[str]:
    """Return a module and all that it imports, each after what it imports."""
    order: list[str] = []
    entered: set[str] = set()

    def enter(name: str) -> None:
        if name in order:
            return
        if name in entered:
            raise ValueError(f"{name} imports itself through other modules.")
        if name not in files:
            raise ValueError(f"There is no module {name}.")
        entered.add(name)
        for match in _IMPORT.finditer(files[name].decode()):
            enter(_resolve(name, match[2]))
        order.append(name)

    enter(entry)
    return order


def _resolve(importer: str, path: str) -> str:
    return posixpath.normpath(posixpath.join(posixpath.dirname(importer), path))


def _join_body(name: str, source: str, numbers: Mapping[str, int]) -> str:
    """Return the source with its imports from the modules before it, and without the word export; as many lines."""

    def replace_import(match: re.Match[str]) -> str:
        return f"const {re.sub(r' as ', ': ', match[1])} = m{numbers[_resolve(name, match[2])]};"

    body = _EXPORT.sub("", _EXPORT_LIST.sub(lambda match: "\n" * match[0].count("\n"), source))
    body = _IMPORT.sub(replace_import, body)
    if statement := _OTHER.search(_COMMENT.sub("", body)):
        raise ValueError(f"{name} has an import or export that is not joined: {statement[0]}")
    return body


def _tail(source: str) -> str:
    exported = [match[1] for match in _EXPORT.finditer(source)]
    for match in _EXPORT_LIST.finditer(source):
        exported += [part.strip() for part in match[1].split(",") if part.strip()]
    return f"return {{ {', '.join(exported)} }};\n}})();"
