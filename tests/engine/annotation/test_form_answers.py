"""A question that names an entry of a PDF's form is answered by the form, as certain; an unclear one is not."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from starlette.testclient import TestClient

from engine.annotation.form_answers import DocumentForm
from engine.annotation.form_entries import asked_for, entries_of, keys_of
from engine.annotation.proposal import StoredAnswer
from engine.annotation.state import to_patch
from engine.annotation.survey_answers import Prepared
from engine.documents.form_layer.stored_widgets import widgets_of_document
from engine.documents.form_layer.widgets import FormWidget
from engine.documents.ingest import ingest
from engine.fields.types import FieldType
from engine.projects.projects import create_project
from engine.workspace import Workspace
from tests.support.raw_forms import RawForm, tenancy_form

Ask = Callable[..., dict[str, Any]]


@pytest.fixture
def ask(client: TestClient, tmp_path: Path) -> Ask:
    """ask(question, form): the answer to a question about the form; `fields` are the fields of the project."""
    documents: dict[RawForm, str] = {}
    project = client.get("/api/projects").json()[0]["id"]

    def upload(form: RawForm) -> str:
        content = form.save(tmp_path / "form.pdf").read_bytes()
        files = [("files", (f"form{len(documents)}.pdf", content, "application/pdf"))]
        answer = client.post(f"/api/projects/{project}/documents", files=files)
        assert answer.status_code == 200, answer.text
        return str(answer.json()["documents"][0]["document_id"])

    def ask_it(question: str, form: RawForm, *, field: dict[str, Any] | None = None) -> dict[str, Any]:
        if field is not None:
            wanted = {"fields": [{"name": "asked", "question": question, **field}]}
            answer = client.put(f"/api/projects/{project}/fields", json=wanted)
            assert answer.status_code == 200, answer.text
        if form not in documents:
            documents[form] = upload(form)
        asked = client.post(f"/api/documents/{documents[form]}/ask", json={"question": question})
        assert asked.status_code == 200, asked.text
        return dict(asked.json())

    return ask_it


def test_a_filled_field_answers_the_question_that_names_it(ask: Ask) -> None:
    answer = ask("What is the name of the tenant?", tenancy_form())
    proposal = answer["proposal"]
    assert (proposal["source"], proposal["text"]) == ("form", "Margarethe Holm")
    assert (proposal["score"], proposal["answered"]) == (1.0, 1.0)
    assert answer["text"] == "Margarethe Holm" and proposal["model"]["label"]


def test_a_chosen_option_is_the_answer(ask: Ask) -> None:
    proposal = ask("Which town?", tenancy_form())["proposal"]
    assert (proposal["source"], proposal["text"]) == ("form", "Kiel")


def test_a_ticked_box_is_marked_with_its_word(ask: Ask, client: TestClient) -> None:
    answer = ask("Smoker", tenancy_form(), field={"type": "boolean"})
    assert (answer["proposal"]["source"], answer["text"]) == ("form", "☒")
    assert [value["value"] for value in answer["values"]] == [True]
    assert answer["proposal"]["candidates"]  # of the model; they make the form's own value no less sure
    form = client.get(f"/api/documents/{answer['document_id']}/form").json()
    assert [field["confidence"] for field in form["fields"]] == [1.0]


def test_an_empty_box_answers_a_boolean_field_with_false(ask: Ask) -> None:
    answer = ask("Garden", tenancy_form(), field={"type": "boolean"})
    proposal = answer["proposal"]
    assert (proposal["source"], proposal["text"], proposal["words"]) == ("form", "☐", [])
    assert proposal["mask"]["counts"]
    assert [value["value"] for value in answer["values"]] == [False]


def test_an_empty_box_is_no_answer_to_a_question_without_type(ask: Ask) -> None:
    assert ask("Garden", tenancy_form())["proposal"]["source"] == "model"


def test_the_chosen_button_of_a_group_is_the_answer_with_its_label(ask: Ask) -> None:
    choices = [{"value": "street", "names": ["On the street"]}, {"value": "garage", "names": ["In a garage"]}]
    answer = ask("Kind of parking", tenancy_form(), field={"type": "choice", "choices": choices})
    assert (answer["proposal"]["source"], answer["text"]) == ("form", "☒ On the street")
    assert [value["value"] for value in answer["values"]] == ["street"]


def test_a_question_that_the_form_does_not_name_is_the_models(ask: Ask) -> None:
    assert ask("Who is the landlord?", tenancy_form())["proposal"]["source"] == "model"


def test_a_value_that_is_none_of_the_fields_type_is_not_taken(ask: Ask) -> None:
    assert ask("Town", tenancy_form(), field={"type": "date"})["proposal"]["source"] == "model"


def test_an_outdated_appearance_is_not_taken_for_the_value(ask: Ask) -> None:
    form = RawForm(need_appearances=False).print(40, 237, "Name of tenant:")
    old = form.stream("BT /Helv 12 Tf 2 5 Td (Somebody Else) Tj ET")
    form.widget("160 232 380 254", f"/FT/Tx/T(name)/V(Margarethe Holm)/AP<</N {old} 0 R>>")
    assert ask("Name of tenant", form)["proposal"]["source"] == "model"


@pytest.mark.parametrize("rotate", [90, 270])
def test_a_turned_page_is_answered_at_the_right_place(ask: Ask, client: TestClient, rotate: int) -> None:
    answer = ask("Name of tenant", tenancy_form(rotate=rotate))
    document = client.get(f"/api/documents/{answer['document_id']}").json()
    assert answer["proposal"]["source"] == "form" and answer["text"] == "Margarethe Holm"
    x0, y0, x1, y1 = answer["proposal"]["mask"]["box"]
    (page,) = document["pages"]
    assert 0 <= x0 < x1 <= page["width"] and 0 <= y0 < y1 <= page["height"]


def form_of(workspace: Workspace, path: Path) -> tuple[DocumentForm, dict[str, FormWidget], str]:
    project = create_project(workspace, "p")
    done = ingest(workspace, path, name="form.pdf", project_id=project.id, user_id=None)
    with workspace.database.read() as session:
        ((page_id, widgets),) = widgets_of_document(session, done.document_id).items()
    return DocumentForm(workspace, done.document_id), {widget.name: widget for widget in widgets}, page_id


def marked_by_model(page_id: str, box: tuple[int, int, int, int], *, answered: float = 0.9) -> Prepared:
    mask = np.zeros((625, 833), bool)
    mask[box[1] : box[3], box[0] : box[2]] = True
    return Prepared(page_id, StoredAnswer(words=[], mask=to_patch(mask), text="", score=0.6), 0.6, answered, 5.0)


def test_a_mark_of_the_model_in_a_field_takes_its_value_with_the_models_score(
    sqlite_workspace: Workspace, tmp_path: Path
) -> None:
    form, widgets, page_id = form_of(sqlite_workspace, tenancy_form().save(tmp_path / "form.pdf"))
    x0, y0, _, y1 = widgets["town"].box
    inside = marked_by_model(page_id, (x0 + 4, y0 + 4, x0 + 30, y1 - 4))
    found = form.prefer("Where does this person live?", inside)
    assert (found.answer.source, found.answer.text) == ("form", "Kiel")
    assert (found.score, found.answer.score, found.answered) == (0.6, 0.6, 0.9)
    beside = marked_by_model(page_id, (x0 - 60, y0, x0 - 10, y1))
    assert form.prefer("Where does this person live?", beside) is beside
    doubted = marked_by_model(page_id, (x0 + 4, y0 + 4, x0 + 30, y1 - 4), answered=0.3)
    assert form.prefer("Where does this person live?", doubted) is doubted


def test_the_model_chooses_between_fields_of_one_name(sqlite_workspace: Workspace, tmp_path: Path) -> None:
    made = RawForm().print(20, 206, "City").print(20, 106, "City")
    made.widget("60 202 160 222", "/FT/Tx/T(home)/V(Lund)")
    made.widget("60 102 160 122", "/FT/Tx/T(work)/V(Kiel)")
    form, widgets, page_id = form_of(sqlite_workspace, made.save(tmp_path / "form.pdf"))
    found = form.prefer("City", marked_by_model(page_id, widgets["work"].box))
    assert (found.answer.source, found.answer.text, found.score) == ("form", "Kiel", 1.0)
    nowhere = marked_by_model(page_id, (500, 500, 520, 520))
    assert form.prefer("City", nowhere) is nowhere


def text_widget(number: int, **parts: Any) -> FormWidget:
    return FormWidget(kind="text", box=(10, 20 * number, 90, 20 * number + 10), **{"value": f"v{number}", **parts})


def fitting(question: str, *widgets: FormWidget, kind: FieldType | None = None) -> list[str]:
    found = asked_for(entries_of({"page": widgets}), question, kind)
    return [entry.places[0][1].value for entry in found]


@pytest.mark.parametrize(
    ("question", "label"),
    [
        ("What is the date of birth?", "Date of Birth (mm/dd/yyyy)"),
        ("What is the tenant's name?", "Name of tenant"),
        ("What are the cities?", "Cities"),
        ("Email", "E-Mail"),
        ("What is the État?", "Etat:"),
    ],
)
def test_a_label_is_compared_without_words_that_ask(question: str, label: str) -> None:
    assert fitting(question, text_widget(0, label=label)) == ["v0"]


@pytest.mark.parametrize(
    ("question", "label"),
    [
        ("Employer", "Employee"),
        ("Married", "Unmarried"),
        ("Valid from", "Valid to"),
        ("Smoker", "Not a smoker"),
        ("Line 2 amount", "Line 3 amount"),
        ("What is it?", "Field"),
    ],
)
def test_names_that_only_resemble_the_question_do_not_fit(question: str, label: str) -> None:
    assert fitting(question, text_widget(0, label=label)) == []


def test_two_fields_of_one_name_both_fit() -> None:
    widgets = [text_widget(0, label="City", name="home"), text_widget(1, label="City", name="work")]
    assert fitting("City", *widgets) == ["v0", "v1"]


def test_one_field_at_two_places_fits_once() -> None:
    widgets = [text_widget(number, label="City", name="city", value="Kiel") for number in (0, 1)]
    assert fitting("City", *widgets) == ["Kiel"]


def test_print_that_contradicts_the_label_names_nothing() -> None:
    assert fitting("Street", text_widget(0, label="Street", printed="City")) == []


def test_the_fields_own_name_counts_where_nothing_contradicts_it() -> None:
    assert fitting("What is the first name?", text_widget(0, name="form1[0].page[0].firstName[0]")) == ["v0"]
    assert fitting("Name", text_widget(0, name="name", printed="Employer")) == []


def test_boxes_with_a_common_question_are_a_group_of_which_one_is_ticked() -> None:
    boxes = [
        FormWidget(kind="checkbox", box=(10 * at, 0, 10 * at + 8, 8), name=name, value=name, on_state="Yes",
                   ticked=at == 1, printed=name, asked="Do you own a card?")
        for at, name in enumerate(("yes", "no"))
    ]  # fmt: skip
    (entry,) = asked_for(entries_of({"page": boxes}), "Do you own a card?", FieldType.BOOLEAN)
    assert entry.answer is not None and entry.answer[1].value == "no"


def test_a_question_of_asking_words_alone_has_no_key() -> None:
    assert keys_of("What is the value of the field?") == set()
