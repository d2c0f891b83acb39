"""Child process that reads fillable PDF forms: `python -m engine.documents.blank_forms.child REQUEST`.

Reports each page as a JSON line, and each file when it is finished. Sets limits before it touches a file.
"""

import json
import os
import sys
from pathlib import Path
from typing import Any


def main() -> int:
    """Run the child process; return its exit status."""
    from engine.confinement import Reach, confine
    from engine.documents.reading.child import limit_process

    request = json.loads(sys.argv[1])
    # Output of libraries goes to standard error, so that standard output carries JSON only.
    wire = os.fdopen(os.dup(1), "w", encoding="ascii")
    os.dup2(2, 1)
    limits = request["limits"]
    limit_process(limits["memory_mb"], limits["seconds"], limits["bytes"])
    confine(Reach(reads=[Path(source) for source in request["sources"]]), limits["confinement"])

    from engine.documents.blank_forms.pages import read_templates
    from engine.documents.limits import ReadLimits
    from engine.documents.refusal import Unreadable
    from engine.synthetic.blank_forms.template import template_to_json

    def tell(**said: Any) -> None:
        """Write one JSON line."""
        wire.write(json.dumps(said) + "\n")
        wire.flush()

    for name in request["sources"]:
        tell(begun=name)
        try:
            for template in read_templates(Path(name), ReadLimits(**limits)):
                tell(page=template_to_json(template))
            tell(finished=name)
        except Unreadable as error:
            tell(refused=name, why=error.why)
    return 0


if __name__ == "__main__":
    status = main()
    sys.stderr.flush()
    os._exit(status)
