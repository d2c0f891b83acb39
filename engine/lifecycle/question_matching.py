"""Questions of one project as those of another: by their text, else by the name of their field."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field

from sqlalchemy import select
from sqlalchemy.orm import Session

from db import changes
from db.tables import Annotation, FieldVersion, OutsideAnswer, ProjectField, Question, RemovedQuestion, Task
from engine.errors import Conflict, Refused
from engine.fields.definition import FieldDefinition
from engine.fields.project_fields import WantedField, load_fields, project_fields, replace_fields
from engine.queries import is_asked
from engine.text import quote_file_name
from engine.workspace import Workspace

_AT_ONCE = 500  # documents of one statement


@dataclass(slots=True)
class Matches:
    """Questions that some documents were asked, and those of another project.

    Attributes:
        known: Ids there by ids here.
        missing: Questions here without one there, in their order.
        fields: Questions here that are fields, and none there.
    """

    known: dict[str, str] = field(default_factory=dict)
    missing: list[Question] = field(default_factory=list)
    fields: list[Question] = field(default_factory=list)


def match_questions(session: Session, documents: Collection[str], target_id: str) -> Matches:
    """Return how the questions of some documents of one project stand in another one; those in the bin stay here.

    Raises Refused where one lies in the bin of the other project.
    """
    here = _asked(session, list(documents))
    ids = [question.id for question in here]
    names = dict(
        session.execute(
            select(ProjectField.question_id, ProjectField.name).where(
                ProjectField.question_id.in_(ids), ProjectField.name.is_not(None)
            )
        )
        .tuples()
        .all()
    )
    texts = [question.text for question in here]
    same_text = select(Question.text, Question.id).where(Question.project_id == target_id, Question.text.in_(texts))
    there = dict(session.execute(same_text).tuples().all())
    in_bin = select(Question.text).join(RemovedQuestion, RemovedQuestion.question_id == Question.id)
    if text := session.scalar(in_bin.where(Question.id.in_(there.values())).limit(1)):
        raise Refused(
            f"The question {quote_file_name(text)} lies in the bin of the other project. Restore it there, or delete "
            "it for good first."
        )
    named = {each.name: each.id for each in load_fields(session, target_id)}
    matches = Matches()
    matches.known = {question.id: there[question.text] for question in here if question.text in there}
    taken = set(matches.known.values())
    for question in here:
        if question.id in matches.known:
            continue
        same = named.get(names.get(question.id) or "")
        if same is not None and same not in taken:  # two questions of a person are never one
            matches.known[question.id] = same
            taken.add(same)
        else:
            matches.missing.append(question)
    there_fields = set(named.values())
    matches.fields = [each for each in here if each.id in names and matches.known.get(each.id) not in there_fields]
    return matches


def ask_missing(session: Session, matches: Matches, target_id: str, by: str | None) -> dict[str, str]:
    """Add the missing questions to a locked project, as plain ones; return ids there by ids here, of all."""
    added = {}
    for question in matches.missing:
        row = Question(project_id=target_id, text=question.text, created_by=by)
        session.add(row)
        session.flush()
        added[question.id] = row.id
    if added:
        changes.publish(session, "questions", target_id)
    return matches.known | added


def match_versions(session: Session, questions: dict[str, str]) -> dict[tuple[str, int], int]:
    """Return the version of a field there that is defined as one here, by question there and number here.

    A version without its like is left out: its answers were given under a definition that the field never had there.
    """
    chosen = select(FieldVersion.question_id, FieldVersion.number, FieldVersion.definition)
    here = session.execute(chosen.where(FieldVersion.question_id.in_(list(questions)))).tuples().all()
    there = session.execute(chosen.where(FieldVersion.question_id.in_(list(questions.values())))).tuples().all()
    defined: dict[tuple[str, str], int] = {}
    for question_id, number, definition in sorted(there, key=lambda row: row[1]):
        defined[question_id, _plain(definition)] = number
    same = {}
    for question_id, number, definition in here:
        other = questions[question_id]
        if (version := defined.get((other, _plain(definition)))) is not None:
            same[other, number] = version
    return same


def add_fields(workspace: Workspace, fields: Sequence[Question], target_id: str, by: str) -> list[str]:
    """Add fields of one project to another one, which opens tasks for all of its documents; return their names.

    Raises Refused where the project has too many fields then, Conflict where somebody changes them meanwhile.
    """
    present = project_fields(workspace, target_id)
    with workspace.database.read() as session:
        rows = session.scalars(
            select(ProjectField).where(
                ProjectField.question_id.in_([question.id for question in fields]), ProjectField.name.is_not(None)
            )
        )
        definitions = {row.question_id: FieldDefinition.model_validate(row.definition) for row in rows}
    new = _fitting([definitions[each.id] for each in fields if each.id in definitions], present)
    if new:
        kept = [WantedField(**each.definition.model_dump(), id=each.id) for each in present]
        before = {each.id: each.version for each in present}
        try:
            replace_fields(workspace, target_id, [*kept, *new], by, before)
        except Conflict as conflict:
            raise Conflict("Somebody changed the fields of the other project meanwhile. Try again.") from conflict
    return [each.name for each in new]


def _fitting(new: Iterable[FieldDefinition], present: Sequence[FieldDefinition]) -> list[FieldDefinition]:
    """Return new fields that go with the present ones: one names the issuer, and rules name fields that are there."""
    wanted = list(new)
    names = {each.name for each in (*present, *wanted)}
    issuer = any(each.issuer for each in present)
    fitting = []
    for each in wanted:
        rules = [rule for rule in each.rules if _named_by(rule) <= names]
        fitting.append(each.model_copy(update={"rules": rules, "issuer": each.issuer and not issuer}))
        issuer |= each.issuer
    return fitting


def _named_by(rule: object) -> set[str]:
    names = [*getattr(rule, "of", ()), *filter(None, [getattr(rule, "field", None)])]
    return {name.partition(".")[0] for name in names}


def _asked(session: Session, documents: list[str]) -> list[Question]:
    ids: set[str] = set()
    for start in range(0, len(documents), _AT_ONCE):
        some = documents[start : start + _AT_ONCE]
        for table in (Annotation, Task, OutsideAnswer):
            ids.update(session.scalars(select(table.question_id).where(table.document_id.in_(some)).distinct()))
    chosen = select(Question).where(Question.id.in_(sorted(ids)), is_asked()).order_by(Question.position, Question.id)
    return list(session.scalars(chosen))


def _plain(definition: object) -> str:
    return FieldDefinition.model_validate(definition).model_dump_json()
