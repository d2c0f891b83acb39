"""Pages on which the choice among regions is learned."""

from pathlib import Path

import pytest

from engine.documents.blank_forms.pages import read_templates
from engine.documents.limits import ReadLimits
from engine.training.sources import region_choices as source
from tests.support.made_forms import MadeForm, office_form


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch) -> None:
    monkeypatch.setattr(source, "_BLOCK", 4)


def test_each_page_has_its_image_and_questions_for_regions_there_and_absent() -> None:
    pages = [source.region_choices(5)(step)[0] for step in range(4)]
    for page in pages:
        assert page.image is not None and page.image.size == page.size
    asked = [question for page in pages for question in page.questions]
    assert any(question.masks and not question.answers for question in asked)
    assert any(question.answers for question in asked)
    assert any(not question.answered for question in asked)


def test_forms_with_boxes_to_tick_take_part_and_equal_seeds_give_equal_pages(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(source, "_FORMS", 1.0)
    path = office_form().save(tmp_path / "form.pdf")
    templates = list(read_templates(path, ReadLimits()))
    one, other = (source.region_choices(5, templates, tmp_path) for _ in range(2))
    pages = [one(step)[0] for step in range(4)]
    of_form = [page for page in pages if {"card", "already?"} <= {word.text for word in page.words}]
    assert any(question.masks for page in of_form for question in page.questions)
    again = [other(step)[0] for step in range(4)]
    assert [[asked.text for asked in page.questions] for page in pages] == [
        [asked.text for asked in page.questions] for page in again
    ]


def test_forms_without_a_box_to_tick_do_not_hang_the_source(tmp_path: Path) -> None:
    form = MadeForm()
    for at, name in enumerate(("Name", "Street", "City", "Country")):
        form.print(60, 90 + 40 * at, name).field((180, 78 + 40 * at, 420, 94 + 40 * at), name)
    templates = list(read_templates(form.save(tmp_path / "form.pdf"), ReadLimits()))
    (page,) = source.region_choices(5, templates, tmp_path)(0)
    assert page.questions and page.image is not None
