"""Whether processes that open uploads are confined, tried on a picture."""

import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from PIL import Image

from engine.confinement import NotConfined, not_confined_sentence
from engine.documents.ingest import limits_of
from engine.documents.reading.open import read_document
from engine.documents.refusal import DocumentRefused
from engine.lifecycle.doctor.finding import Finding, broken, ok, warning
from engine.settings import Settings

_NAME = "confinement"
_KERNEL = "Use Linux 5.13 or later, and a container that allows the system calls landlock_* and seccomp."


def check_readers(settings: Settings) -> Iterator[Finding]:
    """Yield what a reading process is kept from, after it has read a picture."""
    chosen = settings.reader_confinement
    if chosen == "off":
        yield warning(_NAME, not_confined_sentence(chosen), "Set GLOSSATOR_READER_CONFINEMENT=available.")
        return
    limits = replace(limits_of(settings), confinement="required")
    with tempfile.TemporaryDirectory(prefix="glossator-") as name:
        picture = Path(name, "picture.png")
        Image.new("L", (60, 40), 255).save(picture)
        try:
            read_document(picture, name=picture.name, limits=limits, out_dir=Path(name, "pages"))
        except NotConfined as error:
            if chosen == "required":
                yield broken(_NAME, str(error), _KERNEL)
            else:
                sentence = f"Processes that open uploads are not kept from {' and '.join(error.missing)}."
                yield warning(_NAME, sentence, _KERNEL)
        except DocumentRefused as error:
            mend = "Report this with the log, and set GLOSSATOR_READER_CONFINEMENT=off for the time being."
            yield broken(_NAME, f"A confined process cannot read a picture: {error}", mend)
        else:
            yield ok(_NAME, "Processes that open uploads have no network, and no files but their own.")
