"""Pages and questions that nobody means to send, through the shipped model: a clear error or a sensible answer."""

import numpy as np
import pytest
import torch
from PIL import Image
from safetensors.torch import save_file

from model import checkpoint
from model.answers import pixel_choices
from model.blocks import LONG_PAGE
from model.encoders.layout_bias import relations
from model.examples import Prompt
from model.heads.mask_decoder import PixelAnswer
from model.inference import MOST_WORDS, SHIPPED, Predictor, Word
from model.inputs import batch_pages, prepare_page
from model.presets import NANO
from model.vocabulary import Vocabulary, words_of

INVOICE = (
    ("Invoice", (40, 40, 120, 60)),
    ("number:", (126, 40, 200, 60)),
    ("INV-2041", (260, 40, 350, 60)),
    ("Total", (40, 90, 90, 110)),
    ("due:", (96, 90, 130, 110)),
    ("123.90", (260, 90, 330, 110)),
)


@pytest.fixture(scope="module")
def predictor():
    return Predictor.load()


def words(at=(0, 0)):
    return [Word(text, (x0 + at[0], y0 + at[1], x1 + at[0], y1 + at[1])) for text, (x0, y0, x1, y1) in INVOICE]


def filler(count):
    """Lines of twenty words, none like a key."""
    return [
        Word(f"qz{i}", (40 + i % 20 * 60, 300 + i // 20 * 14, 90 + i % 20 * 60, 310 + i // 20 * 14))
        for i in range(count)
    ]


def test_an_empty_page_answers_nothing(predictor):
    answer = predictor.ask(predictor.encode(None, [], (600, 800)), "What is the total due?")
    assert not answer.mask.any() and answer.words == [] and answer.text == "" and answer.candidates == []
    assert answer.answered == 0 and answer.score == 0 and answer.mask.shape == (800, 600)


def test_a_blank_page_without_words_keeps_its_size(predictor):
    answer = predictor.ask(predictor.encode(Image.new("RGB", (333, 77), "white"), []), "What is the total due?")
    assert answer.mask.shape == (77, 333) and answer.words == [] and np.isfinite([answer.score, answer.answered]).all()


@pytest.mark.parametrize("size", [(1, 1), (200, 20_000), (20_000, 200)])
def test_a_page_of_any_shape_is_answered_at_its_own_size(predictor, size):
    page = predictor.encode(Image.new("L", size, 255), [])
    answer = predictor.ask(page, "total", points=[(size[0] / 2, size[1] / 2, True)])
    assert answer.mask.shape == answer.pixel_mask.shape == (size[1], size[0])
    assert np.isfinite([answer.score, answer.answered]).all()


def test_words_at_the_end_of_a_long_strip_are_found(predictor):
    page = predictor.encode(Image.new("RGB", (400, 20_000), "white"), words(at=(0, 19_800)))
    answer = predictor.ask(page, "What is the total due?")
    assert answer.text == "123.90" and answer.mask[19_890:19_910, 260:330].all()


def test_5000_words_are_read_and_the_answer_among_them_is_found(predictor):
    page = predictor.encode(None, words() + filler(4_994), (1300, 4000))
    kept = sum(links.numel() * links.element_size() for links in page.state.links)
    assert kept <= 5000**2 * 2 * NANO.heads * (NANO.word_layers + 1)  # the last for growth
    assert predictor.ask(page, "What is the total due?").text == "123.90"


def test_more_words_than_can_be_linked_are_refused(predictor):
    with pytest.raises(ValueError, match="at most 8,000"):
        predictor.encode(None, filler(MOST_WORDS + 1), (1300, 9000))


def test_a_long_page_is_read_as_it_would_be_in_one_piece(predictor, monkeypatch):
    page = words() + filler(LONG_PAGE)
    in_parts = predictor.encode(None, page, (1300, 1400))
    monkeypatch.setattr("model.blocks.LONG_PAGE", len(page))
    whole = predictor.encode(None, page, (1300, 1400))
    assert in_parts.state.links[0].dtype == torch.half and whole.state.links[0].dtype == torch.float32
    assert torch.allclose(in_parts.state.words, whole.state.words, atol=0.02)
    for one, other in zip(in_parts.state.links, whole.state.links, strict=True):
        assert torch.allclose(one.float(), other, atol=5e-3)


def test_some_rows_of_relations_are_rows_of_all(config):
    pages = batch_pages([prepare_page(words(), (600, 800), None, Vocabulary(config.text.buckets), config)])
    assert torch.equal(relations(pages, slice(2, 5)), relations(pages)[:, 2:5])


def test_an_empty_question_is_refused_unless_something_is_shown(predictor):
    page = predictor.encode(None, words(), (600, 800))
    for question in ("", "  \n"):
        with pytest.raises(ValueError, match="Ask something"):
            predictor.ask(page, question)
        with pytest.raises(ValueError, match="empty"):
            predictor.ask_many(page, ["total", question])
    assert "123.90" in predictor.ask(page, "", points=[(300, 100, True)]).text


def test_the_end_of_a_question_of_2000_characters_is_heard(predictor):
    page = predictor.encode(None, words(), (600, 800))
    story = "please can you tell me what is written there and show it to me " * 31
    for end, value in (("What is the total due?", "123.90"), ("What is the invoice number?", "INV-2041")):
        assert predictor.ask(page, story[:1970] + end).text == value


def test_of_a_question_that_is_too_long_the_least_telling_words_go():
    assert words_of("what is the total and the carrier", 3) == ["total", "the", "carrier"]  # the later of the two "the"
    assert words_of("alpha beta gamma delta", 2) == ["gamma", "delta"]


@pytest.mark.parametrize(
    ("key", "value"), [("Сумма", "1500"), ("合計金額", "8400"), ("कुल", "990"), ("المجموع", "720"), ("Größe", "44")]
)
def test_a_key_in_any_script_is_one_word_and_finds_its_value(predictor, key, value):
    assert words_of(f"{key}?", 40)[0] == key
    page = [Word(key + ":", (40, 40, 140, 60)), Word(value, (200, 40, 250, 60))]
    page += [Word("Дата:", (40, 90, 140, 110)), Word("03.04.2024", (200, 90, 300, 110))]
    assert predictor.ask(predictor.encode(None, page, (600, 800)), key).text == value


def test_a_checkpoint_that_is_cut_short_is_refused(tmp_path):
    path = tmp_path / "cut.safetensors"
    content = SHIPPED.read_bytes()
    for length in (0, 5, 2_000, len(content) - 1):
        path.write_bytes(content[:length])
        with pytest.raises(ValueError, match="not a readable safetensors file"):
            Predictor.load(path)


def test_a_checkpoint_that_was_tampered_with_is_refused(tmp_path):
    path = tmp_path / "changed.safetensors"
    content = bytearray(SHIPPED.read_bytes())
    content[-1000] ^= 1
    path.write_bytes(content)
    with pytest.raises(ValueError, match="does not match its content hash"):
        Predictor.load(path)
    shipped = checkpoint.load(SHIPPED)
    metadata = {"config": "{}", "content_sha256": shipped.version}  # another config under the old hash
    save_file(shipped.state, path, metadata=metadata)
    with pytest.raises(ValueError, match="does not match its content hash"):
        Predictor.load(path)


def test_weights_under_the_config_of_another_preset_are_refused(tmp_path):
    path, shipped = tmp_path / "other.safetensors", checkpoint.load(SHIPPED)
    checkpoint.save(path, shipped.state, shipped.config | {"name": "wide", "width": 128})
    with pytest.raises(ValueError, match="do not fit the preset 'wide'"):
        Predictor.load(path)
    checkpoint.save(path, shipped.state, shipped.config | {"wings": 2})
    with pytest.raises(ValueError, match="config that this version does not know"):
        Predictor.load(path)


@pytest.mark.parametrize("size", [(613, 797), (1275, 1650), (97, 1301), (1301, 97), (1, 1)])
def test_padding_never_answers(size, config):
    prepared = prepare_page([], size, Image.new("RGB", size, "white"), Vocabulary(config.text.buckets), config)
    assert prepared.image is not None
    high, wide = prepared.image.shape[1] // 4, prepared.image.shape[2] // 4
    logits = torch.full((1, 4, high, wide), -1.0)
    scale = config.image.long_side / max(size) / 4
    rows, columns = int(np.ceil(size[1] * scale)), int(np.ceil(size[0] * scale))
    logits[:, :, rows:], logits[:, :, :, columns:] = 9.0, 9.0
    one = torch.zeros(1)
    answer = PixelAnswer(
        logits, torch.full((1, 4), 0.5), one, logits[:, 0], logits, torch.zeros(1, 4), one, torch.ones(1) > 0
    )
    maps = [choice.shape for choice in pixel_choices(answer, 0, prepared, Prompt("x")) if choice.shape.ndim == 2]
    assert len(maps) == 4 and all((found < 0).all() and found.shape == (rows, columns) for found in maps)
