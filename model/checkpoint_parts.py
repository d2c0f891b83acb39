"""Split a file of weights into parts that travel where large files cannot, and join them again."""

import hashlib
import json
import os
from pathlib import Path

MOST_BYTES = 15 * 2**20  # of a part
_LISTED = ".parts.json"


def split_file(path: Path, folder: Path, most_bytes: int = MOST_BYTES) -> Path:
    """Write the parts of a file and their list into a folder; parts of an older file of that name are deleted.

    Args:
        path: file to split.
        folder: created if missing.
        most_bytes: bytes of a part.

    Returns:
        The list: name, size and sha256 (hex) of the file, and of each part in order.

    Raises:
        OSError: the file cannot be read, or the folder not be written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    listed = folder / f"{path.name}{_LISTED}"
    listed.unlink(missing_ok=True)  # a list is there only with all of its parts
    for old in folder.glob(f"{path.name}.[0-9][0-9][0-9]"):
        old.unlink()
    whole = hashlib.sha256()
    parts: list[dict[str, str]] = []
    with path.open("rb") as file:
        while content := file.read(most_bytes):
            whole.update(content)
            part = folder / f"{path.name}.{len(parts):03}"
            part.write_bytes(content)
            parts.append({"name": part.name, "sha256": hashlib.sha256(content).hexdigest()})
    about = {"name": path.name, "bytes": path.stat().st_size, "sha256": whole.hexdigest(), "parts": parts}
    listed.write_text(json.dumps(about, indent=1), encoding="utf-8")
    return listed


def join_parts(listed: Path, target: Path | None = None) -> Path:
    """Join the parts of a list; the file is whole or not there.

    Args:
        listed: list that `split_file` wrote, beside the parts.
        target: file to write; by default beside the list.

    Returns:
        The file.

    Raises:
        ValueError: the list is no such list, or a part is missing or damaged. The message is one sentence.
        OSError: the file cannot be written.
    """
    try:
        about = json.loads(listed.read_text(encoding="utf-8"))
        name, wanted, parts = (
            str(about["name"]),
            about["sha256"],
            [(part["name"], part["sha256"]) for part in about["parts"]],
        )
    except (OSError, json.JSONDecodeError, KeyError, TypeError) as error:
        raise ValueError(f"{listed} is not the list of a file's parts: {error}.") from error
    target = target or listed.parent / Path(name).name
    temporary = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    whole = hashlib.sha256()
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        with temporary.open("wb") as file:
            for part, sha256 in parts:
                path = listed.parent / Path(part).name
                if not path.is_file():
                    raise ValueError(f"The part {path} is missing; copy it again.")
                content = path.read_bytes()
                if hashlib.sha256(content).hexdigest() != sha256:
                    raise ValueError(f"The part {path} is damaged; copy it again.")
                whole.update(content)
                file.write(content)
        if whole.hexdigest() != wanted:
            raise ValueError(f"The parts of {listed} do not make the file that was split; copy them again.")
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)
    return target
