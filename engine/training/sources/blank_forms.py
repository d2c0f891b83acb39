"""Source of training examples from real blank forms, filled with invented values."""

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from engine.documents.blank_forms.forms import blank_forms
from engine.synthetic.blank_forms.pages import form_pages
from engine.synthetic.blank_forms.template import FormTemplate, load_templates, save_templates
from engine.training.judging_files import judging_files
from engine.training.sources.examples import MOST_WORDS, block_source, mixed_source
from model.examples import Source

FORMS_FILE = "blank_forms.jsonl"
FORMS_SHARE = 0.25  # of the steps of a stage that mixes them in
_SEED = 21_000  # added to a source's seed


def blank_form_source(forms: Path | Sequence[FormTemplate], seed: int, *, pages: int = 4, questions: int = 8) -> Source:
    """Return an endless source of filled pages and parts of pages: `pages` a step with `questions` each; pure.

    Args:
        forms: folder of fillable PDFs, or their templates.
        seed: seed of the draws.
        pages: pages a step.
        questions: questions a page.

    Raises:
        NoForms: the folder has no fillable forms.
    """
    templates = _read_templates(forms) if isinstance(forms, Path) else list(forms)
    return block_source(
        lambda block_seed: form_pages(templates, block_seed, most_words=MOST_WORDS),
        seed,
        pages=pages,
        questions=questions,
    )


def with_forms(
    source: Source,
    forms: Path | Sequence[FormTemplate] | None,
    seed: int,
    *,
    share: float = FORMS_SHARE,
    pages: int = 4,
) -> Source:
    """Return a source that takes a share of its steps from blank forms, `pages` each; the source itself without."""
    if forms is None:
        return source
    return mixed_source(source, blank_form_source(forms, seed + _SEED, pages=pages), share, seed)


def kept_forms(folder: Path, cache: Path) -> list[FormTemplate]:
    """Return the templates of a folder, kept in a file, so that a run that is resumed needs the folder no more.

    Raises NoForms, and OSError when the file cannot be written.
    """
    if cache.is_file():
        return load_templates(cache)
    templates = _read_templates(folder)
    cache.parent.mkdir(parents=True, exist_ok=True)
    save_templates(cache, templates)
    return templates


@lru_cache(maxsize=2)
def _read_templates(folder: Path) -> list[FormTemplate]:
    """Read a folder once a process: a run paces its stages before it starts them."""
    judging = set(judging_files().values())
    return [template for template in blank_forms(folder) if template.source not in judging]
