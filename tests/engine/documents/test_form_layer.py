"""Fields of a PDF's form become widgets with values and places; a tick is the word of a ticked box."""

from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from sqlalchemy import select

from db.tables import Page, PageWidget, PageWord
from engine.accounts.users import ensure_local_user
from engine.documents.form_layer.stored_widgets import widgets_of_document
from engine.documents.form_layer.widgets import LONGEST_NAME, LONGEST_VALUE, MOST_OF_PAGE, FormWidget
from engine.documents.ingest import ingest
from engine.documents.reading.page import ReadPage
from engine.projects.projects import create_project
from engine.read_again.turning import turn_by_hand
from engine.workspace import Workspace
from tests.engine.documents.conftest import Read
from tests.support.made_forms import MadeForm
from tests.support.raw_forms import RawForm, tenancy_form

_DPI = 72  # a pixel is a point


def page_of(read: Read, path: Path, **limits: Any) -> ReadPage:
    (page,) = read(path, **{"dpi": _DPI, **limits}).pages
    return page


def named(page: ReadPage) -> dict[str, FormWidget]:
    return {widget.name: widget for widget in page.widgets}


def ink(page: ReadPage, box: tuple[int, int, int, int]) -> float:
    with Image.open(page.image_path) as image:
        part = image.convert("L").crop(box)
    return sum(part.histogram()[:128]) / (part.width * part.height)


def test_a_form_without_appearances_is_read_and_drawn(read: Read, tmp_path: Path) -> None:
    page = page_of(read, tenancy_form().save(tmp_path / "form.pdf"))
    widgets = named(page)
    assert (widgets["name"].kind, widgets["name"].value) == ("text", "Margarethe Holm")
    assert widgets["name"].box == (160, 46, 380, 68)
    assert (widgets["town"].kind, widgets["town"].value, widgets["town"].options) == (
        "choice",
        "Kiel",
        ("Lund", "Kiel"),
    )
    assert (widgets["smoker"].ticked, widgets["garden"].ticked) == (True, False)
    texts = [word.text for word in page.words]
    assert texts.count("☒") == 2 and "3" not in texts and "4" not in texts and "l" not in texts
    assert {"Margarethe", "Holm", "Kiel"} <= set(texts)
    assert all(ink(page, widgets[name].box) > 0 for name in ("name", "smoker", "town"))


def test_print_beside_a_widget_names_it(read: Read, tmp_path: Path) -> None:
    widgets = named(page_of(read, tenancy_form().save(tmp_path / "form.pdf")))
    printed = {name: widget.printed for name, widget in widgets.items() if name != "parking"}
    assert printed == {"name": "Name of tenant:", "smoker": "Smoker:", "garden": "Garden:", "town": "Town:"}


def test_a_group_of_radio_buttons_has_one_chosen(read: Read, tmp_path: Path) -> None:
    page = page_of(read, tenancy_form().save(tmp_path / "form.pdf"))
    street, garage = (widget for widget in page.widgets if widget.kind == "radio")
    assert street.name == garage.name == "parking" and street.label == garage.label == "Kind of parking"
    assert (street.ticked, street.on_state, street.printed) == (True, "street", "On the street")
    assert (garage.ticked, garage.on_state, garage.printed) == (False, "garage", "In a garage")


def test_the_word_of_a_tick_lies_in_its_box(read: Read, tmp_path: Path) -> None:
    page = page_of(read, tenancy_form().save(tmp_path / "form.pdf"))
    ticks = {word.box for word in page.words if word.text == "☒"}
    assert ticks == {widget.box for widget in page.widgets if widget.is_tick and widget.ticked}


@pytest.mark.parametrize("rotate", [90, 180, 270])
def test_widgets_lie_on_their_values_on_turned_pages(read: Read, tmp_path: Path, rotate: int) -> None:
    page = page_of(read, tenancy_form(rotate=rotate).save(tmp_path / "form.pdf"))
    widgets = named(page)
    for name, first in (("name", "Margarethe"), ("town", "Kiel")):
        x0, y0, x1, y1 = widgets[name].box
        (word,) = (word for word in page.words if word.text == first)
        assert x0 <= word.box[0] + 1 and word.box[2] <= x1 + 1 and y0 <= word.box[1] + 4 and word.box[3] <= y1 + 4
    assert ink(page, widgets["smoker"].box) > 0.02


def test_widgets_of_a_cropped_page_move_with_it(read: Read, tmp_path: Path) -> None:
    page = page_of(read, tenancy_form(crop="30 100 400 260").save(tmp_path / "form.pdf"))
    assert (page.width, page.height) == (370, 160)
    assert named(page)["name"].box == (130, 6, 350, 28)


