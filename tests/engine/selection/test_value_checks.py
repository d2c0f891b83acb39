"""Values count without a person only where they can be read, keep the rules, and are sure enough for their field."""

from typing import Any

import numpy as np
import pytest
from sqlalchemy import select

from db.tables import AutomaticAnswer, Question, Task
from engine.annotation.state import AnnotationState, Correction, PageMark, to_patch
from engine.fields.project_fields import WantedField, load_fields, replace_fields
from engine.fields.rules import broken_rules, proven_fields
from engine.workspace import Workspace
from tests.support.automatic_project import QUESTIONS, Works
from tests.support.factories import accept, pages_of
from tests.support.figures_at_once import follow_at_once
from tests.support.prepared_workspaces import Prepare


def _begin(workspace: Workspace) -> Works:
    follow_at_once(workspace)
    return Works(workspace)


@pytest.fixture
def works(prepare: Prepare) -> Works:
    workspace, works = prepare(_begin)
    follow_at_once(workspace)
    own = works.copied_to(workspace)
    own.model_says()
    own.begin_automatic()
    return own


def define(works: Works, **options: dict[str, Any]) -> None:
    """Give the fields of the project further options, by the place of the question."""
    with works.workspace.database.read() as session:
        fields = load_fields(session, works.project.id)
    wanted = [
        WantedField.model_validate(
            {**field.definition.model_dump(), "id": field.id, "name": f"field{at}", **options.get(f"field{at}", {})}
        )
        for at, field in enumerate(fields)
    ]
    replace_fields(works.workspace, works.project.id, wanted, works.boss.id)
    works.model_says()  # a field of another type is asked anew


def accepted(works: Works) -> dict[str, int]:
    """Return the number of automatic answers by question."""
    works.accept()
    with works.workspace.database.read() as session:
        rows = session.scalars(
            select(Question.text)
            .join(Task, Task.question_id == Question.id)
            .join(AutomaticAnswer, AutomaticAnswer.task_id == Task.id)
        ).all()
    return {question: rows.count(question) for question in QUESTIONS}


def test_a_field_has_a_confidence_of_its_own(works: Works) -> None:
    define(works, field1={"confidence": 1.0})
    assert accepted(works) == {QUESTIONS[0]: 4, QUESTIONS[1]: 0, QUESTIONS[2]: 4}


def test_a_text_that_is_no_value_of_its_type_waits_for_a_person(works: Works) -> None:
    define(works, field2={"type": "date"})
    assert accepted(works) == {QUESTIONS[0]: 4, QUESTIONS[1]: 4, QUESTIONS[2]: 0}


def test_a_broken_rule_leaves_its_fields_to_people(works: Works) -> None:
    """The total, 110.50 and more, is out of its range; what its rules name may be wrong as well."""
    rules = [{"rule": "range", "most": "100"}, {"rule": "sum", "of": ["field2"], "tolerance": 1e9}]
    define(works, field1={"type": "number", "rules": rules})
    assert accepted(works) == {QUESTIONS[0]: 4, QUESTIONS[1]: 0, QUESTIONS[2]: 0}


def test_a_rule_is_checked_on_what_a_person_gave(works: Works) -> None:
    """A person corrects the number of a bill to 7, and the total of that bill is no sum of it."""
    rule = {"rule": "sum", "of": ["field0"], "tolerance": 0}
    define(works, field0={"type": "number"}, field1={"type": "number", "rules": [rule]})
    bill = works.waiting[0]
    [page] = pages_of(works.workspace, bill.id)
    mark = PageMark(words=[1], mask=to_patch(np.ones((page.height, page.width), bool)))
    state = AnnotationState(pages={page.id: mark}, correction=Correction(text="7"))
    accept(works.workspace, bill, QUESTIONS[0], state=state, author="Ann")
    assert accepted(works)[QUESTIONS[1]] == 3


def test_a_sum_adds_all_values_of_a_column_and_proves_its_field() -> None:
    fields = [
        WantedField.model_validate(
            {"name": "line", "question": "What are the lines?", "type": "number", "several": True}
        ),
        WantedField.model_validate(
            {
                "name": "total",
                "question": "What is the total?",
                "type": "number",
                "rules": [{"rule": "sum", "of": ["line"]}],
            }
        ),
    ]
    right, wrong = {"line": ["1.5", "2"], "total": ["3.5"]}, {"line": ["1.5", "2"], "total": ["4"]}
    assert broken_rules(fields, right) == {} and proven_fields(fields, right) == {"total"}
    assert list(broken_rules(fields, wrong)) == ["total"] and proven_fields(fields, wrong) == set()
    assert proven_fields(fields, {"total": ["3.5"]}) == set()
