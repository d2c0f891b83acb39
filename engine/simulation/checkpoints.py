"""Keep a simulation at the end of each round, so that one that was stopped goes on with the next round.

A round changes the project in many ways, so the whole database is copied; blobs only ever come to it. The state names
the copy that belongs to it, and is replaced at once.
"""

import json
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from db import private
from engine.errors import Refused
from engine.settings import DATABASE_FILE
from engine.simulation.figures import Round, round_from_json

STATE_FILE = "simulation.json"


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """State after a round. `first`: id of the version before any retraining. `left`: pages not corrected yet."""

    plan: Mapping[str, Any]
    first: str
    left: tuple[str, ...]
    rounds: tuple[Round, ...]


def save(folder: Path, state: Checkpoint) -> None:
    """Keep the database of the folder and the state. Raises OSError."""
    copy = folder / f"round-{len(state.rounds) - 1}.db"
    copy.unlink(missing_ok=True)
    private.make_file(copy)
    with closing(sqlite3.connect(folder / DATABASE_FILE)) as source, closing(sqlite3.connect(copy)) as target:
        source.backup(target)
    temporary = folder / f"{STATE_FILE}.tmp"
    stored = {"database": copy.name, **asdict(state)}
    temporary.write_text(json.dumps(stored), encoding="utf-8")
    temporary.replace(folder / STATE_FILE)
    for older in folder.glob("round-*.db"):
        if older != copy:
            older.unlink()


def restore(folder: Path, plan: Mapping[str, Any]) -> Checkpoint | None:
    """Return the last state, with its database in place; None where the folder holds no finished round.

    The workspace of the folder must be closed. Raises Refused for the state of another plan.
    """
    path = folder / STATE_FILE
    if not path.is_file():
        return None
    stored = json.loads(path.read_text(encoding="utf-8"))
    wanted = json.loads(json.dumps(plan))
    if "deployment" not in stored["plan"]:  # of an earlier version
        wanted.pop("deployment", None)
    if stored["plan"] != wanted:
        raise Refused(
            f"{folder} holds a simulation with other options, or of a version with other defaults; repeat those, or "
            "choose another folder."
        )
    for file in _files(folder):
        file.unlink(missing_ok=True)
    private.make_file(folder / DATABASE_FILE)
    with (
        closing(sqlite3.connect(folder / stored["database"])) as source,
        closing(sqlite3.connect(folder / DATABASE_FILE)) as target,
    ):
        source.backup(target)
    rounds = tuple(round_from_json(finished_round) for finished_round in stored["rounds"])
    return Checkpoint(stored["plan"], stored["first"], tuple(stored["left"]), rounds)


def _files(folder: Path) -> Sequence[Path]:
    return [folder / f"{DATABASE_FILE}{end}" for end in ("", "-wal", "-shm")]
