"""Values of a YAML or JSON text that a person wrote, each with its line.

A scalar is the text as it is written: YAML would read the country NO as false, and 2026-04-03 as a day. What a text
stands for is up to its reader. Texts that are small and stand for much are refused: aliases, deep nesting.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import yaml

from engine.errors import Refused

MOST_VALUES = 100_000
DEEPEST = 40
_NULL = "tag:yaml.org,2002:null"
_KINDS = ("null", "bool", "int", "float", "timestamp", "str", "seq", "map", "merge", "value")
_PLAIN = {f"tag:yaml.org,2002:{kind}" for kind in _KINDS}

Place = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Written:
    """Content of a text: mappings, lists, texts and None; `lines` has the line of each place in it, from 1."""

    content: Any
    lines: Mapping[Place, int]

    def line_of(self, place: Place) -> int:
        """Return the line of a place, or of the nearest one around it."""
        while place and place not in self.lines:
            place = place[:-1]
        return self.lines.get(place, 1)


def parse_written(text: str, name: str) -> Written:
    """Return the values of a text in YAML or JSON.

    Args:
        text: the text.
        name: name of its file, for sentences.

    Raises:
        Refused: it is neither, holds aliases or tags, gives a key twice, or is too large or too deep.
    """
    try:
        _check_size(text, name)
        node = yaml.compose(text, Loader=yaml.CSafeLoader)  # JSON is YAML
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        place = f", line {min(mark.line, text.count(chr(10))) + 1}" if mark is not None else ""
        raise Refused(f"{name}{place} is neither YAML nor JSON: {getattr(error, 'problem', None) or error}.") from None
    lines: dict[Place, int] = {}
    return Written(None if node is None else _plain(node, (), lines, name), lines)


def _check_size(text: str, name: str) -> None:
    depth = values = 0
    for event in yaml.parse(text, Loader=yaml.CSafeLoader):
        line = event.start_mark.line + 1
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
            raise Refused(f"{name}, line {line}: anchors (&) and aliases (*) are not read. Write the text out instead.")
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        values += isinstance(event, yaml.NodeEvent)
        if depth > DEEPEST:
            raise Refused(f"{name}, line {line} is nested too deeply to be a list of fields.")
        if values > MOST_VALUES:
            raise Refused(f"{name} has more than {MOST_VALUES:,} values, so it is no list of fields.")


def _plain(node: yaml.Node, place: Place, lines: dict[Place, int], name: str) -> Any:
    line = lines[place] = node.start_mark.line + 1
    if node.tag not in _PLAIN:
        raise Refused(f"{name}, line {line}: the tag {node.tag} is not read. Take it out.")
    if isinstance(node, yaml.ScalarNode):
        return None if node.tag == _NULL else node.value
    if isinstance(node, yaml.SequenceNode):
        return [_plain(part, (*place, at), lines, name) for at, part in enumerate(node.value)]
    content: dict[str, Any] = {}
    for key, part in node.value:
        line = key.start_mark.line + 1
        if not isinstance(key, yaml.ScalarNode):
            raise Refused(f"{name}, line {line}: a key is no text.")
        if key.value in content:
            raise Refused(f"{name}, line {line}: {key.value} is given twice. Remove one.")
        content[key.value] = _plain(part, (*place, key.value), lines, name)
        lines[(*place, key.value)] = line
    return content
