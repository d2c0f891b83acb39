"""`glossator evaluate`: evaluate a model on a grounded dataset, beside the lexical baseline."""

from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Annotated, Any

import typer

from engine.commands.common import console, emit, fail, output, progress, settings_here
from engine.commands.failures import sentence_of
from engine.documents.limits import OcrChoice
from engine.settings import Settings


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("evaluate")(evaluate)


def evaluate(
    source: Annotated[
        Path,
        typer.Argument(
            metavar="SET", help="Folder with pages.jsonl and images, or that file; with --marks, the folder of files."
        ),
    ],
    model: Annotated[
        Path | None, typer.Option("--model", help="Checkpoint; default: the one for new projects.")
    ] = None,
    limit: Annotated[
        int | None, typer.Option("--limit", min=1, metavar="PAGES", help="Limit to the first pages.")
    ] = None,
    clicks: Annotated[
        int | None,
        typer.Option(
            "--clicks",
            min=0,
            max=20,
            help="Number of simulated correction clicks per answer; default: 0, with --marks 3.",
            show_default=False,
        ),
    ] = None,
    marks: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.jsonl",
            help="Hand-drawn marks to judge by; SET is the folder of the marked files, which are read like uploads.",
        ),
    ] = None,
    words_only: Annotated[bool, typer.Option("--words-only", help="Ignore the images.")] = False,
    device: Annotated[
        str | None,
        typer.Option(help="Device: cpu, cuda, cuda:N, mps or auto; default: GLOSSATOR_DEVICE.", show_default=False),
    ] = None,
    both_paths: Annotated[
        bool, typer.Option("--both-paths", help="Answer by pixels too where words answer, and show that path alone.")
    ] = False,
    noise: Annotated[float, typer.Option(metavar="RATE", help="Share of misread characters, 0 to 1.")] = 0.0,
    drop: Annotated[
        float, typer.Option(metavar="SHARE", help="Share of the questions' content words to leave out, 0 to 1.")
    ] = 0.0,
    ocr: Annotated[bool, typer.Option("--ocr", help="Use the words read by OCR, not the given ones.")] = False,
    ocr_cache: Annotated[Path | None, typer.Option(metavar="FOLDER", help="Cache of OCR results.")] = None,
    ocr_engine: Annotated[
        OcrChoice | None,
        typer.Option(help="OCR engine; default: GLOSSATOR_OCR.", show_default=False),
    ] = None,
    ocr_workers: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=64,
            metavar="PAGES",
            help="Pages read at once; default: one a core. 1 measures the seconds of a page alone: what the cache has "
            "from several at once is read again.",
            show_default=False,
        ),
    ] = None,
    report: Annotated[
        Path | None, typer.Option(metavar="FILE.html", help="Report to write: figures and the worst answers.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object as the last line.")] = False,
) -> None:
    """Evaluate a model on a grounded dataset, and print its figures beside the lexical baseline.

    With --marks, evaluate it on hand-drawn marks on the files of a folder, by type of region.
    """
    import torch

    from engine.commands.training.evaluation_tables import main_table, ocr_table, slices_table, types_table
    from engine.documents.ingest import limits_of
    from engine.grounded import GroundedFormatError, pages_file, read_pages
    from engine.models.registry import shipped_path
    from engine.training.augmentation.corruption import corrupt_pages
    from engine.training.evaluation.evaluate import evaluate as measure
    from engine.training.evaluation.judged_values import KnownValues
    from engine.training.evaluation.ocr_words import OcrWords, default_workers
    from engine.training.evaluation.report.failures import Failures
    from engine.training.evaluation.report.page import report_page
    from engine.training.evaluation.word_recall import WordRecall
    from model.inference import Predictor

    settings = settings_here(device=device)
    if settings.threads:
        torch.set_num_threads(settings.threads)
    if ocr and words_only:
        fail("--ocr reads the images and --words-only ignores them. Use one of them.", code=2)
    if ocr and noise:
        fail("--noise changes the given words, and --ocr does not use them. Use one of them.", code=2)
    if marks is not None:
        _on_marks(
            source,
            marks,
            model or shipped_path(settings),
            settings,
            clicks=3 if clicks is None else clicks,
            limit=limit,
            engine=ocr_engine,
            cache=ocr_cache,
            as_json=as_json,
            refused={
                "--ocr": ocr,
                "--words-only": words_only,
                "--both-paths": both_paths,
                "--noise": bool(noise),
                "--drop": bool(drop),
                "--ocr-workers": ocr_workers is not None,
                "--report": report is not None,
            },
        )
        return
    for option, value in (("cache", ocr_cache), ("engine", ocr_engine), ("workers", ocr_workers)):
        if value is not None and not ocr:
            fail(f"--ocr-{option} has no effect without --ocr. Give both.", code=2)
    if report is not None and (report.is_dir() or not report.parent.is_dir()):
        fail(f"The report cannot be written to {report}. Name a file in an existing folder.", code=2)
    failures = Failures()
    try:
        path = pages_file(source)
        images_from = None if words_only else path.parent
        asked = corrupt_pages(read_pages(path), noise=noise, drop=drop)
        limits = limits_of(settings)
        words_from = (
            OcrWords(
                path.parent,
                limits if ocr_engine is None else replace(limits, ocr=ocr_engine),
                kept_in=ocr_cache,
                workers=ocr_workers or default_workers(),
                warn=partial(console.print),
            )
            if ocr
            else None
        )
        predictor = Predictor.load(model or shipped_path(settings), settings.device)
        with path.open("rb") as lines:
            pages = sum(1 for line in lines if line.strip())
        read = WordRecall()
        with progress() as bar:
            if words_from is not None:  # all before the first question, whose time would include the waiting for OCR
                reading = bar.add_task("OCR", total=min(pages, limit or pages))
                for done, (page, read_page) in enumerate(words_from.read_ahead(islice(read_pages(path), limit)), 1):
                    read.add(page, read_page)
                    bar.update(reading, completed=done)
            task = bar.add_task("Pages", total=min(pages, limit or pages))
            measured = measure(
                predictor,
                asked,
                images_from=images_from,
                words_from=words_from,
                values=KnownValues(by_kind=True),
                clicks=clicks or 0,
                both_paths=both_paths,
                limit=limit,
                on_page=lambda done: bar.update(task, completed=done),
                on_answer=failures.add if report is not None else None,
            )
    except (ValueError, GroundedFormatError, OSError) as error:
        fail(sentence_of(error))
    answer = {**measured.to_json(), "noise": noise, "drop": drop, "ocr": ocr}
    if words_from is not None:
        engine = {"engine": words_from.engine, "version": words_from.version, "language": words_from.language}
        answer["ocr_words"] = engine | read.to_json()
    if as_json:
        emit(answer)
    else:
        output.print(main_table(answer, path.parent.name))
        if words_from is not None:
            output.print(ocr_table(answer))
        output.print(slices_table(answer))
        if "values_by_type" in answer:
            output.print(types_table(answer))
    if report is None:
        return
    try:  # after the figures are printed: a failure of the report must not lose them
        with progress() as bar:
            drawing = bar.add_task("Pictures", total=failures.shown)
            html = report_page(
                path.parent.name,
                answer,
                measured.scored,
                failures,
                images_from=images_from,
                on_picture=lambda done: bar.update(drawing, completed=done),
            )
        report.write_text(html, encoding="utf-8", errors="replace")
    except (ValueError, OSError) as error:
        fail(f"The report was not written: {sentence_of(error)}")
    console.print(f"Report written to {report}.", soft_wrap=True)


def _on_marks(
    folder: Path, marks: Path, checkpoint: Path, settings: Settings, *, refused: dict[str, bool], **chosen: Any
) -> None:
    """Evaluate on hand-drawn marks; `refused` are options without a meaning there, and whether they were given."""
    from engine.commands.training.evaluate_marks import evaluate_on_marks

    for option, value in refused.items():
        if value:
            fail(f"{option} has no effect with --marks. Use one of them.", code=2)
    evaluate_on_marks(folder, marks, checkpoint, settings, **chosen)
