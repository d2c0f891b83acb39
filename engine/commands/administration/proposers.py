"""`glossator proposers`: the model of others that a project asks for proposals."""

import sys
from pathlib import Path
from typing import Annotated, get_args

import typer

from engine.commands.common import emit, fail, here, list_table, output
from engine.commands.foreground import follow_job
from engine.commands.lookups import acting, document_called
from engine.projects.projects import DEFAULT_NAME, project_named
from engine.proposers import proposer
from engine.proposers.jobs import request_proposals, run_proposals
from engine.proposers.proposer import PROPOSE, Kind, WantedProposer

TheProject = Annotated[str, typer.Option("--project", help="Name of the project.")]
As = Annotated[str | None, typer.Option("--as", help="Act as this user; the local user by default.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object as the last line.")]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    group = typer.Typer(no_args_is_help=True, help="Let another model propose answers, and ask it.")
    group.command("show")(show)
    group.command("set")(set_)
    group.command("remove")(remove)
    group.command("ask")(ask)
    app.add_typer(group, name="proposers")


def show(project: TheProject = DEFAULT_NAME, as_json: AsJson = False) -> None:
    """Show the other model of a project, and the tokens that its versions have used."""
    with here() as workspace:
        state = proposer.proposer_state(workspace, project_named(workspace, project).id)
    if as_json:
        emit(state.model_dump(mode="json"))
        return
    asked = state.proposer
    output.print(f"Allowed servers: {', '.join(state.addresses) or 'none'}.")
    if asked is None:
        output.print("The project asks no other model.")
    else:
        use = "instead of the own model" if asked.alone else "beside the own model"
        when = "about new documents by itself" if asked.automatic else "when somebody wants it"
        output.print(f"{asked.model} at {asked.url}, {use}, {when}. Settings {asked.number}:")
        output.print(asked.prompt, soft_wrap=True)
    if state.models:
        table = list_table("model", "version", "requests", "tokens in", "tokens out", "seconds")
        for row in state.models:
            numbers = f"{row.requests:,}", f"{row.tokens_in:,}", f"{row.tokens_out:,}", f"{row.milliseconds / 1000:.1f}"
            table.add_row(row.name, row.version, *numbers)
        output.print(table)


def set_(
    url: Annotated[str, typer.Argument(help="Address: of openai before /chat/completions.")],
    model: Annotated[str, typer.Argument(help="Name of the model, as its server knows it.")],
    project: TheProject = DEFAULT_NAME,
    kind: Annotated[str, typer.Option(help=f"Protocol of the server: {' or '.join(get_args(Kind))}.")] = "openai",
    prompt: Annotated[
        Path | None, typer.Option(help="File with what the model is told; without it, the text of Glossator.")
    ] = None,
    key: Annotated[
        Path | None, typer.Option(help="File with the key, - for standard input; without it, the key stays.")
    ] = None,
    alone: Annotated[bool, typer.Option("--alone", help="Ask it instead of the project's own model.")] = False,
    automatic: Annotated[bool, typer.Option("--automatic", help="Ask it about new documents by itself.")] = False,
    user: As = None,
    as_json: AsJson = False,
) -> None:
    """Let a project ask another model, at a server that GLOSSATOR_PROPOSER_ADDRESSES allows."""
    if kind not in get_args(Kind):
        fail(f"There is no kind {kind!r}. Kinds are {', '.join(get_args(Kind))}.")
    secret = None if key is None else (sys.stdin.read() if str(key) == "-" else _read(key)).strip()
    wanted = WantedProposer(
        kind="http" if kind == "http" else "openai",
        url=url,
        model=model,
        prompt=_read(prompt) if prompt is not None else "",
        api_key=secret,
        alone=alone,
        automatic=automatic,
    )
    with here() as workspace:
        project_id = project_named(workspace, project).id
        by = acting(workspace, user, "project_id", project_id, "admin")
        stored = proposer.set_proposer(workspace, project_id, wanted, by=by)
    if as_json:
        emit(stored.model_dump(mode="json"))
    else:
        output.print(f"{project} asks {stored.model} from now on (settings {stored.number}).")


def remove(project: TheProject = DEFAULT_NAME, user: As = None) -> None:
    """Let a project ask no other model, and forget its key. Its proposals stay."""
    with here() as workspace:
        project_id = project_named(workspace, project).id
        by = acting(workspace, user, "project_id", project_id, "admin")
        proposer.remove_proposer(workspace, project_id, by=by)
    output.print("The project asks no other model any more.")


def ask(
    document: Annotated[
        list[str] | None, typer.Argument(help="Names or ids of documents; without any, all that were not asked about.")
    ] = None,
    project: TheProject = DEFAULT_NAME,
    again: Annotated[bool, typer.Option("--again", help="Ask about documents again that were asked about.")] = False,
    user: As = None,
    as_json: AsJson = False,
) -> None:
    """Ask the other model of a project about its documents. Exits with 1 when the job fails."""
    with here() as workspace:
        project_id = project_named(workspace, project).id
        by = acting(workspace, user, "project_id", project_id, "reviewer")
        chosen = [document_called(workspace, project_id, name).id for name in document] if document else None
        job = request_proposals(workspace, project_id, documents=chosen, again=again, by=by.id)
        job = follow_job(workspace, job, {PROPOSE: run_proposals})
    if as_json:
        emit({"job_id": job.id, "status": job.status, "sentence": job.message, **job.result})
    else:
        output.print(job.message, soft_wrap=True)
    if job.status in ("failed", "dead"):
        raise typer.Exit(1)


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        fail(f"The file {path} cannot be read: {error}.")
