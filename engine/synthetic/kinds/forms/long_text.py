"""Values of many words: a paragraph or several, numbered points, beside, under or in a frame with their key."""

from __future__ import annotations

from engine.synthetic.keys import Key
from engine.synthetic.kinds.forms.style import Form
from engine.synthetic.vocabulary import sentence

_MARKS = ("1.", "1)", "a)", "A.", "(1)", "-", "•")
_KEYS = (
    "remarks", "comments", "description", "reason", "reasons", "objective", "project objective", "instructions", "notes",
    "special instructions", "summary", "background", "explanation", "purpose", "conclusions", "recommendations", "details",
    "scope", "method", "discussion", "project description", "brief description", "other comments", "requirements", "note",
    "special requirements", "describe", "justification", "findings", "observations", "results", "proposed action", "message",
    "suggestion", "benefits", "procedure", "specifications", "reason for change", "action taken", "additional information",
)  # fmt: skip


def headed_text(form: Form, y: float) -> float:
    """Set a key and a long value; return the top of its last line."""
    rng, canvas, em = form.rng, form.canvas, form.em
    named = [name for name in _KEYS if name not in form.keys.used]
    if rng.random() < 0.6 and named:
        key = Key(rng.choice(named), "text")
        form.keys.used.add(key.text)
    else:
        key = form.keys.next()
    text = form.key_text(key)
    printed = canvas.write(
        text, form.left, y, right=form.left + 0.7 * (form.right - form.left), face=form.key_face, role="key"
    )
    place = rng.choice(("after", "after", "beside", "beside", "under", "under", "framed"))
    right = form.right if rng.random() < 0.6 else form.right - (form.right - form.left) * rng.uniform(0, 0.3)
    x, top, hang = form.left + em * rng.choice((0, 0, 0.5, 2)), printed.top + em * rng.uniform(1.3, 2.2), None
    if place in ("after", "beside"):
        x, top = printed.right + em * rng.choice((0.6, 1.0, 2.0)), printed.top
        hang = form.left if place == "after" else None
        if place == "beside" and right - x < 14 * em:
            hang = form.left
    pieces, whole, last = _paragraphs(form, x, top, right, hang)
    if place == "framed":
        left = form.left - 0.4 * em
        canvas.frame((left, y - 0.4 * em, form.right + 0.3 * em, last + em * rng.uniform(1.4, 3.0)))
        last += 0.6 * em
    if printed.whole and whole and pieces:
        form.ask(text, pieces, key)
    return last


def _paragraphs(form: Form, x: float, y: float, right: float, hang: float | None) -> tuple[list[int], bool, float]:
    """Set the paragraphs or points; return their pieces, whether all had room, and the top of the last line."""
    rng, em = form.rng, form.em
    count = rng.choice((1, 1, 1, 2, 2, 3, 4))
    marked = count > 1 and rng.random() < 0.5
    mark = rng.choice(_MARKS)
    apart = rng.choice((1.3, 1.3, 1.6, 2.3)) * form.value_face.size
    pieces: list[int] = []
    whole = True
    last = y
    for number in range(count):
        body = " ".join(sentence(rng) for _ in range(rng.randint(1, 5 if count == 1 else 3)))
        if marked:
            body = f"{_number_mark(mark, number)} {body}"
        start = x if number == 0 or hang is None else hang
        indented = hang if hang is not None else x + (1.5 * em if marked else 0)
        written = form.write_value(body, start, y, right, hang=indented)
        if not written.pieces:
            break
        pieces += written.pieces
        whole = whole and written.whole
        last = written.top - form.value_drop
        y = last + apart
    return pieces, whole, last


def _number_mark(mark: str, number: int) -> str:
    """Return the mark of a point: the next number or letter of "1." or "a)"."""
    return mark.replace("1", str(number + 1)).replace("a", "abcd"[number]).replace("A", "ABCD"[number])
