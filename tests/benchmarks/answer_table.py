"""What the table of answers costs as a project grows: python -m tests.benchmarks.answer_table [--documents 200 20000].

Makes each project through the tables of the ORM (tests.benchmarks.growth), with eight fields, proposals of a survey,
values that are ambiguous, unreadable or break a rule, and corrected answers. Prints medians and the growth from the
smallest to the largest project: pages of at most 100 rows in each order and with each filter, counts, saving a cell,
and what the follower takes for it. A filter fills no page of a small project, so the rows are told. Work on a whole project is told for each document. --scroll 20000 scrolls so many rows in
Chromium and prints the times between frames.
"""

from __future__ import annotations

import argparse
import random
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from sqlalchemy import bindparam, select, update

from db.tables import Annotation, Page, PageWord, Revision
from engine.accounts.users import local_user
from engine.annotation.revisions import RevisionRequest, append_revision
from engine.answer_table import count_values, parse_request, table_page
from engine.fields.definition import FieldDefinition
from engine.fields.project_fields import load_fields, project_fields, replace_fields
from engine.followers import FollowerRunner, catch_up
from engine.followers.field_values import FOLLOWER
from engine.tasks.opening import task_changes
from engine.workspace import Workspace
from tests.benchmarks.answer_table_scroll import scroll
from tests.benchmarks.app.measured import Row, row
from tests.benchmarks.growth.databases import KINDS, grown_project
from tests.benchmarks.growth.project import QUESTIONS, WORDS, Grown, analyze, survey
from tests.benchmarks.markdown import table

TIMES, SAVES = 15, 15
LINES = 100  # of a page, as the screen asks for them
AT_ONCE = 500  # rows of one statement
CORRECTED = 20  # one answer in so many was corrected by a person
ORDERS = ("-created", "created", "name", "value:total", "-value:total", "value:issued")
FLAGS = ("empty", "unsure", "ambiguous", "broken", "changed")
SAVED, DERIVED, COUNTED = "saving a corrected cell", "deriving its row", "numbers of the filters"
OF_ALL = ("added fields, all documents", "a changed rule, all documents")  # milliseconds a document
Clock = Callable[[], float]
WITHOUT_ROWS = (SAVED, DERIVED, COUNTED, *OF_ALL)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=int, nargs="+", default=[200, 20_000])
    parser.add_argument("--databases", nargs="+", default=list(KINDS), choices=KINDS)
    parser.add_argument("--scroll", type=int, default=0, help="rows to scroll in Chromium, on SQLite")
    parser.add_argument("--processor", action="store_true", help="times of this process's processor, beside other work")
    given = parser.parse_args()
    clock = time.process_time if given.processor else time.perf_counter
    if given.scroll:
        with grown_project(given.scroll, "SQLite") as (workspace, grown):
            add_values(workspace, grown)
            print(table(["scrolling, Chromium", "median", "95 %", "longest"], scroll(workspace, grown)))
        return
    for kind in given.databases:
        found: dict[int, dict[str, Row]] = {}
        for documents in given.documents:
            with grown_project(documents, kind) as (workspace, grown):
                found[documents] = {each.what: each for each in measure(workspace, grown, clock)}
        print(f"\n{kind}\n{_table(found)}", flush=True)


def measure(workspace: Workspace, grown: Grown, clock: Clock) -> list[Row]:
    """Return times of the table by a clock (seconds); a row of OF_ALL holds milliseconds a document."""
    added = add_values(workspace, grown, clock)
    found = [row(OF_ALL[0], [[added]])]
    for what, act in _reads(workspace, grown).items():
        read = act()
        rows = len(list(read[0])) if isinstance(read, tuple) else 0
        found.append(replace(row(what, [_times(act, clock)]), times=rows))
    found += _saves(workspace, grown, clock)
    changed = _definitions(most=900)
    with workspace.database.read() as session:
        owner = local_user(session).id
    begin = clock()
    replace_fields(workspace, grown.project, changed, owner)
    _follow(workspace, grown)
    return [*found, row(OF_ALL[1], [[1000 * (clock() - begin) / grown.documents]])]


def add_values(workspace: Workspace, grown: Grown, clock: Clock = time.perf_counter) -> float:
    """Give the project words that are values, a survey and fields; return milliseconds a document until they follow."""
    rng = random.Random(1)
    with workspace.database.read() as session:
        pages = list(session.scalars(select(Page.id).where(Page.number == 1).order_by(Page.id)))
        answers = list(session.scalars(select(Annotation.id).where(Annotation.project_id == grown.project)))
        owner = local_user(session).id
    words: Any = (
        update(PageWord.__table__)  # type: ignore[arg-type]
        .where(PageWord.page_id == bindparam("page"), PageWord.number == bindparam("place"))
        .values(text=bindparam("printed"))
    )
    for several in _batches(pages):
        printed = [{"page": page, "place": at, "printed": _printed(at, rng)} for page in several for at in range(WORDS)]
        with workspace.database.write() as session:
            session.connection().execute(words, printed)
    corrected = [{"op": "text", "text": None}]
    for several in _batches(answers[::CORRECTED]):
        with workspace.database.write() as session:
            chosen = update(Revision).where(Revision.annotation_id.in_(several), Revision.number == 2)
            session.connection().execute(chosen.values(edits=corrected))
    survey(workspace, grown.project)
    catch_up(workspace)
    analyze(workspace)
    begin = clock()
    replace_fields(workspace, grown.project, _definitions(most=5000), owner)
    _follow(workspace, grown)
    took = 1000 * (clock() - begin) / grown.documents
    analyze(workspace)
    return took