def test_kids_inherit_name_type_and_value(read: Read, tmp_path: Path) -> None:
    form = RawForm()
    person = form.field(f"/T(person)/FT/Tx/TU(The person)/Kids[{form.next + 1} 0 R]")
    name = form.field(f"/T(name)/V(Ada)/Parent {person} 0 R/Kids[{form.next + 1} 0 R {form.next + 2} 0 R]")
    form.widget("20 200 120 220", f"/Parent {name} 0 R", kid=True)
    form.widget("20 100 120 120", f"/Parent {name} 0 R", kid=True)
    first, second = page_of(read, form.save(tmp_path / "form.pdf")).widgets
    assert (first.name, first.kind, first.value, first.label) == ("person.name", "text", "Ada", "The person")
    assert (second.name, second.value) == (first.name, first.value) and second.box != first.box


def test_hidden_widgets_are_left_out_and_read_only_ones_named(read: Read, tmp_path: Path) -> None:
    form = RawForm()
    for flags in (1, 2, 32):
        form.widget("20 200 120 220", f"/FT/Tx/T(hidden{flags})/V(secret)/F {flags}")
    form.widget("20 160 120 180", "/FT/Tx/Ff 8192/T(password)/V(secret)")
    form.widget("20 120 120 140", "/FT/Btn/Ff 65536/T(send)")
    form.widget("20 80 120 100", "/FT/Tx/Ff 1/T(number)/V(12)")
    (widget,) = page_of(read, form.save(tmp_path / "form.pdf")).widgets
    assert (widget.name, widget.read_only) == ("number", True)


def test_options_stand_for_what_the_file_names_otherwise(read: Read, tmp_path: Path) -> None:
    form = RawForm()
    form.widget("20 200 120 220", "/FT/Ch/Ff 131072/T(colour)/V(r)/Opt[[(r)(Red)][(g)(Green)]]")
    group = form.field(
        f"/FT/Btn/Ff 49152/T(size)/V/1/Opt[(Small)(Large)]/Kids[{form.next + 2} 0 R {form.next + 4} 0 R]"
    )
    for number in (0, 1):
        ticked = form.stream("BT /ZaDb 12 Tf 2 4 Td (l) Tj ET")
        on = f"/AS/{number}" if number else "/AS/Off"
        states = f"/AP<</N<</{number} {ticked} 0 R>>>>"
        form.widget(f"20 {100 + 20 * number} 34 {114 + 20 * number}", f"/Parent {group} 0 R{on}{states}", kid=True)
    page = page_of(read, form.save(tmp_path / "form.pdf"))
    colour, small, large = page.widgets
    assert (colour.value, colour.options) == ("Red", ("Red", "Green"))
    assert "Red" in [word.text for word in page.words]
    assert [(small.value, small.ticked), (large.value, large.ticked)] == [("Small", False), ("Large", True)]


def test_a_box_that_contradicts_its_field_is_neither_ticked_nor_empty(read: Read, tmp_path: Path) -> None:
    form = RawForm()
    ticked = form.stream("BT /ZaDb 12 Tf 2 4 Td (4) Tj ET")
    form.widget("20 200 34 214", f"/FT/Btn/T(a)/V/Yes/AS/Off/AP<</N<</Yes {ticked} 0 R>>>>")
    page = page_of(read, form.save(tmp_path / "form.pdf"))
    assert page.widgets[0].ticked is None and not page.words


def test_a_box_without_state_is_drawn_as_its_field_says(read: Read, tmp_path: Path) -> None:
    form = RawForm()
    form.widget("20 200 34 214", "/FT/Btn/T(a)/V/Yes", font="ZaDb")
    page = page_of(read, form.save(tmp_path / "form.pdf"))
    assert page.widgets[0].ticked is True and ink(page, page.widgets[0].box) > 0.02


def test_a_number_printed_under_a_button_stays_a_word(read: Read, tmp_path: Path) -> None:
    form = RawForm()
    ticked = form.stream("BT /Helv 12 Tf 40 4 Td (l) Tj ET")
    for number in range(1, 6):
        form.print(20 * number + 4, 104, str(number))
        on = "/V/3/AS/3" if number == 3 else "/AS/Off"
        form.widget(
            f"{20 * number} 100 {20 * number + 16} 116", f"/FT/Btn/T(b{number}){on}/AP<</N<</3 {ticked} 0 R>>>>"
        )
    page = page_of(read, form.save(tmp_path / "form.pdf"))
    assert sorted(word.text for word in page.words) == ["1", "2", "3", "4", "5", "☒"]


