"""`glossator mcp`: tools for language models, by the Model Context Protocol."""

from pathlib import Path
from typing import Annotated

import typer

from engine.commands.common import fail


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("mcp")(mcp)


def mcp(
    address: Annotated[str, typer.Option(help="Address of the Glossator server.")] = "http://127.0.0.1:7860",
    token_file: Annotated[
        Path | None, typer.Option(help="File with the token of all calls; without login, none is needed.")
    ] = None,
    http: Annotated[
        bool, typer.Option("--http", help="Serve over HTTP; each call brings its own token in Authorization.")
    ] = False,
    port: Annotated[int, typer.Option(help="Port to serve on, with --http, on this machine alone.")] = 7870,
) -> None:
    """Serve tools to a language model: list_documents, get_page, ask and extract.

    They speak the Model Context Protocol over standard input and output, or HTTP. A tool may do what the token may do.
    Needs the extra mcp: pip install glossator[mcp].
    """
    try:
        from engine.mcp_tools import build_server, read_token
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] != "mcp":
            raise
        fail("The library of the Model Context Protocol is missing. Install it: pip install glossator[mcp]")
    if http and token_file is not None:
        fail("Over HTTP each call brings its own token. Leave --token-file out.")
    try:
        token = read_token(token_file) if token_file is not None else None
    except OSError as error:
        fail(f"{token_file} cannot be read: {error.strerror}.")
    if http:
        build_server(address, passes_tokens=True).run("streamable-http", host="127.0.0.1", port=port)
    else:
        build_server(address, token or None).run("stdio")
