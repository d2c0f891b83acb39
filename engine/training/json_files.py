"""Write a JSON file whole: a kill at any moment leaves the old one or the new one."""

import json
import os
from pathlib import Path


def write_json(path: Path, content: object) -> None:
    """Replace the file by `content`; its folder must exist."""
    temporary = path.with_suffix(f".{os.getpid()}.tmp")
    temporary.write_text(json.dumps(content), encoding="utf-8")
    temporary.replace(path)