def test_a_signature_field_says_whether_it_is_signed(read: Read, tmp_path: Path) -> None:
    form = RawForm()
    form.widget("20 200 120 220", "/FT/Sig/T(tenant)")
    form.widget("20 160 120 180", "/FT/Sig/T(landlord)/V<</Type/Sig/Filter/Adobe.PPKLite/Contents<00>>>")
    tenant, landlord = page_of(read, form.save(tmp_path / "form.pdf")).widgets
    assert (tenant.kind, tenant.ticked, landlord.ticked) == ("signature", False, True)


def test_more_widgets_than_the_limit_are_left_out(read: Read, tmp_path: Path) -> None:
    form = RawForm()
    for number in range(MOST_OF_PAGE + 200):
        form.widget(
            f"{number % 40 * 10} {number // 40 * 9} {number % 40 * 10 + 8} {number // 40 * 9 + 7}", "/FT/Tx/T(a)"
        )
    assert len(page_of(read, form.save(tmp_path / "form.pdf")).widgets) == MOST_OF_PAGE


def test_hostile_fields_harm_nothing(read: Read, tmp_path: Path) -> None:
    form = RawForm().print(40, 270, "Hello")
    form.widget("0 0 0 0", "/FT/Tx/T(empty)")
    form.widget("-99999999999 -99999999999 99999999999 99999999999", "/FT/Tx/T(endless)")
    form.widget("900 900 950 950", "/FT/Tx/T(outside)")
    form.widget("1 2 3", "/FT/Tx/T(broken)")
    form.widget("20 200 120 220", f"/FT/Tx/T({'n' * 10_000})/TU({'t' * 10_000})/V({'v ' * 10_000})")
    circle = form.field(f"/T(circle)/FT/Tx/Parent {form.next + 1} 0 R")
    form.field(f"/T(back)/Parent {circle} 0 R")
    form.widget("20 160 120 180", f"/T(kid)/FT/Tx/V(round)/Parent {circle} 0 R", kid=True)
    form.widget("20 120 120 140", f"/FT/Tx/T(itself)/V(me)/Parent {form.next} 0 R")
    form.widget("20 80 120 100", "/FT/Tx/T 7/V[1 2]/TU<</A 1>>")
    form.widget("20 40 120 60", "/FT/Ch/T(list)/V[(a)(b)]/Opt[(a)[(b)][[(c)]]7 null]")
    form.widget("140 40 150 50", "/FT/Btn/T(tick)/AS/x/V[/x]/AP 7")
    page = page_of(read, form.save(tmp_path / "form.pdf"))
    assert "Hello" in [word.text for word in page.words]
    assert not {"empty", "outside", "broken"} & set(named(page))
    for widget in page.widgets:
        x0, y0, x1, y1 = widget.box
        assert 0 <= x0 < x1 <= page.width and 0 <= y0 < y1 <= page.height
        assert len(widget.name) <= LONGEST_NAME and len(widget.label) <= LONGEST_NAME
        assert len(widget.value) <= LONGEST_VALUE
    assert any(widget.value == "round" for widget in page.widgets)


def test_widgets_made_by_pymupdf_are_read(read: Read, tmp_path: Path) -> None:
    form = (
        MadeForm().print(60, 100, "Member").field((150, 90, 160, 100), "member", box_to_tick=True, tooltip="A member")
    )
    (widget,) = form.page.widgets()
    widget.field_value = True
    widget.update()
    (found,) = page_of(read, form.save(tmp_path / "form.pdf")).widgets
    assert (found.kind, found.ticked, found.label) == ("checkbox", True, "A member")


def stored(workspace: Workspace, path: Path) -> str:
    project = create_project(workspace, "p")
    return ingest(workspace, path, name="form.pdf", project_id=project.id, user_id=None).document_id


def test_widgets_are_stored_and_turned_with_their_page(workspace: Workspace, tmp_path: Path) -> None:
    document_id = stored(workspace, tenancy_form().save(tmp_path / "form.pdf"))
    with workspace.database.read() as session:
        (before,) = widgets_of_document(session, document_id).values()
        page = session.scalars(select(Page)).one()
    user_id = ensure_local_user(workspace).id
    assert [widget.name for widget in before] == ["name", "smoker", "garden", "town", "parking", "parking"]
    turn_by_hand(workspace, page.id, 90, user_id)
    with workspace.database.read() as session:
        (after,) = widgets_of_document(session, document_id).values()
        boxes = {(word.x0, word.y0, word.x1, word.y1) for word in session.scalars(select(PageWord)) if word.text == "☒"}
        assert session.scalars(select(PageWidget)).first() is not None
    x0, y0, x1, y1 = before[0].box
    assert after[0].box == (page.height - y1, x0, page.height - y0, x1)
    assert {widget.box for widget in after if widget.ticked} == boxes
