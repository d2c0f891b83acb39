"""Skipped tasks of an export: skipped.csv beside the answers, in every format."""

import csv
from collections import Counter
from itertools import chain

from engine.datasets.frozen_skips import skips_of
from engine.interchange.cells import harmless
from engine.interchange.destination import Destination
from engine.interchange.release import Release

SKIPPED_FILE = "skipped.csv"
COLUMNS = (
    "document", "question", "reason", "note", "person", "verdict", "remark", "decided_by", "document_sha256", "task_id",
)  # fmt: skip


def write(release: Release, to: Destination) -> Counter[tuple[str, str]]:
    """Write the skips of the snapshot, oldest first, in UTF-8 with a byte order mark; nothing where there are none.

    Returns:
        Numbers of skips by reason and verdict ("dismissed", or "waiting").
    """
    skips = skips_of(release.workspace, release.snapshot.sha256)
    counts: Counter[tuple[str, str]] = Counter()
    first = next(skips, None)
    if first is None:
        return counts
    with to.text(SKIPPED_FILE) as file:
        file.write("\ufeff")
        table = csv.writer(file)
        table.writerow(COLUMNS)
        for skip in chain([first], skips):
            verdict = skip.verdict or "waiting"
            counts[skip.reason, verdict] += 1
            row = (
                skip.document, skip.question, skip.reason, skip.note, skip.person, verdict, skip.remark,
                skip.decided_by, skip.document_sha256, skip.task_id,
            )  # fmt: skip
            table.writerow([harmless(value) for value in row])
    return counts
