"""`glossator doctor`: what is installed and set up, what is missing, and how to mend it."""

from dataclasses import asdict
from typing import Annotated

import typer
from rich.text import Text

from engine.commands.common import emit, output, settings_here
from engine.lifecycle.doctor import Finding, examine

_STYLES = {"ok": "green", "warning": "yellow", "broken": "red"}


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(doctor)


def doctor(
    address: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="Address that people open, to try the proxy before it.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object as the last line.")] = False,
) -> None:
    """Check installation and settings, and say how to mend what is wrong. Exits with 1 if anything is broken.

    Checks packages, data folder, disk, clocks, database and its settings, files, worker, models, login, port, proxy,
    fonts, OCR and weights. The server may run.
    """
    settings = settings_here()
    findings: list[Finding] = []
    for finding in examine(settings, address):
        findings.append(finding)
        if not as_json:
            sign = Text(f"{finding.state:7}", _STYLES[finding.state])
            output.print(sign, f"{finding.name + ':':18} {finding.sentence}", soft_wrap=True)
            if finding.mend:
                output.print(f"{'':26} {finding.mend}", soft_wrap=True, style="bold")
    broken = [finding for finding in findings if finding.state == "broken"]
    if as_json:
        emit({"ok": not broken, "findings": [asdict(finding) for finding in findings]})
    elif not broken:
        warnings = sum(finding.state == "warning" for finding in findings)
        output.print(f"Nothing is broken.{f' Warnings: {warnings}.' if warnings else ''}")
    if broken:
        raise typer.Exit(1)
