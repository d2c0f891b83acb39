"""Filled forms as training examples, alone and mixed into another source."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from engine.documents.blank_forms.forms import NoForms
from engine.training.pretraining.pretraining_stage import StageInputs
from engine.training.pretraining.stages import STAGES
from engine.training.sources.blank_forms import FORMS_FILE, blank_form_source, with_forms
from engine.training.sources.examples import MOST_WORDS
from model.examples import Example, Word
from model.network import GroundingNetwork
from model.presets import ImageConfig, NetworkConfig, TextConfig
from tests.support.made_forms import office_form


@pytest.fixture
def forms(tmp_path: Path) -> Path:
    office_form().save(tmp_path / "forms" / "a.pdf")
    return tmp_path / "forms"


def test_a_step_gives_pages_with_as_many_questions_each(forms: Path) -> None:
    source = blank_form_source(forms, 1, pages=3, questions=5)
    for step in (0, 1, 9):
        examples = source(step)
        assert [len(one.questions) for one in examples] == [5, 5, 5]
        assert all(4 <= len(one.words) <= MOST_WORDS and one.image is None for one in examples)


def test_a_step_depends_on_its_seed_and_number_alone(forms: Path) -> None:
    one, other = blank_form_source(forms, 3), blank_form_source(forms, 3)
    one(7), one(0)
    assert [example.words for example in one(7)] == [example.words for example in other(7)]
    assert [example.words for example in blank_form_source(forms, 4)(7)] != [example.words for example in other(7)]


def test_a_quarter_of_the_steps_is_taken_from_forms(forms: Path) -> None:
    plain = Example((Word("other", (0, 0, 5, 5)),), (9, 9), [])
    mixed = with_forms(lambda step: [plain], forms, 1)
    filled = [mixed(step)[0] is not plain for step in range(120)]
    assert 0.15 < sum(filled) / len(filled) < 0.35
    assert with_forms(mixed, None, 1) is mixed


def test_a_set_for_evaluation_is_no_source(tmp_path: Path) -> None:
    (tmp_path / "pages.jsonl").write_text("{}\n")
    with pytest.raises(NoForms, match="fillable PDF forms"):
        blank_form_source(tmp_path, 1)


def test_the_stage_words_keeps_the_forms_that_it_learns_from(forms: Path, tmp_path: Path) -> None:
    torch.manual_seed(0)
    small = NetworkConfig(
        name="test", width=32, heads=2, image=ImageConfig(long_side=128, embed_dim=16), text=TextConfig(buckets=512)
    )
    inputs = StageInputs(GroundingNetwork(small), 1, tmp_path / "run", tmp_path, forms=forms)
    STAGES["words"].objective(inputs)
    assert (tmp_path / "run" / FORMS_FILE).is_file()
