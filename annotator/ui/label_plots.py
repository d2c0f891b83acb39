"""Label weights by person, and labels left out of training: two tables of the tab Quality."""

from collections.abc import Sequence
from html import escape

from annotator.ui import plots
from annotator.ui.table import Markup, badge, link, name, table
from engine.datasets.quality import SENTENCES
from engine.datasets.snapshot_views import SnapshotView
from engine.datasets.weights import DOUBTFUL, Reliability
from engine.plurals import count

MOST_ROWS = 30


def weights(people: Sequence[Reliability], snapshot: SnapshotView | None) -> str:
    """Return the reliability of each person and the mean weight of their answers, as HTML.

    Args:
        people: reliability of each person who was compared.
        snapshot: newest snapshot for training, or None.
    """
    title = "Answer weights"
    if not people:
        return plots.nothing(
            title,
            "From agreement between people and with gold questions.",
            "Nobody has been compared yet; every answer has weight 1. Set an overlap or gold questions on the tab "
            "Questions.",
        )
    in_snapshot = {row.person: row for row in snapshot.people} if snapshot is not None else {}
    rows: list[list[object]] = []
    for row in people:
        weighed = in_snapshot.get(row.person)
        mean = weighed.mean_weight if weighed is not None else None
        rows.append(
            [
                name(escape(row.person)),
                _reliability(row.reliability),
                row.comparisons,
                row.gold_questions,
                f"{row.hasty_share:.0%}" if row.hasty_share else "-",
                "-" if mean is None else f"{mean:.2f}",
            ]
        )
    named = [row.sentence for row in people if row.sentence]
    sentence = " ".join(named) or "Nobody has a low reliability."
    heads = ["Person", "Reliability", "Comparisons", "Gold questions", "In haste", "Mean weight"]
    note = "Training counts each answer by its weight. Mean weight: in the newest snapshot for training. "
    note += "In haste: share of the answers finished in under 1.5 seconds; reliability falls with it."
    return plots.framed_content(title, sentence, f'{table(heads, rows)}<p class="glossator-note">{note}</p>')


def left_out(snapshot: SnapshotView | None, project_id: str) -> str:
    """Return the accepted answers that the newest training snapshot left out, with reasons, as HTML.

    Args:
        snapshot: newest snapshot for training, or None.
        project_id: project, for links to pages.
    """
    title = "Left out of training"
    if snapshot is None:
        return plots.nothing(
            title,
            "Accepted answers unfit for training.",
            "No snapshot for training yet; the first retraining creates one.",
        )
    rows: list[list[object]] = [
        [
            link(f"./#project={project_id}&document={row.document_id}&annotation={row.annotation_id}", row.question),
            row.document,
            Markup(f'<span class="glossator-short">{escape(row.author)}</span>'),
            " ".join(row.sentences),
        ]
        for row in snapshot.left_out_labels[:MOST_ROWS]
    ]
    taken = f"{count(snapshot.annotations, 'answer')} included"
    if not rows:
        return plots.nothing(title, "Newest snapshot for training.", f"Nothing was left out: {taken}.")
    counted = "; ".join(
        f"{count:,} × {SENTENCES.get(name, name).rstrip('.').lower()}"
        for name, count in sorted(snapshot.left_out.items())
    )
    more = snapshot.left_out_answers - len(rows)
    command = f"glossator snapshots show {escape(snapshot.sha256[:12])}"
    note = f'<p class="glossator-note">{more:,} more; list them with: {command}</p>'
    sentence = f"Newest snapshot for training: {taken}, {snapshot.left_out_answers:,} left out ({counted})."
    heads = ["Question", "Document", "Author", "Reason"]
    return plots.framed_content(title, sentence, table(heads, rows) + (note if more > 0 else ""))


def _reliability(value: float) -> Markup:
    kind = "bad" if value < DOUBTFUL else "plain" if value < 0.75 else "good"
    return badge(f"{value:.2f}", kind)
