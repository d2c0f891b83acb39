"""Reports of laboratories, inspectors, auditors and researchers: text, findings, results, a chart."""

from __future__ import annotations

import random
from datetime import timedelta

from engine.synthetic.draft import Draft, vary_case
from engine.synthetic.kinds import paper
from engine.synthetic.kinds.amounts import Writing, sample_day
from engine.synthetic.kinds.entries import Entry, Place, absent, set_in_boxes, set_in_columns
from engine.synthetic.kinds.forms.style import Form
from engine.synthetic.kinds.reports import parts, results
from engine.synthetic.kinds.reports.words import COMMON, OF, TITLES
from engine.synthetic.values import company, date, person, value
from engine.synthetic.vocabulary import phrase, word, words

_ISSUER = (
    "Who issued the report?",
    "issuer",
    "Which laboratory or office is it from?",
    "organization",
    "name of the company",
    "company",
)
_TITLE = ("title of the report", "What is the title?", "title", "heading of the report")
_ROLES = (
    ("Prepared by", "Approved by"), ("Signature",), ("Inspector",), ("Analyst", "Head of laboratory"), ("Authorized signatory",),
    ("Technical manager",), ("Tested by", "Approved"),
)  # fmt: skip
_CHOICES = {
    "verdict": ("PASS", "FAIL", "Passed", "Satisfactory", "Approved", "Not satisfactory", "Accepted", "Final", "Draft", "Complete"),
    "specimen": ("Blood", "Serum", "Plasma", "Urine", "Whole blood", "Venous blood", "Swab", "Saliva", "Tissue"),
    "weather": ("Dry", "Rain", "Sunny, 24 C", "Overcast", "Windy, light rain", "Clear", "Cold and dry"),
    "rating": ("Satisfactory", "Needs improvement", "Unqualified", "Qualified", "Good", "B", "A", "3 of 5", "Adequate"),
    "level": ("Low", "Medium", "High", "Moderate"),
}  # fmt: skip


def lay_out(rng: random.Random) -> Draft:
    """Lay out a report of one of five sorts."""
    sort = rng.choices(tuple(OF), (0.26, 0.22, 0.22, 0.14, 0.16))[0]
    form = paper.sample_paper(rng, signs=(56, 80), filled_in=0.25)
    form.blank = rng.choice((0.0, 0.03, 0.1))
    canvas, em = form.canvas, form.em
    y = _head(form, sort)
    y = _entries(form, sort, y) + 2.6 * em
    foot = canvas.height * rng.uniform(0.62, 0.93)
    plan = _plan(form, sort)
    number = parts.Numbering(rng)
    # The last page of a longer report stops in the middle; most reports are cut at the end of the sheet.
    for block in plan:
        if y > foot - 6 * em:
            break
        state, count = canvas.state(), number.count
        below = block(form, number, y)
        if below > canvas.height - 3 * em or canvas.collides(state[0]):
            canvas.back_to(state)
            number.count = count
            continue
        y = below + 2.2 * em
    if rng.random() < 0.6 and y < canvas.height - 9 * em:
        free = [roles for roles in _ROLES if form.keys.used.isdisjoint(role.lower() for role in roles)]
        roles = rng.choice(free)
        y = paper.write_signatures(form, y, roles, [person(rng) for _ in roles]) + em
    paper.finish(form, y, cut=0.85, ornaments=0.2)
    return Draft(canvas, lambda: absent(form, (*COMMON, *OF[sort])))


def _plan(form: Form, sort: str) -> list[parts.Block]:
    """Return the parts of the report in order."""
    rng = form.rng
    text, findings, chart = parts.text, parts.findings, parts.chart
    outcomes = {
        "laboratory": results.blood, "test": results.set_measurements, "inspection": results.checks,
        "audit": parts.findings, "research": results.set_measurements,
    }[sort]  # fmt: skip
    plan: list[parts.Block] = [outcomes]
    if sort == "laboratory":
        plan += [text] * rng.randint(0, 2)
    elif sort == "inspection":
        plan += rng.sample([findings, text, text, results.checks], rng.randint(1, 3))
    else:
        plan = [text] * rng.randint(1, 2) + plan + [text] * rng.randint(1, 3)
        if rng.random() < 0.4:
            plan.insert(rng.randrange(len(plan)), findings)
    if rng.random() < (0.15 if sort == "laboratory" else 0.4):
        plan.insert(rng.randint(1, len(plan)), chart)
    return plan


