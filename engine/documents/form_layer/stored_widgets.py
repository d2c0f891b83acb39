"""Rows of widgets: stored with their page, turned with it, and loaded."""

from collections.abc import Callable, Sequence

from sqlalchemy import insert, select
from sqlalchemy.orm import Session

from db.tables import Page, PageWidget
from engine.documents.form_layer.widgets import FormWidget
from engine.text import storable
from model.boxes import Box


def add_widgets(session: Session, page_id: str, widgets: Sequence[FormWidget]) -> None:
    """Add the rows of a page's widgets."""
    if widgets:
        session.execute(insert(PageWidget), [_row(page_id, at, widget) for at, widget in enumerate(widgets)])


def turn_widgets(session: Session, page_id: str, turn_box: Callable[[Box], Box]) -> None:
    """Turn the boxes of a page's widgets, in the caller's unit of work."""
    for row in session.scalars(select(PageWidget).where(PageWidget.page_id == page_id)):
        row.x0, row.y0, row.x1, row.y1 = turn_box((row.x0, row.y0, row.x1, row.y1))


def widgets_of_page(session: Session, page_id: str) -> list[FormWidget]:
    """Return the widgets of a page, in the order of the file."""
    rows = session.scalars(select(PageWidget).where(PageWidget.page_id == page_id).order_by(PageWidget.number))
    return [_widget(row) for row in rows]


def widgets_of_document(session: Session, document_id: str) -> dict[str, list[FormWidget]]:
    """Return the widgets of a document by page, pages in their order; pages without any are left out."""
    rows = session.scalars(
        select(PageWidget)
        .join(Page, Page.id == PageWidget.page_id)
        .where(Page.document_id == document_id)
        .order_by(Page.number, PageWidget.number)
    )
    widgets: dict[str, list[FormWidget]] = {}
    for row in rows:
        widgets.setdefault(row.page_id, []).append(_widget(row))
    return widgets


def _row(page_id: str, number: int, widget: FormWidget) -> dict[str, object]:
    x0, y0, x1, y1 = widget.box
    return {
        "page_id": page_id,
        "number": number,
        "kind": widget.kind,
        "x0": x0,
        "y0": y0,
        "x1": x1,
        "y1": y1,
        "name": storable(widget.name),
        "label": storable(widget.label),
        "value": storable(widget.value),
        "ticked": widget.ticked,
        "on_state": storable(widget.on_state),
        "options": [storable(option) for option in widget.options],
        "read_only": widget.read_only,
        "printed": storable(widget.printed),
        "asked": storable(widget.asked),
    }


def _widget(row: PageWidget) -> FormWidget:
    return FormWidget(
        kind=row.kind,  # type: ignore[arg-type]  # the table checks it
        box=(row.x0, row.y0, row.x1, row.y1),
        name=row.name,
        label=row.label,
        value=row.value,
        ticked=row.ticked,
        on_state=row.on_state,
        options=tuple(row.options),
        read_only=row.read_only,
        printed=row.printed,
        asked=row.asked,
    )
