"""`glossator review` and `agreement`: review answers, and show the agreement of people and model."""

import uuid
from dataclasses import asdict
from typing import Annotated, Literal

import typer
from rich.table import Column

from engine.accounts.users import LOCAL_NAME
from engine.commands.common import console, emit, here, list_table, output
from engine.commands.lookups import acting
from engine.plurals import count
from engine.projects.projects import DEFAULT_NAME, project_named

TheProject = Annotated[str, typer.Option("--project", help="Name of the project.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object as the last line.")]
By = Annotated[str, typer.Option("--by", help="Name of the reviewer, not the author.")]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    review = typer.Typer(no_args_is_help=True, help="List, show and judge submitted answers.")
    review.command("list")(list_waiting)
    review.command("show")(show)
    review.command("judge")(judge)
    app.add_typer(review, name="review")
    app.command("agreement")(agreement)


def list_waiting(project: TheProject = DEFAULT_NAME, by: By = LOCAL_NAME, as_json: AsJson = False) -> None:
    """List the answers to review, disputed ones first."""
    from engine.tasks.review.review_queue import waiting_answers

    with here() as workspace:
        chosen = project_named(workspace, project)
        reviewer = acting(workspace, by, "project_id", chosen.id, "reviewer", changes=False)
        answers = waiting_answers(workspace, chosen.id, reviewer.id)
    if as_json:
        emit({"answers": [asdict(answer) for answer in answers]})
        return
    if not answers:
        console.print("Nothing to review.")
    for answer in answers:
        dispute = "  (disputed)" if answer.disputed else ""
        output.print(f"{answer.annotation_id}  {answer.author}: {answer.question}{dispute}")


def show(annotation: Annotated[str, typer.Argument(help="Id of an annotation.")], as_json: AsJson = False) -> None:
    """Show an answer with its revisions and reviews."""
    from engine.annotation.views import annotation_view
    from engine.tasks.review.verdicts import reviews_of, revisions_of

    with here() as workspace:
        view = annotation_view(workspace, annotation)
        revisions, reviews = revisions_of(workspace, annotation), reviews_of(workspace, annotation)
    if as_json:
        emit(
            {
                "annotation": view.model_dump(mode="json"),
                "revisions": [revision.model_dump(mode="json") for revision in revisions],
                "reviews": [review.model_dump(mode="json") for review in reviews],
            }
        )
        return
    answer = "(not answered in this document)" if view.state.no_answer else view.text or "(no words are marked)"
    output.print(f"{view.question.text}\n{answer}\n{view.status}, by {view.author.name}")
    for line in revisions:
        output.print(f"{line.number:>4}  {line.action} by {line.author}, {line.seconds:.0f} s")
    for verdict in reviews:
        reason = f": {verdict.reason}" if verdict.reason else ""
        output.print(f"{verdict.revision:>4}  {verdict.verdict} by {verdict.reviewer}{reason}")


def judge(
    annotation: Annotated[str, typer.Argument(help="Id of an annotation.")],
    verdict: Annotated[Literal["accepted", "rejected"], typer.Argument(help="Verdict; fixing is done on the page.")],
    reason: Annotated[str, typer.Option(help="Reason, required for a rejection.")] = "",
    quality: Annotated[bool | None, typer.Option(help="Whether the mask is right.")] = None,
    completeness: Annotated[bool | None, typer.Option(help="Whether the answer is complete.")] = None,
    becomes_label: Annotated[
        bool, typer.Option("--becomes-label", help="Make it the label, although an accepted answer contradicts it.")
    ] = False,
    by: By = LOCAL_NAME,
    as_json: AsJson = False,
) -> None:
    """Accept or reject an answer. Accepting it also accepts the equal answers of others."""
    from engine.annotation.views import annotation_view
    from engine.errors import Refused
    from engine.tasks.review.verdicts import ReviewRequest, review

    with here() as workspace:
        reviewer = acting(workspace, by, "annotation_id", annotation, "reviewer")
        head = annotation_view(workspace, annotation).head
        if head == 0:
            raise Refused("The answer is only a proposal of the model. Wait until a person has answered.")
        request = ReviewRequest(
            idempotency_key=uuid.uuid4().hex,
            base=head,
            verdict=verdict,
            quality=quality,
            completeness=completeness,
            reason=reason,
            becomes_label=becomes_label,
        )
        saved = review(workspace, annotation, request, reviewer.id)
    if as_json:
        answer = {"annotation_id": annotation, "revision": saved.revision, "status": saved.status}
        emit({**answer, "also_accepted": saved.also_accepted})
    else:
        console.print(f"The answer is {saved.status} (revision {saved.revision}).")
        if saved.also_accepted:
            console.print(f"Also accepted: {count(len(saved.also_accepted), 'equal answer')}.")


def agreement(project: TheProject = DEFAULT_NAME, as_json: AsJson = False) -> None:
    """Show agreement between people, with gold questions, and of the model with accepted answers.

    Marks: IoU of the pixels, F1 of the words. Values: equal as the type of the field, exact text, ANLS of the texts.
    Right: share of gold questions answered right, by value in a typed field and else by mark.
    """
    from engine.statistics.project_agreement import project_agreement

    with here() as workspace:
        project_figures = project_agreement(workspace, project_named(workspace, project).id)
    if as_json:
        emit(asdict(project_figures))
        return
    heads = "Questions", "IoU", "F1", "Equal", "Exact", "ANLS", "Right"
    table = list_table(Column(min_width=26), *heads)

    def add(name: str, questions: int, *values: float | None) -> None:
        """Add a row of figures."""
        table.add_row(name, str(questions), *map(_figure, values))

    rows = [
        ("between people", project_figures.between_people),
        ("people, shown a proposal", project_figures.with_proposal),
        ("people, without a proposal", project_figures.without_proposal),
        ("model", project_figures.model),
        *((f"people, {row.question}", row.between_people) for row in project_figures.by_question),
    ]
    for name, mean in rows:
        add(name, mean.questions, mean.iou, mean.word_f1, mean.value_equal, mean.value_exact, mean.value_anls)
    for pair in project_figures.pairs:
        add(" and ".join(pair.people), pair.questions, pair.iou, pair.word_f1, pair.value_equal)
    for person in project_figures.people:
        add(f"{person.person}, others", person.questions, person.iou, person.word_f1, person.value_equal)
        if person.gold_questions:
            values = person.gold_iou, None, None, None, None, person.gold_right
            add(f"{person.person}, gold questions", person.gold_questions, *values)
    output.print(table)


def _figure(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"
