"""`glossator synth`: generate documents in the grounded format."""

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Annotated

import typer
from PIL import Image

from engine.commands.common import console, emit, fail, progress
from engine.grounded import GroundedPage, write_pages

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
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object as the last line.")] = False,
) -> None:
    """Generate documents with questions and exact answers."""
    from engine.synthetic import generate
    from engine.synthetic.contact_sheet import ContactSheet

    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        fail(f"{out} exists and is not an empty folder. Choose another one.")
    if sheet is not None and sheet.suffix.lower() != ".png":
        fail(f"The contact sheet {sheet} must end in .png. Choose another name.")
    if sheet is not None and pages > MOST_ON_A_SHEET:
        fail(f"A contact sheet has at most {MOST_ON_A_SHEET} pages. Lower --pages.")
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
        console.print(f"Wrote {count} pages with {asked} questions to {out}.")
        if sheet is not None:
            console.print(f"Wrote the contact sheet to {sheet}.")