def _batches(ids: Sequence[str]) -> Iterator[Sequence[str]]:
    for start in range(0, len(ids), AT_ONCE):
        yield ids[start : start + AT_ONCE]


def _printed(place: int, rng: random.Random) -> str:
    """Return a date, which may be ambiguous, an amount, or a number with letters."""
    if place % 3 == 0:
        return f"{rng.randint(1, 28):02}/{rng.randint(1, 12):02}/2026"
    return f"{rng.randint(1, 9999):,}.{rng.randrange(100):02}" if place % 3 == 1 else f"A-{rng.randrange(10_000):04}"


def _definitions(most: int) -> list[FieldDefinition]:
    """Return the fields of all questions; `most`: the largest total that keeps the rule."""
    kinds: dict[str, dict[str, Any]] = {
        "number": {"type": "string", "rules": [{"rule": "pattern", "pattern": "A-.*"}]},
        "issued": {"type": "date"},
        "total": {"type": "number", "rules": [{"rule": "range", "most": str(most)}]},
        "customer": {"type": "string"},
        "supplier": {"type": "string"},
        "order": {"type": "string"},
        "tax": {"type": "number"},
        "due": {"type": "date", "rules": [{"rule": "not_before", "field": "issued"}]},
    }
    return [
        FieldDefinition.model_validate({"name": name, "question": question, **kind})
        for question, (name, kind) in zip(QUESTIONS, kinds.items(), strict=True)
    ]


def _follow(workspace: Workspace, grown: Grown) -> None:
    while task_changes.running(workspace, grown.project):
        task_changes.work_off(workspace, grown.project, seconds=600)
    catch_up(workspace)


def _reads(workspace: Workspace, grown: Grown) -> dict[str, Callable[[], object]]:
    fields = project_fields(workspace, grown.project)

    def act(*filters: str, sort: str = "-created", cursor: str | None = None) -> Callable[[], object]:
        wanted = parse_request(fields, filters=filters, sort=sort)
        return lambda: table_page(workspace, grown.project, wanted, limit=LINES, cursor=cursor)

    def deep(sort: str) -> str | None:
        wanted, cursor = parse_request(fields, sort=sort), None
        for _ in range(grown.documents * 9 // 10 // LINES):
            cursor = table_page(workspace, grown.project, wanted, limit=LINES, cursor=cursor)[0].next
        return cursor

    acts = {f"first page, {sort}": act(sort=sort) for sort in ORDERS}
    acts |= {f"far down, {sort}": act(sort=sort, cursor=deep(sort)) for sort in ("-created", "value:total")}
    acts |= {f"{flag}, any field": act(flag) for flag in FLAGS}
    acts |= {f"total:{flag}": act(f"total:{flag}") for flag in FLAGS if flag != "ambiguous"}
    acts |= {
        "issued:ambiguous": act("issued:ambiguous"),
        "total:broken, by value": act("total:broken", sort="-value:total"),
        "total:broken, by name": act("total:broken", sort="name"),
        "total:broken and issued:ambiguous": act("total:broken", "issued:ambiguous"),
        "a filter that finds nothing": act("total:absent", "total:broken"),
        COUNTED: lambda: count_values(workspace, grown.project),
    }
    return acts


def _saves(workspace: Workspace, grown: Grown, clock: Clock) -> list[Row]:
    """Return times of correcting a cell, and of the follower that derives its row."""
    with workspace.database.read() as session:
        total = next(each.id for each in load_fields(session, grown.project) if each.name == "total")
        of_field = select(Annotation.id, Annotation.author_id, Annotation.head)
        chosen = of_field.where(Annotation.question_id == total, Annotation.status == "accepted")
        answers = session.execute(chosen.order_by(Annotation.id).limit(SAVES + 1)).all()
    saved, followed = [], []
    for number, (annotation, person, head) in enumerate(answers):
        edits = [{"op": "text", "text": f"{number}.50"}]
        key = {"idempotency_key": uuid.uuid4().hex, "base": head, "action": "accept", "edits": edits}
        begin = clock()
        append_revision(workspace, annotation, RevisionRequest.model_validate(key), person)
        stored = clock()
        runner = FollowerRunner(workspace, (FOLLOWER,), pauses=False)
        runner.look()
        if number:  # the first one warms up and does not count
            saved.append(1000 * (stored - begin))
            followed.append(1000 * (clock() - stored))
        runner.release()
        catch_up(workspace)
    return [row(SAVED, [saved]), row(DERIVED, [followed])]


def _times(act: Callable[[], object], clock: Clock) -> list[float]:
    act()
    taken = []
    for _ in range(TIMES):
        begin = clock()
        act()
        taken.append(1000 * (clock() - begin))
    return taken


def _table(found: dict[int, dict[str, Row]]) -> str:
    sizes = sorted(found)
    lines = []
    of_pages = [what for what in found[sizes[0]] if what not in WITHOUT_ROWS]
    for what in found[sizes[0]]:
        rows = [found[size][what] for size in sizes]
        ratio = rows[-1].p50 / rows[0].p50 if rows[0].p50 else 0.0
        unit = " (ms a document)" if what in OF_ALL else ""
        shown = [f"{each.p50:.1f} ({each.times})" if what in of_pages else f"{each.p50:.1f}" for each in rows]
        lines.append([what + unit, *shown, f"{ratio:.1f}"])
    return table(["median ms (rows of the page)", *(f"{size:,}" for size in sizes), "ratio"], lines)


if __name__ == "__main__":
    main()
