"""`glossator pseudo-label`: a grounded dataset from documents that nobody has labelled, for `pretrain --labelled`."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from engine.commands.common import console, emit, fail, progress, settings_here
from engine.commands.failures import sentence_of

_KEPT_FOLDER = "documents"  # of OUT
_SECONDS = 120.0  # of one file: several are read at once


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("pseudo-label")(pseudo_label)


def pseudo_label(
    corpus: Annotated[Path, typer.Argument(metavar="CORPUS", help="Folder of PDFs and pictures.")],
    out: Annotated[Path, typer.Argument(metavar="OUT", help="Folder of the dataset; a stopped run goes on there.")],
    pages: Annotated[int, typer.Option(min=1, help="Pages of each document, from its first.")] = 2,
    model: Annotated[
        Path | None, typer.Option("--model", help="Checkpoint that must agree; default: the one for new projects.")
    ] = None,
    workers: Annotated[int, typer.Option(min=1, max=64, help="Documents read at once.")] = 2,
    judge: Annotated[
        Path | None,
        typer.Option(metavar="SET", help="Grounded dataset on which the precision of the labels is measured."),
    ] = None,
    seed: Annotated[int, typer.Option(help="Random seed of the phrasings.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object as the last line.")] = False,
) -> None:
    """Label documents without labels: keys with values beside them, as far as two judges agree."""
    from engine.documents.ingest import limits_of
    from engine.grounded import GroundedFormatError, read_pages, write_pages
    from engine.models.registry import shipped_path
    from engine.training.pseudo_labels.labels import bands, label_page, with_negatives
    from engine.training.pseudo_labels.precision import measure
    from engine.training.unlabelled.reading import Reading, folder_for, named_pages, read_folders
    from model.inference import MOST_WORDS, Predictor

    settings = settings_here()
    limits = replace(limits_of(settings), seconds=_SECONDS)
    bands_of_pages, plain, count = [], 0, 0
    try:
        predictor = Predictor.load(model or shipped_path(settings), settings.device)
        with progress() as bar:
            task = bar.add_task("Reading", total=None)

            def show(reading: Reading) -> None:
                """Show the progress, and why a file was left out."""
                bar.update(task, completed=reading.done, total=reading.files)
                if reading.sentence is not None:
                    console.print(reading.sentence)

            cache = folder_for(out / _KEPT_FOLDER, limits, long_side=None, first_pages=pages)
            documents = read_folders(
                [corpus],
                cache,
                long_side=None,
                limits=limits,
                first_pages=pages,
                processes=workers,
                on_progress=show,
            )
            sheets = list(named_pages(cache, documents or []))
            labelling = bar.add_task("Labelling", total=len(sheets))
            for name, page in sheets:
                if len(page.words) <= MOST_WORDS:
                    layout, labels = label_page(predictor, page.words, page.size)
                    bands_of_pages += list(bands(name, page.words, page.size, layout, labels, seed))
                    plain, count = plain + sum(label.plain for label in labels), count + len(labels)
                bar.advance(labelling)
        if not bands_of_pages:
            raise ValueError(f"No page of {corpus} has a key with a value that may be believed.")
        write_pages(out, ((page, None) for page in with_negatives(bands_of_pages, seed)))
        precision = None if judge is None else measure(predictor, read_pages(judge))
    except (ValueError, GroundedFormatError, OSError) as error:
        fail(sentence_of(error))
    answer = {"out": str(out), "pages": len(bands_of_pages), "labels": count, "plain": plain, "agreed": count - plain}
    if precision is not None:
        answer |= {
            "judged": {
                "plain": precision.plain,
                "plain_right": precision.plain_right,
                "agreed": precision.agreed,
                "agreed_right": precision.agreed_right,
            }
        }
    if as_json:
        emit(answer)
        return
    console.print(
        f"Labelled {count:,} values on {len(sheets):,} pages ({plain:,} by a plain layout, {count - plain:,} by"
        f" agreement), in {len(bands_of_pages):,} parts of pages in {out}."
    )
    if precision is not None:
        for name, of, right in (
            ("plain layout", precision.plain, precision.plain_right),
            ("agreement", precision.agreed, precision.agreed_right),
        ):
            console.print(f"Right on {judge}: {right:,} of {of:,} labels by {name}.")
