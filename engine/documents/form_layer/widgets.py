"""Widget of a form: one place on a page where a field is filled, with its value."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

from engine.documents.reading.source_words import clip, turned_box
from model.boxes import Box

WidgetKind = Literal["text", "checkbox", "radio", "choice", "list", "signature"]
TICKS: tuple[WidgetKind, ...] = ("checkbox", "radio")
MOST_OF_PAGE = 1_000  # widgets of a page; those behind them are left out
MOST_OF_DOCUMENT = 20_000
LONGEST_NAME = 500  # characters of a name or a label; longer ones are cut
LONGEST_VALUE = 5_000  # characters of a value
MOST_OPTIONS = 200  # of a widget; those behind them are left out
LONGEST_OPTION = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class FormWidget:
    """Widget of a page.

    Args:
        kind: What is filled in.
        box: Its place in pixels of the rendered page, right and lower edge exclusive.
        name: Full name of its field: those of its parents and its own, with points between them.
        label: Text for screen readers (/TU); empty without one.
        value: Text as it is shown, empty where nothing is filled in; of a box to tick, what its tick stands for.
        ticked: Of a box to tick, whether it is ticked, and of a signature, whether it is signed; None for other kinds,
            and where the file contradicts itself.
        on_state: Name of the state that ticks a box; empty for other kinds.
        options: Texts to choose from.
        read_only: Whether people cannot fill it in.
        printed: Print beside it that names it; empty where none does plainly.
        asked: Print of the question that several boxes to tick answer; empty where none does plainly.
    """

    kind: WidgetKind
    box: Box
    name: str = ""
    label: str = ""
    value: str = ""
    ticked: bool | None = None
    on_state: str = ""
    options: tuple[str, ...] = ()
    read_only: bool = False
    printed: str = ""
    asked: str = ""

    @property
    def is_tick(self) -> bool:
        """Return whether it is a box to tick or a radio button."""
        return self.kind in TICKS

    def to_wire(self) -> dict[str, Any]:
        """Return the widget as JSON."""
        return asdict(self)


def widget_from_wire(sent: dict[str, Any]) -> FormWidget:
    """Rebuild a widget from JSON."""
    x0, y0, x1, y1 = sent["box"]
    return FormWidget(**{**sent, "box": (x0, y0, x1, y1), "options": tuple(sent["options"])})


def turned_widgets(widgets: Sequence[FormWidget], turn: int, size: tuple[int, int]) -> tuple[FormWidget, ...]:
    """Return the widgets after their page of `size` (width, height) was turned clockwise by `turn` degrees."""
    after = size if turn % 180 == 0 else (size[1], size[0])
    turned = ((widget, clip(turned_box(widget.box, turn, size), after)) for widget in widgets)
    return tuple(replace(widget, box=box) for widget, box in turned if box is not None)
