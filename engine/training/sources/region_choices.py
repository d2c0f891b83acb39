"""Source of whole rendered pages with questions for regions, for words, and for regions that the page lacks."""

import random
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path

from engine.documents.blank_forms.forms import BlankPaper
from engine.grounded import GroundedQuestion
from engine.synthetic import SyntheticPage
from engine.synthetic.blank_forms.pages import form_pages
from engine.synthetic.blank_forms.template import FormTemplate
from engine.training.sources.examples import badly_asked, example_of
from engine.training.sources.page_supply import region_types_of
from engine.training.sources.region_source import regions_asked, without_words
from engine.training.sources.rendered import endless_pages
from model.examples import Example, Source

_BLOCK = 24  # pages drawn together
_REGIONS = 8  # most questions of a page for regions
_WORDS = 5  # questions that words answer
_UNREAD = 0.12  # share of generated pages without words, like scans without OCR
_FOREIGN = 1.5  # mean number of questions for a region that the page lacks
_NOT_ALONE = "checkbox"  # a page may have such boxes that nobody asked for
_FORMS = 0.38  # share of the pages that are filled forms
_MOST_WORDS = 700
_TRIED = 1000  # filled pages that are searched for boxes to tick; of the forms of authorities one in three has some
_SEED_STRIDE = 1_000_003


def region_choices(seed: int, templates: Sequence[FormTemplate] | None = None, forms: Path | None = None) -> Source:
    """Return a source of one page a step at full size, each with its image; pure.

    Args:
        seed: seed of the draws.
        templates: pages of blank forms, for boxes to tick on real print.
        forms: the folder that they lie in; both or neither.
    """
    block: dict[int, list[Example]] = {}

    def source(step: int) -> Sequence[Example]:
        """Return the example of one step."""
        number, place = divmod(step, _BLOCK)
        if number not in block:
            block.clear()
            block[number] = _draw_block(seed * _SEED_STRIDE + number, templates, forms)
        return [block[number][place]]

    return source


def _draw_block(seed: int, templates: Sequence[FormTemplate] | None, forms: Path | None) -> list[Example]:
    rng = random.Random(f"{seed} region choices")
    filled: list[SyntheticPage] = []
    if templates is not None and forms is not None:
        of_forms = sum(rng.random() < _FORMS for _ in range(_BLOCK))
        filled = list(islice(_generate_tick_forms(templates, BlankPaper(forms), seed), of_forms))
    generated = list(
        islice((made_page for made_page in endless_pages(seed) if regions_asked(made_page.page)), _BLOCK - len(filled))
    )
    foreign = [question for made_page in generated for question in regions_asked(made_page.page)]
    made = [
        _example(made_page, regions_asked(made_page.page), foreign, rng, rng.random() < _UNREAD)
        for made_page in generated
    ]
    made += [_example(filled_page, _tick_questions(filled_page), foreign, rng, False) for filled_page in filled]
    rng.shuffle(made)
    return made


def _generate_tick_forms(templates: Sequence[FormTemplate], paper: BlankPaper, seed: int) -> Iterator[SyntheticPage]:
    """Yield filled pages that are asked for a box to tick; few or none of forms that have few or none."""
    if any(field.kind == "check" for template in templates for field in template.fields):
        pages = form_pages(templates, seed, most_words=_MOST_WORDS, printed=paper)
        yield from (filled_page for filled_page in islice(pages, _TRIED) if _tick_questions(filled_page))


def _example(
    made: SyntheticPage,
    regions: Sequence[GroundedQuestion],
    foreign: Sequence[GroundedQuestion],
    rng: random.Random,
    unread: bool,
) -> Example:
    asked = [replace(question, answers=[]) for question in rng.sample(regions, min(_REGIONS, len(regions)))]
    own_types = region_types_of(made) | {_NOT_ALONE}
    missing = [question for question in foreign if question.region_type not in own_types]
    wanted = 1 + (rng.random() < _FOREIGN - 1)
    asked += [replace(question, masks=[], answers=[]) for question in rng.sample(missing, min(wanted, len(missing)))]
    page = made.page
    if unread:
        page = without_words(page)
        asked = [question for question in asked if question.region_type != _NOT_ALONE] or asked[:1]
    else:
        by_words = [question for question in page.questions if question.answers and not question.masks]
        asked += rng.sample(by_words, min(_WORDS, len(by_words)))
    return badly_asked(example_of(page, made.render().convert("RGB"), asked), rng)


def _tick_questions(made: SyntheticPage) -> list[GroundedQuestion]:
    return [question for question in made.page.questions if question.masks and question.region_type == _NOT_ALONE]
