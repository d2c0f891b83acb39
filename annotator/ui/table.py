"""Read-only tables and their cells as HTML."""

from collections.abc import Sequence
from datetime import UTC, datetime
from html import escape

LONG_WORD = 24  # letters; a longer one breaks, so that its column stays readable beside others


class Markup(str):
    """Text that is already HTML."""

    __slots__ = ()


def link(url: str, text: str) -> Markup:
    """Return a link with a name that people gave."""
    return name(f'<a href="{escape(url, quote=True)}" title="{escape(text, quote=True)}">{escape(text)}</a>')


def name(content: str) -> Markup:
    """Return a name that people gave, as HTML: it may be one long word."""
    return Markup(f'<div class="glossator-name" translate="no">{content}</div>')


def badge(text: str, kind: str) -> Markup:
    """Return a coloured word.

    Args:
        text: the word.
        kind: good, bad, busy or plain.
    """
    return Markup(f'<span class="glossator-badge {kind}">{escape(text)}</span>')


def sentence(text: str) -> Markup:
    """Return text in a cell that is wide enough for a few words on a phone; empty for no text."""
    return Markup(f'<div class="glossator-wide">{escape(text)}</div>' if text else "")


def moment(time: datetime) -> Markup:
    """Return a time to the minute in UTC; the page shows it on the reader's clock (static/core/time_zone.js)."""
    time = time.astimezone(UTC)
    shown = f'<time datetime="{time.isoformat()}" title="UTC">{time:%Y-%m-%d %H:%M}</time>'
    return Markup(f"<glossator-time>{shown}</glossator-time>")


def table(columns: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Return a table as HTML.

    Args:
        columns: headings.
        rows: cells; numbers are aligned right, text that is not Markup is escaped.
    """
    # On a phone, rows are blocks (static/css/tabs.css): elements lose their meaning, and roles give it back.
    head = "".join(f'<th role="columnheader">{escape(column)}</th>' for column in columns)
    body = "".join(
        f'<tr role="row">{"".join(_cell(*cell) for cell in zip(columns, row, strict=True))}</tr>' for row in rows
    )
    content = f'<thead role="rowgroup"><tr role="row">{head}</tr></thead><tbody role="rowgroup">{body}</tbody>'
    label = escape(f"Table: {', '.join(columns)}", quote=True)
    # Wider than its place, it scrolls: then people without a mouse need the focus in it.
    return (
        f'<div class="glossator-scroll" tabindex="0" role="group" aria-label="{label}">'
        f'<table class="glossator-table" role="table">{content}</table></div>'
    )


def empty(headline: str, next_step: str) -> str:
    """Return the placeholder of an empty list.

    Args:
        headline: states that the list is empty.
        next_step: action that fills it.
    """
    return f'<div class="glossator-empty"><b>{escape(headline)}</b>{escape(next_step)}</div>'


NO_PROJECT = empty(
    "You are not a member of any project.",
    "Ask an admin of a project for an invitation link.",
)


def _cell(column: str, value: object) -> str:
    begin = f'<td role="cell" data-column="{escape(column, quote=True)}"'
    if isinstance(value, Markup):
        return f"{begin}>{value}</td>"
    if isinstance(value, int | float):
        return f'{begin} class="number">{value:,}</td>'
    text = str(value)
    if max(map(len, text.split()), default=0) > LONG_WORD:
        return f"{begin}>{name(escape(text))}</td>"
    return f'{begin}><div class="glossator-text">{escape(text)}</div></td>'
