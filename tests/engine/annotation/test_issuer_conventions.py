"""Conventions of issuers go before those of the project; an annotator changes only what they picked."""

import pytest
from sqlalchemy import select

from db.tables import Document, FieldValue, ProjectField, User
from engine.annotation.conventions import issuer_of_document, remember_convention
from engine.annotation.views import annotation_view
from engine.errors import Forbidden, Refused
from engine.fields.definition import FieldDefinition
from engine.fields.project_fields import preview_changes, replace_fields
from engine.followers import catch_up
from engine.followers.checks import find_mismatches
from engine.form.view import load_form
from engine.projects.projects import change_settings
from engine.workspace import Workspace
from tests.support.annotators import make_person
from tests.support.factories import accept, line, make_document, make_project

ISSUER = FieldDefinition(name="supplier", question="Who is the supplier?", issuer=True)
DATE = FieldDefinition(name="issued", question="What is the date?", type="date")


class Office:
    """A project with papers of two suppliers, and its people."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self.project = make_project(workspace).id
        self.rita = make_person(workspace, "Rita", self.project, "reviewer")
        self.ann = make_person(workspace, "Ann", self.project, "annotator")
        self.ben = make_person(workspace, "Ben", self.project, "annotator")
        replace_fields(workspace, self.project, [ISSUER, DATE], self.rita.id)
        self.acme, self.other = self.paper("ACME 03/04/26"), self.paper("Zenith 03/04/26")

    def paper(self, text: str) -> Document:
        made = make_document(self.workspace, self.project, [line(text, y=20)], name=f"{text[:4]}.png")
        accept(self.workspace, made, DATE.question, [1], author="Rita")
        return made

    def remember(self, by: User, value: str | None, **where: str) -> dict[str, dict[str, str]]:
        change = {"date_order": value}
        remembered = remember_convention(self.workspace, self.project, change, by.id, **where)
        return {name: dict(pairs) for name, pairs in remembered.issuers.items()}

    def date_of(self, paper: Document) -> object:
        form = load_form(self.workspace, paper.id, self.rita.id)
        [field] = [field for field in form.fields if field.name == "issued"]
        assert field.annotation_id is not None
        [value] = field.values
        assert annotation_view(self.workspace, field.annotation_id).values == [value]
        return value.value


@pytest.fixture
def office(workspace: Workspace) -> Office:
    return Office(workspace)


def test_an_issuer_prints_in_a_way_of_its_own(office: Office) -> None:
    assert issuer_of_document(office.workspace, office.acme.id, office.ann.id) is None
    with pytest.raises(Refused, match="Nobody has accepted the issuer"):
        office.remember(office.rita, "DMY", document_id=office.acme.id)
    accept(office.workspace, office.acme, ISSUER.question, [0], author="Rita")
    assert issuer_of_document(office.workspace, office.acme.id, office.ann.id) == "ACME"
    office.remember(office.rita, "MDY")
    assert office.remember(office.rita, "DMY", document_id=office.acme.id) == {"ACME": {"date_order": "DMY"}}
    assert (office.date_of(office.acme), office.date_of(office.other)) == ("2026-04-03", "2026-03-04")
    accept(office.workspace, office.other, ISSUER.question, [0], author="Rita")
    assert office.date_of(office.other) == "2026-03-04"  # another issuer
    catch_up(office.workspace)
    assert not find_mismatches(office.workspace, office.project)
    with office.workspace.database.read() as session:
        days = session.scalars(select(FieldValue.content).where(FieldValue.printed == "03/04/26")).all()
    assert sorted(days) == [["2026-03-04"], ["2026-04-03"]]
    assert office.remember(office.rita, None, issuer="acme") == {}
    assert office.date_of(office.acme) == "2026-03-04"


def test_an_annotator_changes_only_conventions_of_their_own(office: Office) -> None:
    office.remember(office.ann, "DMY")
    with pytest.raises(Forbidden, match='Another person picked the convention "date_order"'):
        office.remember(office.ben, None)
    office.remember(office.ben, "DMY")  # the same pick changes nothing
    office.remember(office.ann, None)
    office.remember(office.ann, "DMY")
    office.remember(office.rita, "MDY")
    with pytest.raises(Forbidden):
        office.remember(office.ann, None)
    accept(office.workspace, office.acme, ISSUER.question, [0], author="Rita")
    assert office.remember(office.ben, "DMY", document_id=office.acme.id)
    with pytest.raises(Forbidden):
        office.remember(office.ann, None, issuer="ACME")
    assert office.remember(office.ben, None, issuer="ACME") == {}


def test_an_issuer_is_hidden_from_who_answers_independently(office: Office) -> None:
    change_settings(office.workspace, office.project, overlap_share=1.0, overlap_people=2)
    replace_fields(office.workspace, office.project, [DATE, ISSUER], office.rita.id)
    accept(office.workspace, office.acme, ISSUER.question, [0], author="Rita")
    seen = [issuer_of_document(office.workspace, office.acme.id, person.id) for person in (office.rita, office.ann)]
    assert seen == ["ACME", None]


def test_a_definition_of_before_there_were_issuers_keeps_its_version(office: Office) -> None:
    with office.workspace.database.write() as session:
        field = session.scalars(select(ProjectField).where(ProjectField.name == "issued")).one()
        field.definition = {name: value for name, value in field.definition.items() if name != "issuer"}
    stored = replace_fields(office.workspace, office.project, [ISSUER, DATE], office.rita.id)
    assert [field.version for field in stored] == [1, 1]


def test_a_list_has_a_single_issuer_field_of_type_string(office: Office) -> None:
    other = FieldDefinition(name="seller", question="Who is the seller?", issuer=True)
    with pytest.raises(Refused, match="The fields supplier and seller all name the issuer"):
        preview_changes(office.workspace, office.project, [ISSUER, other])
    with pytest.raises(ValueError, match="only a field of type string"):
        FieldDefinition.model_validate({"name": "day", "question": "When?", "type": "date", "issuer": True})
