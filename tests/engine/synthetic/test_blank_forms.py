"""Real blank forms as generated pages: keys found, values inside their fields, questions that mean one field."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

import numpy as np
import pymupdf
import pytest

from engine.documents.blank_forms.forms import BlankPaper
from engine.documents.blank_forms.pages import read_templates
from engine.documents.limits import ReadLimits
from engine.grounded import page_to_json
from engine.synthetic import SyntheticPage
from engine.synthetic.blank_forms.asking import tokens
from engine.synthetic.blank_forms.pages import form_pages
from engine.synthetic.blank_forms.template import (
    FormField,
    FormTemplate,
    band,
    load_templates,
    save_templates,
)
from tests.support.made_forms import MadeForm, office_form

PAGES = 60


def read(form: MadeForm, folder: Path) -> FormTemplate:
    return next(iter(read_templates(form.save(folder / "form.pdf"), ReadLimits())))


def keys(template: FormTemplate) -> list[str]:
    return [template.text(field.key) for field in template.fields]


def some(template: FormTemplate, seed: int = 3, count: int = PAGES) -> list[SyntheticPage]:
    return list(islice(form_pages([template], seed), count))


@pytest.fixture
def office(tmp_path: Path) -> FormTemplate:
    return read(office_form(), tmp_path)


def test_keys_stand_left_of_fields_above_them_and_right_of_boxes(office: FormTemplate) -> None:
    texts = ["Full name", "Date of birth", "Reason for the request", "City", "Telephone", "City", "Employer"]
    assert keys(office) == [*texts, "Yes", "No"]
    assert [field.line for field in office.fields[:2]] == ["1", "2"]
    question = office.text(office.fields[-1].group)
    assert question == "Do you own a card already?" == office.text(office.fields[-2].group)


def test_fields_know_the_heading_above_them(office: FormTemplate) -> None:
    cities = [field for field in office.fields if office.text(field.key) == "City"]
    assert [office.text(field.heading) for field in cities] == ["Part 1. Home", "Part 2. Work"]


def test_cells_of_a_table_have_the_head_of_their_column(tmp_path: Path) -> None:
    form = MadeForm().print(200, 100, "January").print(300, 100, "February")
    for row, name in enumerate(("Rent", "Heating", "Water")):
        top = 110 + 16 * row
        form.print(60, top + 12, name)
        form.field((190, top, 280, top + 15), f"{row}a").field((290, top, 380, top + 15), f"{row}b")
    template = read(form, tmp_path)
    cells = [(template.text(field.key), template.text(field.column)) for field in template.fields]
    assert cells == [(name, month) for name in ("Rent", "Heating", "Water") for month in ("January", "February")]


def test_a_field_with_print_both_beside_and_above_has_no_key(tmp_path: Path) -> None:
    form = MadeForm().print(80, 100, "Color").print(120, 84, "Shape").field((120, 88, 300, 104), "a")
    assert keys(read(form, tmp_path)) == [""]


def test_tooltips_name_fields_where_they_agree_with_the_print(tmp_path: Path) -> None:
    def form(*names: str) -> FormTemplate:
        made = MadeForm()
        for at, printed in enumerate(("Name", "Street", "City")):
            made.print(60, 100 + 30 * at, printed).field(
                (120, 88 + 30 * at, 300, 104 + 30 * at), printed, tooltip=names[at]
            )
        made.field((400, 600, 500, 620), "x", tooltip="Number of the card")
        return read(made, tmp_path)

    told = form("Your name", "Street and house", "City or town").fields[3]
    assert told.is_named and not told.key and told.tooltip == "Number of the card"
    assert not form("Amount", "Signature", "Telephone").fields[3].is_named


def test_small_print_under_fields_is_their_key_where_their_names_say_so(tmp_path: Path) -> None:
    form = MadeForm()
    for at in range(12):
        form.print(60, 500 + 14 * at, "Some words of print that make the usual size of this page.")
    for at, name in enumerate(("Creditor", "Street", "City")):
        form.field((60, 100 + 26 * at, 260, 116 + 26 * at), name).print(62, 123 + 26 * at, name, size=7)
    assert keys(read(form, tmp_path)) == ["Creditor", "Street", "City"]


def written_in(page: SyntheticPage, field: FormField, template: FormTemplate) -> list[int]:
    """Return the values whose middle lies in a field."""
    zoom = page.canvas.width / template.width
    x0, y0, x1, y1 = (edge * zoom for edge in field.box)
    middles = [(piece.x + piece.width / 2, piece.baseline - 0.3 * piece.face.size) for piece in page.canvas.pieces]
    return [
        at
        for at, (x, y) in enumerate(middles)
        if page.canvas.pieces[at].role == "value" and x0 <= x <= x1 and y0 - 6 <= y <= y1 + 6
    ]


def whole(pages: list[SyntheticPage], template: FormTemplate) -> list[SyntheticPage]:
    """Return the pages that are no band."""
    return [page for page in pages if abs(page.page.height / page.page.width - template.height / template.width) < 0.01]


def test_values_lie_inside_their_fields(office: FormTemplate) -> None:
    pages = whole(some(office), office)
    assert len(pages) > PAGES / 2
    for page in pages:
        zoom = page.canvas.width / office.width
        found = {at: field for field in office.fields for at in written_in(page, field, office)}
        values = [at for at, piece in enumerate(page.canvas.pieces) if piece.role == "value"]
        assert sorted(found) == values
        for at, field in found.items():
            piece = page.canvas.pieces[at]
            assert field.box[0] * zoom - 1 <= piece.x and piece.x + piece.width <= field.box[2] * zoom + 1
            height = (field.box[3] - field.box[1]) * zoom
            assert piece.face.size <= 1.1 * height


def test_an_answer_is_the_value_in_the_field_of_its_key(office: FormTemplate) -> None:
    """Each question by a key alone is answered by the words in that field, and by none where it is empty."""
    answered = empty = 0
    for page in whole(some(office), office):
        for field in office.fields[:2]:
            key = office.text(field.key).lower()
            written = written_in(page, field, office)
            zoom = page.page.width / office.width
            for question in page.page.questions:
                if question.question.lower() not in (key, f"what is the {key}?"):
                    continue
                if not written:
                    empty += 1
                    assert not question.answers and not question.printed_key
                    continue
                answered += 1
                (answer,) = question.answers
                for at in answer:
                    x0, y0, x1, y1 = page.page.words[at].box
                    assert field.box[0] * zoom - 8 <= (x0 + x1) / 2 <= field.box[2] * zoom + 8
                    assert field.box[1] * zoom - 12 <= (y0 + y1) / 2 <= field.box[3] * zoom + 12
    assert answered > 5 and empty > 0


def test_equal_keys_are_told_apart_by_their_headings(office: FormTemplate) -> None:
    asked = [question.question.lower() for page in whole(some(office), office) for question in page.page.questions]
    cities = [question for question in asked if "city" in tokens(question)]
    assert len(cities) > 5
    mistyped = [question for question in cities if not {"home", "work"} & set(tokens(question))]
    assert len(mistyped) < 0.15 * len(cities), mistyped


def test_a_question_with_boxes_is_answered_by_the_ticked_label(office: FormTemplate) -> None:
    found = set()
    for page in whole(some(office), office):
        for question in page.page.questions:
            if "card already" in question.question.lower() and question.answers:
                found.add(page.page.words[question.answers[-1][-1]].text.lower())
                assert question.masks and question.region_type == "checkbox"
    assert found >= {"yes", "no"}


def test_no_two_questions_of_a_page_are_equal(office: FormTemplate) -> None:
    for page in some(office):
        asked = [tokens(question.question) for question in page.page.questions]
        assert len(set(asked)) == len(asked)


def test_equal_seeds_give_equal_pages(office: FormTemplate) -> None:
    one, other, third = (some(office, seed, 8) for seed in (5, 5, 6))
    assert [page_to_json(page.page) for page in one] == [page_to_json(page.page) for page in other]
    assert [page_to_json(page.page) for page in one] != [page_to_json(page.page) for page in third]


def test_a_band_keeps_whole_keys_and_nothing_of_cut_ones(office: FormTemplate) -> None:
    part = band(office, 100, 262)  # between the two dates, and through "City" of the first part
    assert [part.text(field.key) for field in part.fields] == ["Date of birth", "Reason for the request"]
    assert all(word.box[1] >= 0 and word.box[3] <= part.height for word in part.words)


def test_pages_keep_to_the_greatest_number_of_words(office: FormTemplate) -> None:
    for page in islice(form_pages([office], 2, most_words=40), 12):
        assert len(page.page.words) <= 40


def test_templates_are_kept_as_they_were(office: FormTemplate, tmp_path: Path) -> None:
    save_templates(tmp_path / "kept.jsonl", [office])
    (kept,) = load_templates(tmp_path / "kept.jsonl")
    assert keys(kept) == keys(office)
    save_templates(tmp_path / "again.jsonl", [kept])
    assert (tmp_path / "again.jsonl").read_bytes() == (tmp_path / "kept.jsonl").read_bytes()


def test_a_picture_shows_the_print_of_the_form(office: FormTemplate, tmp_path: Path) -> None:
    for page in islice(form_pages([office], 4, printed=BlankPaper(tmp_path)), 3):
        picture = page.render()
        assert picture.size == (page.page.width, page.page.height)
        grey = np.asarray(picture.convert("L"))
        inked = sum(grey[y0:y1, x0:x1].min() < 190 for x0, y0, x1, y1 in (word.box for word in page.page.words))
        assert inked > 0.9 * len(page.page.words)


def test_no_field_of_the_file_is_drawn(office: FormTemplate, tmp_path: Path) -> None:
    with pymupdf.open(tmp_path / "form.pdf") as document:
        assert len(list(document[0].widgets())) == len(office.fields)
    grey = np.asarray(BlankPaper(tmp_path)(office, (0, office.height), (612, 792)).convert("L"))
    x0, y0, x1, y1 = (round(edge) for edge in office.fields[2].box)
    assert (grey[y0:y1, x0:x1] == 255).all()


def test_empty_boxes_are_asked_for_by_their_labels_too(tmp_path: Path) -> None:
    """People ask for a box to learn whether it is ticked, and mark it if it is not."""
    form = office_form()
    for y, label in ((480, "Send the card by post"), (500, "Send news by letter"), (520, "I have read the rules")):
        form.field((60, y - 9, 70, y + 1), label, box_to_tick=True).print(76, y, label)
    asked = {True: 0, False: 0}
    for page in some(read(form, tmp_path), count=150):
        ticked = {figure.box for figure in page.canvas.figures if figure.ticked}
        for one in page.canvas.asked:
            if one.region_type == "checkbox" and len(one.figures) == 1:
                asked[one.figures[0].box in ticked] += 1
    assert asked[True] > 10 and asked[False] > 10
