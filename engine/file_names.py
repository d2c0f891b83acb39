"""Names of files that people send: they are stored and shown, and none may lead out of a folder or pretend to be another one."""

from pathlib import PurePosixPath

from engine.text import cleaned

MOST_BYTES = 200  # of a name in UTF-8: file systems take 255, and endings are added
_LONGEST_ENDING = 20


def file_name(given: str | None, otherwise: str) -> str:
    """Return the name of a file that somebody sent, without folders and without what nobody sees in it, fit to be stored, shown and
    given to a file: at most MOST_BYTES bytes, its ending kept. `otherwise`: where nothing of it is left."""
    name = cleaned(PurePosixPath((given or "").replace("\\", "/")).name, "")
    return _shortened(name) if name.strip(". ") else otherwise


def _shortened(name: str) -> str:
    content = name.encode()
    if len(content) <= MOST_BYTES:
        return name
    ending = PurePosixPath(name).suffix
    kept = ending if len(ending.encode()) <= _LONGEST_ENDING else ""
    return content[: MOST_BYTES - len(kept.encode()) - 3].decode(errors="ignore") + "..." + kept
