"""Child process that writes a marked PDF: `python -m engine.interchange.marked_pdf.child REQUEST`.

REQUEST is the path of a JSON file, because marks and words may be longer than an argument. Sets limits before it opens
the original, and says the end as a JSON line.
"""

import json
import os
import sys
from pathlib import Path


def main() -> int:
    """Run the child process; return its exit status."""
    from engine.confinement import NotConfined, Reach, confine
    from engine.documents.reading.child import limit_process

    request = json.loads(Path(sys.argv[1]).read_text("utf-8"))
    # Output of libraries goes to standard error, so that standard output carries JSON only.
    wire = os.fdopen(os.dup(1), "w", encoding="ascii")
    os.dup2(2, 1)
    limit_process(request["memory_mb"], request["seconds"], request["bytes"])
    source = [Path(request["source"])] if request["source"] else []
    reach = Reach(reads=source, writes=[Path(request["out"]).parent])
    try:
        confine(reach, request["confinement"])
    except NotConfined as error:
        wire.write(json.dumps({"not_confined": error.missing}) + "\n")
        return 0

    from engine.documents.refusal import Unreadable
    from engine.interchange.marked_pdf.drawing import draw

    try:
        draw(request)
        outcome: dict[str, bool | str] = {"finished": True}
    except Unreadable as error:
        outcome = {"refused": error.why}
    except MemoryError:
        outcome = {"refused": "needs too much memory."}
    wire.write(json.dumps(outcome) + "\n")
    wire.flush()
    return 0


if __name__ == "__main__":
    status = main()
    sys.stderr.flush()
    os._exit(status)