def _head(form: Form, sort: str) -> float:
    """Set the author's organisation and the title."""
    rng, canvas, em = form.rng, form.canvas, form.em
    name = rng.choice(
        (
            company(rng),
            f"{word(rng, 0.6).title()} {rng.choice(('Laboratories', 'Testing', 'Institute', 'Engineering', 'Consultants', 'Inspection Services'))}",
        )
    )
    heading = vary_case(rng, rng.choice(TITLES[sort]))
    y = canvas.height * rng.uniform(0.02, 0.05)
    shape = rng.random()
    if shape < 0.35:
        y = paper.letterhead(form, name, form.left, y, form.right, _ISSUER, centred=True) + 0.8 * em
        y = paper.title(form, heading, form.left, y, form.right, align="centre")
    elif shape < 0.75:
        middle = canvas.width * 0.56
        foot = paper.letterhead(form, name, form.left, y, middle, _ISSUER)
        y = max(foot, paper.title(form, heading, middle + em, y, form.right, align="right"))
    else:
        y = paper.title(form, heading, form.left, y, form.right, align=rng.choice(("left", "centre")))
    if sort in ("research", "audit") or rng.random() < 0.2:
        face = canvas.face.scale(rng.uniform(1.05, 1.3), bold=True)
        subject = canvas.write(
            " ".join(words(rng, 4, 10)).capitalize(),
            form.left,
            y + 0.5 * em,
            right=form.right,
            face=face,
            role="heading",
        )
        paper.ask(form, _TITLE, subject.pieces)
        y = subject.top + 1.6 * em
    if rng.random() < 0.5:
        canvas.rule(form.left, y, form.right, y, width=rng.choice((1, 1, 2, 3)))
    return y + 1.1 * em


def _entries(form: Form, sort: str, y: float) -> float:
    """Set keys and values in one to three columns, or in boxes."""
    rng = form.rng
    own = rng.sample(OF[sort], min(len(OF[sort]), rng.randint(3, 8)))
    entries: list[Entry] = []
    for concept in rng.sample([*own, *rng.sample(COMMON, rng.randint(1, 5))], k=len(own) + 1):
        if any(
            set(concept.printed + concept.asked) & set(entry.concept.printed + entry.concept.asked) for entry in entries
        ):
            continue
        kind = rng.choice(concept.kinds)
        entries.append(Entry(concept, () if rng.random() < form.blank else (_value(form, kind),)))
    shape = rng.random()
    if shape < 0.25:
        count = rng.choice((2, 3))
        shown = [(entry, max(8.0, min(26.0, sum(map(len, entry.lines))))) for entry in entries]
        return set_in_boxes(form, [shown[at : at + count] for at in range(0, len(shown), count)], y)
    columns = rng.choice((1, 2, 2, 2, 3))
    place: Place = rng.choice(("aligned", "aligned", "right", "below" if columns > 1 else "aligned"))
    right = form.right if columns > 1 or rng.random() < 0.5 else form.left + 0.7 * (form.right - form.left)
    return set_in_columns(form, entries, form.left, y, right, place, columns)


def _value(form: Form, kind: str) -> str:
    rng = form.rng
    if kind in _CHOICES:
        return rng.choice(_CHOICES[kind])
    if kind == "agesex":
        return f"{rng.randint(1, 95)} {rng.choice(('/ M', '/ F', 'y / Male', 'y / Female', 'M', 'F'))}"
    if kind == "standard":
        return rng.choice(
            (
                f"ISO {rng.randint(100, 19999)}",
                f"ASTM {rng.choice('ABCDE')}{rng.randint(10, 999)}",
                f"EN {rng.randint(100, 9999)}-{rng.randint(1, 9)}",
                phrase(rng, 1, 3),
            )
        )
    if kind == "degrees":
        return f"{rng.randint(15, 40)} {rng.choice(('C', 'deg C', 'F'))}"
    if kind == "terms":
        return ", ".join(words(rng, 2, 5))
    if kind == "dates":
        first = sample_day(rng)
        return Writing.sample(rng).span(first, first + timedelta(days=rng.randint(3, 900)), rng.choice((" - ", " to ")))
    if kind == "date" and rng.random() < 0.4:
        return sample_day(rng).isoformat()
    return date(rng) if kind == "date" else value(rng, kind)
