"""`glossator synth`: generate documents in the grounded format."""

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Annotated

import typer
from PIL import Image

from engine.commands.common import console, emit, fail, progress, settings_here
from engine.documents.limits import OcrChoice
from engine.grounded import GroundedPage, write_pages
from engine.synthetic import SyntheticPage
from engine.synthetic.misreadings import Misreadings

MOST_ON_A_SHEET = 400  # few programs could open a larger image


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(synth)


def synth(
    out: Annotated[Path, typer.Argument(help="New or empty folder.")],
    pages: Annotated[int, typer.Option(min=1, help="Number of pages.")] = 100,
    seed: Annotated[int, typer.Option(help="Random seed; the same seed gives the same pages.")] = 0,
    images: Annotated[bool, typer.Option(help="Render page images.")] = True,
    sheet: Annotated[Path | None, typer.Option(help="Contact sheet (PNG) of all pages, with tinted answers.")] = None,
    forms: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Fill the blank forms of a folder: PDFs with fields and printed text."),
    ] = None,
    kind: Annotated[
        str | None,
        typer.Option(help="Generate pages of one kind: order, receipt, form and others; default: all kinds."),
    ] = None,
    read: Annotated[
        bool, typer.Option("--read", help="Give the words that OCR reads on the images; some seconds a page.")
    ] = False,
    misreadings: Annotated[
        Path | None,
        typer.Option(metavar="FILE.json", help="Noise model to fit to what OCR misread; needs --read."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object as the last line.")] = False,
) -> None:
    """Generate documents with questions and exact answers."""
    from engine.synthetic.contact_sheet import ContactSheet

    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        fail(f"{out} exists and is not an empty folder. Choose another one.")
    if sheet is not None and sheet.suffix.lower() != ".png":
        fail(f"The contact sheet {sheet} must end in .png. Choose another name.")
    if sheet is not None and pages > MOST_ON_A_SHEET:
        fail(f"A contact sheet has at most {MOST_ON_A_SHEET} pages. Lower --pages.")
    if misreadings is not None and not read:
        fail("--misreadings needs the words that OCR reads. Add --read.", code=2)
    if misreadings is not None and not misreadings.parent.is_dir():
        fail(f"The folder of {misreadings} does not exist. Name a file in an existing folder.", code=2)
    if kind is not None and forms is not None:
        fail("--kind chooses among generated pages, and --forms fills given ones. Leave one of them out.", code=2)
    generated = _generate_pages(forms, kind, seed)
    seen = _Reader(settings_here().ocr) if read else None
    small = ContactSheet()
    asked = 0
    with progress() as bar:
        task = bar.add_task("Writing pages", total=pages)

        def render_pages() -> Iterator[tuple[GroundedPage, Image.Image | bytes | None]]:
            nonlocal asked
            for synthetic in islice(generated, pages):
                asked += len(synthetic.page.questions)
                picture = synthetic.render() if images or sheet is not None or read else None
                if sheet is not None and picture is not None:
                    small.add(synthetic, picture)
                page = synthetic.page if seen is None or picture is None else seen.read_page(synthetic, picture)
                yield page, picture if images else None
                bar.advance(task)

        count = write_pages(out, render_pages())
    if misreadings is not None and seen is not None:
        seen.fit().save(misreadings)
    if sheet is not None:
        sheet.parent.mkdir(parents=True, exist_ok=True)
        small.image().save(sheet)
    if as_json:
        emit({"out": str(out), "pages": count, "questions": asked, "seed": seed})
    else:
        console.print(f"Wrote {count} pages with {asked} questions to {out}.")
        if sheet is not None:
            console.print(f"Wrote the contact sheet to {sheet}.")
        if misreadings is not None:
            console.print(f"Wrote the noise model to {misreadings}.")


def _generate_pages(forms: Path | None, kind: str | None, seed: int) -> Iterator[SyntheticPage]:
    """Return pages of all kinds or of one, or filled pages of the forms of a folder."""
    from engine.synthetic import KINDS, generate, generate_kind

    if kind is not None:
        if kind not in KINDS:
            fail(f"There is no kind of page called {kind!r}. Choose from {', '.join(KINDS)}.", code=2)
        return generate_kind(kind, seed)
    if forms is None:
        return generate(seed)
    from engine.documents.blank_forms.forms import BlankPaper, NoForms, blank_forms
    from engine.synthetic.blank_forms.pages import form_pages

    try:
        with console.status("Reading forms"):
            templates = blank_forms(forms)
    except NoForms as error:
        fail(str(error))
    return form_pages(templates, seed, printed=BlankPaper(forms))


class _Reader:
    """Reads generated pages by OCR, and keeps what it read for the noise model."""

    def __init__(self, choice: OcrChoice) -> None:
        from engine.documents.ocr.choose import find_engine

        engine, missing = find_engine(choice, "eng", 2)
        if engine is None:
            fail(missing or "There is no OCR engine.")
        self._engine = engine
        self._pages: list[tuple[SyntheticPage, GroundedPage]] = []

    def read_page(self, synthetic: SyntheticPage, picture: Image.Image) -> GroundedPage:
        """Return a page with the words that OCR reads on its picture."""
        from engine.training.sources.read_pages import with_words, words_of_picture

        page = with_words(synthetic.page, words_of_picture(picture, self._engine))
        self._pages.append((synthetic, page))
        return page

    def fit(self) -> Misreadings:
        """Return the noise model of what was read so far."""
        from engine.training.sources.misreadings import fit_misreadings

        return fit_misreadings(self._engine.name, self._pages)
