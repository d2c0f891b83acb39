"""The table of values: pages in every order and with every filter hold the documents that the cells say."""

import random
from collections.abc import Sequence

import pytest

from engine.answer_table import FLAGS, count_values, every_row, parse_request, table_page
from engine.errors import Refused
from engine.fields.definition import FieldDefinition
from engine.fields.project_fields import project_fields, replace_fields
from engine.followers import catch_up
from engine.workspace import Workspace
from tests.support.annotators import answer
from tests.support.factories import bill, make_document
from tests.support.office import NUMBER, TOTAL, Office
from tests.support.survey_rows import make_version, say

BILLS = 9
FIELDS = (
    FieldDefinition(name="number", question=NUMBER),
    FieldDefinition.model_validate(
        {"name": "total", "question": TOTAL, "type": "number", "rules": [{"rule": "range", "most": "14"}]}
    ),
)


@pytest.fixture
def office(workspace: Workspace) -> Office:
    """Nine bills whose totals rise; some are answered, some proposed, some empty, one is unreadable."""
    office = Office(workspace, bills=0)
    numbers = list(range(BILLS))
    random.Random(3).shuffle(numbers)
    office.documents = [
        make_document(workspace, office.project.id, [bill(number)], name=f"bill {number}.png") for number in numbers
    ]
    replace_fields(workspace, office.project.id, FIELDS, office.rita.id)
    version = make_version(workspace, office.project.id)
    for task in office.tasks():
        place = [document.id for document in office.documents].index(task.document_id)
        is_total = task.question_id == office.question(TOTAL)
        if place < 5:
            words = (4,) if is_total else (1,)
            answer(workspace, task.id, office.rita, (5,) if is_total and place == 2 else words)
        elif is_total and place < 7:
            say(workspace, version, office.documents[place], TOTAL, (4,), score=0.4)
    catch_up(workspace)
    return office


def shown(workspace: Workspace, office: Office, filters: Sequence[str] = (), sort: str = "-created") -> list[str]:
    """The names of all documents, read in pages of two."""
    wanted = parse_request(project_fields(workspace, office.project.id), filters=filters, sort=sort)
    names, cursor = [], None
    while True:
        page, total = table_page(workspace, office.project.id, wanted, limit=2, cursor=cursor)
        names += [row.name for row in page]
        cursor = page.next
        if cursor is None:
            assert total == len(names)
            return names


def rows(workspace: Workspace, office: Office) -> dict[str, dict[str, set[str]]]:
    """Flags of each document by field, as its cells say."""
    found = {}
    for row in every_row(workspace, office.project.id, parse_request(project_fields(workspace, office.project.id))):
        of_fields = {}
        for name, cell in row.cells.items():
            flags = {cell.state, "accepted" if cell.validated_by == "person" else "unaccepted"}
            flags |= {flag for flag in ("changed", "broken") if getattr(cell, flag)}
            if cell.status == "proposal":
                flags |= {"proposed", "unsure"}
            of_fields[name] = flags & set(FLAGS)
        found[row.name] = of_fields
    return found


@pytest.mark.parametrize("few", (True, False))
def test_each_filter_finds_the_documents_whose_cells_have_the_flag(
    workspace: Workspace, office: Office, few: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not few:
        monkeypatch.setattr("engine.answer_table.table._FEW", -1)
    flags = rows(workspace, office)
    for sort in ("-created", "created", "name", "value:total", "-value:total"):
        every = shown(workspace, office, sort=sort)
        assert sorted(every) == sorted(flags) and len(every) == BILLS
        for flag in FLAGS:
            of_total = [name for name in every if flag in flags[name]["total"]]
            assert shown(workspace, office, [f"total:{flag}"], sort) == of_total
            both = [name for name in of_total if "accepted" in flags[name]["number"]]
            assert shown(workspace, office, [f"total:{flag}", "number:accepted"], sort) == both
            of_any = [name for name in every if _has(flags[name], flag)]
            assert shown(workspace, office, [flag], sort) == of_any


def _has(cells: dict[str, set[str]], flag: str) -> bool:
    """Whether a document is found by a flag in any field; all of them are accepted, or none is."""
    holds = [flag in flags for flags in cells.values()]
    return all(holds) if flag == "accepted" else any(holds)


def test_values_sort_by_amount_and_documents_without_one_come_last(workspace: Workspace, office: Office) -> None:
    amounts = {
        row.name: row.cells["total"].values
        for row in every_row(workspace, office.project.id, parse_request(project_fields(workspace, office.project.id)))
    }
    known = sorted(
        (name for name in amounts if amounts[name] not in ([], [None])), key=lambda one: float(str(amounts[one][0]))
    )
    assert len(known) == 6
    rising = shown(workspace, office, sort="value:total")
    assert rising[:6] == known and set(rising[6:]) == set(amounts) - set(known)
    falling = shown(workspace, office, sort="-value:total")
    assert falling[:6] == known[::-1] and set(falling[6:]) == set(amounts) - set(known)


def test_counts_say_how_many_documents_each_filter_finds(workspace: Workspace, office: Office) -> None:
    counted = count_values(workspace, office.project.id)
    assert counted.documents == BILLS
    numbers = {(each.field, each.flag): each.documents for each in counted.counts}
    assert numbers[None, "accepted"] == numbers["total", "accepted"] == 5
    assert numbers["total", "unsure"] == 2 and numbers["total", "unreadable"] == 1
    for (field, flag), number in numbers.items():
        assert len(shown(workspace, office, [f"{field}:{flag}" if field else flag])) == number


def test_a_broken_rule_is_told_with_its_document(workspace: Workspace, office: Office) -> None:
    wanted = parse_request(project_fields(workspace, office.project.id), ["total"], ["broken"])
    for row in every_row(workspace, office.project.id, wanted):
        assert row.broken == 1 and list(row.cells) == ["total"]
        assert row.rules[0].sentence == f"total ({row.cells['total'].values[0]}) is above 14."


@pytest.mark.parametrize(
    "asked",
    (
        {"columns": ["gone"]},
        {"filters": ["loud"]},
        {"filters": ["gone:empty"]},
        {"sort": "value:gone"},
        {"sort": "size"},
    ),
)
def test_an_unknown_field_filter_or_order_is_refused(
    workspace: Workspace, office: Office, asked: dict[str, list[str]]
) -> None:
    with pytest.raises(Refused, match=r"There is no|has no field"):
        parse_request(project_fields(workspace, office.project.id), **asked)  # type: ignore[arg-type]
