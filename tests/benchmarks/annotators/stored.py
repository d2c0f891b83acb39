"""What the database holds against what the annotators were told: every acknowledged revision once, in order."""

from __future__ import annotations

from sqlalchemy import select

from db.tables import Annotation, Revision
from engine.workspace import Workspace
from tests.benchmarks.annotators.window import Record

AT_ONCE = 500


def check(workspace: Workspace, records: list[Record]) -> list[str]:
    """Return what is wrong, a sentence each.

    Every acknowledged revision is stored once under its number; numbers of an answer have no gaps and none that nobody
    was told; each builds on the one before; and the words of the newest are those that the person has marked.
    """
    acknowledged = {key: place for record in records for key, place in record.acknowledged.items()}
    if len(acknowledged) < sum(len(record.acknowledged) for record in records):
        return ["A key was used twice."]
    marked = {answer: words for record in records for answer, words in record.words.items()}
    wrong = []
    for begin in range(0, len(marked), AT_ONCE):
        wrong += _check_answers(workspace, dict(list(marked.items())[begin : begin + AT_ONCE]), acknowledged)
    return wrong


def _check_answers(
    workspace: Workspace, marked: dict[str, tuple[str, set[int]]], acknowledged: dict[str, tuple[str, int]]
) -> list[str]:
    wrong = []
    columns = (Revision.annotation_id, Revision.number, Revision.base, Revision.idempotency_key)
    with workspace.database.read() as session:
        rows = session.execute(select(*columns).where(Revision.annotation_id.in_(marked))).tuples().all()
        newest = (Annotation.id == Revision.annotation_id) & (Annotation.head == Revision.number)
        heads = select(Annotation.id, Annotation.head, Revision.state).outerjoin(Revision, newest)
        heads_and_states = session.execute(heads.where(Annotation.id.in_(marked))).tuples().all()
    stored: dict[str, list[int]] = {}
    keys: dict[str, tuple[str, int]] = {}
    for answer, number, base, key in rows:
        stored.setdefault(answer, []).append(number)
        if key in keys:
            wrong.append(f"{answer}: the key of revision {number} is stored twice")
        keys[key] = (answer, number)
        if base != number - 1:
            wrong.append(f"{answer}: revision {number} builds on {base}")
        if key not in acknowledged:
            wrong.append(f"{answer}: revision {number} was told to nobody")
    for key, place in acknowledged.items():
        if place[0] in marked and keys.get(key) != place:
            wrong.append(f"{place[0]}: revision {place[1]} was acknowledged and is not stored as it was told")
    for answer, head, state in heads_and_states:
        page, words = marked[answer]
        if sorted(stored.get(answer, [])) != list(range(1, head + 1)):
            wrong.append(f"{answer}: revisions {sorted(stored.get(answer, []))} under the head {head}")
        if head and set(state["pages"].get(page, {}).get("words", [])) != words:
            wrong.append(f"{answer}: other words are stored than the person has marked")
    if len(heads_and_states) < len(marked):
        wrong.append(f"{len(marked) - len(heads_and_states)} answers are not stored")
    return wrong
