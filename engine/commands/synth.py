"""glossator synth: generated documents in the grounded format."""

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Annotated

import typer
from PIL import Image

from engine.commands.common import console, emit, fail, progress
from engine.grounded import GroundedPage, write_pages

MOST_ON_A_SHEET = 400  # more would be a picture that hardly anything can open


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(synth)


def synth(
    out: Annotated[Path, typer.Argument(help="A new or empty folder.")],
    pages: Annotated[int, typer.Option(min=1, help="How many pages.")] = 100,
    seed: Annotated[int, typer.Option(help="The same seed gives the same pages.")] = 0,
    images: Annotated[bool, typer.Option(help="Render the pages too.")] = True,
    sheet: Annotated[
        Path | None, typer.Option(help="A PNG to write with all pages small, kinds named and answers tinted.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object on the last line.")] = False,
) -> None:
    """Write generated documents with questions and exact answers, to look at or to learn from."""
    from engine.synthetic import generate
    from engine.synthetic.contact_sheet import ContactSheet

    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        fail(f"{out} is there already and is not an empty folder.")
    if sheet is not None and sheet.suffix.lower() != ".png":
        fail(f"{sheet} is no name for a contact sheet: it must end in .png.")
    if sheet is not None and pages > MOST_ON_A_SHEET:
        fail(f"A contact sheet takes at most {MOST_ON_A_SHEET} pages: ask for fewer with --pages.")
    small = ContactSheet()
    asked = 0
    with progress() as bar:
        task = bar.add_task("Writing pages", total=pages)

        def made() -> Iterator[tuple[GroundedPage, Image.Image | bytes | None]]:
            nonlocal asked
            for one in islice(generate(seed), pages):
                asked += len(one.page.questions)
                picture = one.render() if images or sheet is not None else None
                if sheet is not None and picture is not None:
                    small.add(one, picture)
                yield one.page, picture if images else None
                bar.advance(task)

        count = write_pages(out, made())
    if sheet is not None:
        sheet.parent.mkdir(parents=True, exist_ok=True)
        small.image().save(sheet)
    if as_json:
        emit({"out": str(out), "pages": count, "questions": asked, "seed": seed})
    else:
        console.print(f"{count} pages with {asked} questions are in {out}.")
        if sheet is not None:
            console.print(f"They are on {sheet}, too.")
