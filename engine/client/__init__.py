"""The Python client of a Glossator server: `from engine.client import Glossator`.

The client needs httpx and pydantic alone. It imports nothing else of Glossator: no torch, no database, no web
framework. The types of answers stand in `engine.client.schemas`. The types that programs pass in are exported here.
"""

from engine.client.glossator import Glossator
from engine.client.schemas import (
    Action,
    Box,
    ChangeKind,
    Edit,
    EditClear,
    EditMask,
    EditNoAnswer,
    EditPatch,
    EditPrompts,
    EditWords,
    Part,
    Patch,
    Point,
    Verdict,
    WordAdd,
    WordChange,
    WordMerge,
    WordRemove,
    WordRestore,
    WordSplit,
    WordText,
)
from engine.client.transport import ServerSaid

__all__ = [
    "Action",
    "Box",
    "ChangeKind",
    "Edit",
    "EditClear",
    "EditMask",
    "EditNoAnswer",
    "EditPatch",
    "EditPrompts",
    "EditWords",
    "Glossator",
    "Part",
    "Patch",
    "Point",
    "ServerSaid",
    "Verdict",
    "WordAdd",
    "WordChange",
    "WordMerge",
    "WordRemove",
    "WordRestore",
    "WordSplit",
    "WordText",
]
