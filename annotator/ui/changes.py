"""Questions whose answers changed with a run, with links to their pages."""

from html import escape

from annotator.ui.curves import HOLDOUTS
from annotator.ui.table import Markup, badge, empty, link, sentence, table
from engine.training.retraining.changes import Change, Changes

_KINDS = {"gained": "good", "lost": "bad", "better": "plain", "worse": "plain"}
_COLUMNS = ["Change", "Question", "Page", "IoU before", "IoU after"]
NONE = empty(
    "No run has been judged yet.",
    "After a retraining, this table lists the questions whose answers became right or wrong.",
)


def show_changes(changes: Changes, project_id: str, title: str) -> str:
    """Return counts by holdout and the changed questions.

    Args:
        changes: of one run.
        project_id: project of the run, for links to pages.
        title: heading, HTML.

    Returns:
        HTML.
    """
    if not changes.counts:
        return NONE
    counts = "".join(
        f"<li><b>{escape(HOLDOUTS.get(name, name))}</b>: {_sum(of, 'gained')} gained, {_sum(of, 'lost')} lost, "
        f"{_sum(of, 'better')} marked better, {_sum(of, 'worse')} worse, {_sum(of, 'same')} unchanged</li>"
        for name, of in changes.counts.items()
    )
    rows = [_row(change, project_id) for change in changes.changes]
    listed = (
        table(_COLUMNS, rows)
        if rows
        else empty("Nothing changed.", "The retrained model gives the same answers as the model before it.")
    )
    return f'<h2>{title}</h2><ul class="glossator-counts">{counts}</ul>{listed}'


def _row(one: Change, project_id: str) -> list[object]:
    where: object = "generated page"
    if one.document is not None:
        at = f"./#project={project_id}&document={one.document_id}&page={one.page_id}"
        where = link(at, f"{one.document}, page {one.page_number}")
    return [
        badge(one.kind, _KINDS.get(one.kind, "plain")),
        sentence(one.question if one.answerable else f"{one.question} (no answer)"),
        where,
        Markup(f'<span class="number">{one.before:.2f}</span>'),
        Markup(f'<span class="number">{one.after:.2f}</span>'),
    ]


def _sum(of: dict[str, int], kind: str) -> int:
    return of.get(kind, 0)
