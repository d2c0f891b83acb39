"""What labels weigh, whose, and which were left out of what is learned from: two tables of the tab Quality."""

from collections.abc import Sequence
from html import escape

from annotator.ui import plots
from annotator.ui.table import Markup, badge, link, table
from engine.datasets.quality import SENTENCES
from engine.datasets.snapshot_views import SnapshotView
from engine.datasets.weights import DOUBTFUL, Reliability

MOST_ROWS = 30


def weights(people: Sequence[Reliability], snapshot: SnapshotView | None) -> str:
    """Return how far each person's answers can be relied on and what they weigh, and who disagrees with everybody."""
    title = "What answers weigh"
    if not people:
        return plots.nothing(
            title,
            "By how far people agree with each other and with known answers.",
            "Nobody was compared yet, so every answer weighs 1. Give the project an overlap, or known answers.",
        )
    in_snapshot = {row.person: row for row in snapshot.people} if snapshot is not None else {}
    rows: list[list[object]] = []
    for row in people:
        weighed = in_snapshot.get(row.person)
        mean = weighed.mean_weight if weighed is not None else None
        rows.append(
            [
                row.person,
                _reliability(row.reliability),
                row.comparisons,
                row.gold_questions,
                "-" if mean is None else f"{mean:.2f}",
            ]
        )
    named = [row.sentence for row in people if row.sentence]
    sentence = " ".join(named) or "Nobody disagrees with everybody."
    heads = ["Person", "Reliability", "Compared", "Known answers", "Mean weight"]
    note = "An answer is learned from in proportion to its weight. Mean weight: in the newest snapshot for training."
    return plots.framed(title, sentence, f'{table(heads, rows)}<p class="glossator-note">{note}</p>')


def left_out(snapshot: SnapshotView | None, project_id: str) -> str:
    """Return which accepted answers the newest snapshot for training left out, and why."""
    title = "Left out"
    if snapshot is None:
        return plots.nothing(
            title,
            "Accepted answers that are unfit to learn from.",
            "Nothing was frozen to learn from yet; it is at the first retraining.",
        )
    rows: list[list[object]] = [
        [
            link(f"/app/#project={project_id}&document={row.document_id}&annotation={row.annotation_id}", row.question),
            row.document,
            Markup(f'<span class="glossator-short">{escape(row.author)}</span>'),
            " ".join(row.sentences),
        ]
        for row in snapshot.left_out_labels[:MOST_ROWS]
    ]
    taken = f"{snapshot.annotations:,} {'answer was' if snapshot.annotations == 1 else 'answers were'} taken"
    if not rows:
        return plots.nothing(title, "From the newest snapshot for training.", f"Nothing was left out: {taken}.")
    counted = "; ".join(
        f"{count:,} × {SENTENCES.get(name, name).rstrip('.').lower()}"
        for name, count in sorted(snapshot.left_out.items())
    )
    more = len(snapshot.left_out_labels) - len(rows)
    rest = f'<p class="glossator-note">and {more:,} more: glossator snapshots show {escape(snapshot.sha256[:12])}</p>'
    sentence = (
        f"From the newest snapshot for training: {taken}, {len(snapshot.left_out_labels):,} left out ({counted})."
    )
    heads = ["Question", "Document", "By", "Why"]
    return plots.framed(title, sentence, table(heads, rows) + (rest if more > 0 else ""))


def _reliability(value: float) -> Markup:
    kind = "bad" if value < DOUBTFUL else "plain" if value < 0.75 else "good"
    return badge(f"{value:.2f}", kind)
