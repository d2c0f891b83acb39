"""The command `glossator`."""

import sys
from io import TextIOWrapper
from typing import Annotated

import typer

from engine.commands.late_import import CommandsByName
from engine.version import release

app = typer.Typer(
    cls=CommandsByName,
    name="glossator",
    help="Ask a document a question; the answer is marked on the page. Fix the mark; the model learns.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"glossator {release()}")
        raise typer.Exit


@app.callback()
def _root(
    _version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass


def main() -> None:
    """Run the command line. Characters that the terminal's encoding lacks are printed as question marks."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")
    app()


if __name__ == "__main__":
    main()
