"""Reports of laboratories, inspectors, auditors and researchers: text, findings, results, a chart."""

from __future__ import annotations

import random
from datetime import timedelta

from engine.synthetic.draft import Draft, cased
from engine.synthetic.kinds import paper
from engine.synthetic.kinds.amounts import Writing, drawn_day
from engine.synthetic.kinds.entries import Entry, Place, absent, boxed, in_columns
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


def lay_out(chance: random.Random) -> Draft:
    """Lay out a report of one of five sorts."""
    sort = chance.choices(tuple(OF), (0.26, 0.22, 0.22, 0.14, 0.16))[0]
    form = paper.drawn_paper(chance, signs=(56, 80), filled_in=0.25)
    form.blank = chance.choice((0.0, 0.03, 0.1))
    sheet, em = form.sheet, form.em
    y = _head(form, sort)
    y = _entries(form, sort, y) + 2.6 * em
    foot = sheet.height * chance.uniform(0.62, 0.93)
    plan = _plan(form, sort)
    number = parts.Numbering(chance)
    # The last page of a longer report stops in the middle; most reports are cut at the end of the sheet.
    for block in plan:
        if y > foot - 6 * em:
            break
        state, count = sheet.state(), number.count
        below = block(form, number, y)
        if below > sheet.height - 3 * em or sheet.collides(state[0]):
            sheet.back_to(state)
            number.count = count
            continue
        y = below + 2.2 * em
    if chance.random() < 0.6 and y < sheet.height - 9 * em:
        free = [roles for roles in _ROLES if form.keys.used.isdisjoint(role.lower() for role in roles)]
        roles = chance.choice(free)
        y = paper.signed(form, y, roles, [person(chance) for _ in roles]) + em
    paper.finish(form, y, cut=0.85, ornaments=0.2)
    return Draft(sheet, lambda: absent(form, (*COMMON, *OF[sort])))


def _plan(form: Form, sort: str) -> list[parts.Block]:
    """Return the parts of the report in order."""
    chance = form.chance
    text, findings, chart = parts.text, parts.findings, parts.chart
    outcomes = {
        "laboratory": results.blood, "test": results.measured, "inspection": results.checks,
        "audit": parts.findings, "research": results.measured,
    }[sort]  # fmt: skip
    plan: list[parts.Block] = [outcomes]
    if sort == "laboratory":
        plan += [text] * chance.randint(0, 2)
    elif sort == "inspection":
        plan += chance.sample([findings, text, text, results.checks], chance.randint(1, 3))
    else:
        plan = [text] * chance.randint(1, 2) + plan + [text] * chance.randint(1, 3)
        if chance.random() < 0.4:
            plan.insert(chance.randrange(len(plan)), findings)
    if chance.random() < (0.15 if sort == "laboratory" else 0.4):
        plan.insert(chance.randint(1, len(plan)), chart)
    return plan


def _head(form: Form, sort: str) -> float:
    """Set the author's organisation and the title."""
    chance, sheet, em = form.chance, form.sheet, form.em
    name = chance.choice(
        (
            company(chance),
            f"{word(chance, 0.6).title()} {chance.choice(('Laboratories', 'Testing', 'Institute', 'Engineering', 'Consultants', 'Inspection Services'))}",
        )
    )
    heading = cased(chance, chance.choice(TITLES[sort]))
    y = sheet.height * chance.uniform(0.02, 0.05)
    shape = chance.random()
    if shape < 0.35:
        y = paper.letterhead(form, name, form.left, y, form.right, _ISSUER, centred=True) + 0.8 * em
        y = paper.title(form, heading, form.left, y, form.right, align="centre")
    elif shape < 0.75:
        middle = sheet.width * 0.56
        foot = paper.letterhead(form, name, form.left, y, middle, _ISSUER)
        y = max(foot, paper.title(form, heading, middle + em, y, form.right, align="right"))
    else:
        y = paper.title(form, heading, form.left, y, form.right, align=chance.choice(("left", "centre")))
    if sort in ("research", "audit") or chance.random() < 0.2:
        face = sheet.face.scaled(chance.uniform(1.05, 1.3), bold=True)
        subject = sheet.write(
            " ".join(words(chance, 4, 10)).capitalize(),
            form.left,
            y + 0.5 * em,
            right=form.right,
            face=face,
            role="heading",
        )
        paper.ask(form, _TITLE, subject.pieces)
        y = subject.top + 1.6 * em
    if chance.random() < 0.5:
        sheet.rule(form.left, y, form.right, y, width=chance.choice((1, 1, 2, 3)))
    return y + 1.1 * em


def _entries(form: Form, sort: str, y: float) -> float:
    """Set keys and values in one to three columns, or in boxes."""
    chance = form.chance
    own = chance.sample(OF[sort], min(len(OF[sort]), chance.randint(3, 8)))
    entries: list[Entry] = []
    for concept in chance.sample([*own, *chance.sample(COMMON, chance.randint(1, 5))], k=len(own) + 1):
        if any(
            set(concept.printed + concept.asked) & set(other.concept.printed + other.concept.asked) for other in entries
        ):
            continue
        kind = chance.choice(concept.kinds)
        entries.append(Entry(concept, () if chance.random() < form.blank else (_value(form, kind),)))
    shape = chance.random()
    if shape < 0.25:
        count = chance.choice((2, 3))
        shown = [(entry, max(8.0, min(26.0, sum(map(len, entry.lines))))) for entry in entries]
        return boxed(form, [shown[at : at + count] for at in range(0, len(shown), count)], y)
    columns = chance.choice((1, 2, 2, 2, 3))
    place: Place = chance.choice(("aligned", "aligned", "right", "below" if columns > 1 else "aligned"))
    right = form.right if columns > 1 or chance.random() < 0.5 else form.left + 0.7 * (form.right - form.left)
    return in_columns(form, entries, form.left, y, right, place, columns)


def _value(form: Form, kind: str) -> str:
    chance = form.chance
    if kind in _CHOICES:
        return chance.choice(_CHOICES[kind])
    if kind == "agesex":
        return f"{chance.randint(1, 95)} {chance.choice(('/ M', '/ F', 'y / Male', 'y / Female', 'M', 'F'))}"
    if kind == "standard":
        return chance.choice(
            (
                f"ISO {chance.randint(100, 19999)}",
                f"ASTM {chance.choice('ABCDE')}{chance.randint(10, 999)}",
                f"EN {chance.randint(100, 9999)}-{chance.randint(1, 9)}",
                phrase(chance, 1, 3),
            )
        )
    if kind == "degrees":
        return f"{chance.randint(15, 40)} {chance.choice(('C', 'deg C', 'F'))}"
    if kind == "terms":
        return ", ".join(words(chance, 2, 5))
    if kind == "dates":
        first = drawn_day(chance)
        return Writing.drawn(chance).span(
            first, first + timedelta(days=chance.randint(3, 900)), chance.choice((" - ", " to "))
        )
    if kind == "date" and chance.random() < 0.4:
        return drawn_day(chance).isoformat()
    return date(chance) if kind == "date" else value(chance, kind)
