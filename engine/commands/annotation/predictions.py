"""`glossator predictions`: take in predictions of other models as proposals."""

from collections import Counter
from pathlib import Path
from typing import Annotated

import typer
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from engine.commands.common import emit, fail, here, output, progress
from engine.commands.lookups import document_called, project_to_change
from engine.errors import Refused
from engine.interchange.bad_entries import BadEntries
from engine.interchange.import_entries import json_lines
from engine.plurals import count
from engine.projects.projects import DEFAULT_NAME
from engine.proposers.push import PredictionOutcome, PushedPredictions, push_predictions

predictions = typer.Typer(help="Take in predictions of other models as proposals.", no_args_is_help=True)


def register(app: typer.Typer) -> None:
    """Add the group."""
    app.add_typer(predictions, name="predictions")


@predictions.callback()
def _group() -> None:
    """Take in predictions of other models as proposals."""


class _Line(PushedPredictions):
    """A line of the file: predictions of one model for one document."""

    model_config = ConfigDict(extra="forbid")

    document: str = Field(min_length=1, max_length=1000)


class _Placed(BaseModel):
    """Predictions with the id of their document and their place in the file."""

    document_id: str
    where: str
    sent: PushedPredictions


@predictions.command("import")
def import_(
    file: Annotated[
        Path, typer.Argument(help='JSON lines: "document" (name or id), "model", "version" and "predictions".')
    ],
    project: Annotated[str, typer.Option(help="Name of the project.")] = DEFAULT_NAME,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object as the last line.")] = False,
) -> None:
    """Propose answers of other models to people who have not answered yet.

    Documents and lines are checked first. If a later prediction is refused, those of the lines before it stay; import
    the file again: the same model's earlier predictions are replaced.
    """
    with here() as workspace, progress() as bar:
        project_id = project_to_change(workspace, project).id
        lines = [
            _Placed(document_id=document_called(workspace, project_id, line.document).id, where=where, sent=line)
            for where, line in _read_lines(file)
        ]
        task = bar.add_task("Matching the words", total=len(lines))
        outcomes: list[PredictionOutcome] = []
        for line in lines:
            try:
                outcomes += push_predictions(workspace, line.document_id, line.sent)
            except Refused as refused:
                fail(f"{line.where}: {refused}")
            bar.advance(task)
    numbers = Counter(outcome.outcome for outcome in outcomes)
    if as_json:
        emit({"proposed": numbers["proposed"], "answered": numbers["answered"], "not_found": numbers["not_found"]})
        return
    output.print(
        f"{count(numbers['proposed'], 'proposal')}. Left out: {count(numbers['answered'], 'prediction')} for questions "
        f"that people have answered, {count(numbers['not_found'], 'text')} that no page prints.",
        soft_wrap=True,
    )


def _read_lines(file: Path) -> list[tuple[str, _Line]]:
    """Return the lines of a file with their places; ends the command at the first that is wrong."""
    bad_entries = BadEntries()
    stored = list(json_lines(file, bad_entries))
    bad_entries.refuse(str(file), file.name, rest=False)
    lines = []
    for where, content in stored:
        try:
            lines.append((where, _Line.model_validate(content)))
        except ValidationError as error:
            first = error.errors()[0]
            place = ".".join(map(str, first["loc"])) or "the line"
            fail(f"{where}: {place}: {first['msg']}. Nothing was imported.")
    return lines
