"""Write the pages of docs/ that follow from the code: `python -m tests.generated_docs`, or `make docs`.

docs/cli.md comes from the commands, docs/api.md from the OpenAPI document, docs/settings.md from the settings, and the
table of keys in docs/annotate.md from the page's scripts, and the table of metrics in docs/monitoring.md from a server.
tests/test_docs.py fails while one of them lags behind the code.
"""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

from typer import Context
from typer.main import get_command

from annotator.access import OWNER, roles_of
from annotator.app import create_app
from annotator.scopes import ScopeTable, scopes_of
from engine.cli import app as command_line
from engine.settings import Settings
from engine.sign_in_settings import SignInSettings
from tests.support.repository import ROOT

DOCS = ROOT / "docs"
MADE = "<!-- Made by `make docs` from {source}; edit that instead. -->"
ABOUT_SETTINGS = """
Glossator reads its settings once, at the start, from variables of the environment or from a file `.env` in the folder
it is started in. A variable of the environment goes before the file. Lists are written with commas, or as JSON:
`GLOSSATOR_ALLOWED_HOSTS=glossator.example.org,papers.example.org`. An invalid value stops the start with an error
message.
"""
ABOUT_COMMANDS = """
`make serve` puts the command `glossator` into `.venv/bin`. `glossator COMMAND --help` shows the same as this page.
Commands read the database directly, so they work while no server runs. `--json` prints one JSON object on the last
line of standard output; progress goes to standard error. Without `--project`, commands use the project `default`. They
act as the user `local`, an admin of the installation, unless `--as` or `--by` names another: whoever can write to the
data folder can do all that they do.
"""
ABOUT_ROUTES = """
A running server shows the same with an example of every body and answer at `/api/docs`, and as a file at
`/api/openapi.json`. *Scope* is the least scope of a token, *role* the least role of its person. Statuses with which a
route refuses stand under [Failures](#failures); 408, 421, 431 and 503 may come from every route.
"""
CLIENT = """from engine.client import Glossator

with Glossator("http://127.0.0.1:7860", token=token) as glossator:  # a token that may create projects
    project = glossator.create_project("Invoices 2026")
    invoice = glossator.upload(project.id, "invoice.pdf").documents[0]
    answer = glossator.ask(invoice.document_id, "What is the total due?")
    glossator.accept(answer.id, answer.head)"""
METRICS_BEGIN, METRICS_END = "<!-- metrics: made by `make docs` -->", "<!-- /metrics -->"
KEYS_BEGIN, KEYS_END = "<!-- keys: made by `make docs` -->", "<!-- /keys -->"
# Routes whose role no dependency names: uploads ask before the body is read, saving asks in its one query.
CHECKED_LATER = {
    ("POST", "/api/projects/{project_id}/documents"): "annotator",
    ("POST", "/api/projects/{project_id}/import"): "reviewer",
    ("PUT", "/api/annotations/{annotation_id}/revisions"): "annotator",
}
EVERYWHERE = ("408", "421", "431", "503")  # what every route may answer with
ROLES = {"annotator": "member", "reviewer": "reviewer", "admin": "admin of the project", OWNER: "admin of the server"}


def settings_page() -> str:
    """Return docs/settings.md: each variable with its type, default and meaning."""
    rows = ["| variable | type | default | meaning |", "|---|---|---|---|"]
    # Inherited fields come first; people look for the folder and the port before single sign-on.
    fields = sorted(Settings.model_fields.items(), key=lambda field: field[0] in SignInSettings.model_fields)
    for name, field in fields:
        default = "" if field.default in (None, "", [], {}) else f"`{_written(field.default)}`"
        cells = (f"`GLOSSATOR_{name.upper()}`", _type_name(field.annotation), default, str(field.description))
        rows.append("| " + " | ".join(_cell(each) for each in cells) + " |")
    return "\n".join(
        [
            "# Settings",
            "",
            MADE.format(source="engine/settings.py"),
            "",
            *_wrapped(ABOUT_SETTINGS),
            "",
            *_wrapped(
                "These hold for the whole installation. When a project retrains, and its review and overlap, are "
                "settings of the project: see [manage.md](manage.md) and `glossator projects set`. How to serve "
                "others stands in [deploy.md](deploy.md)."
            ),
            "",
            *rows,
            "",
        ]
    )


def commands() -> dict[str, Any]:
    """Return every command by its full name, as in "glossator runs show"; groups too."""
    found: dict[str, Any] = {}

    def walk(command: Any, name: str) -> None:
        found[name] = command
        for each in getattr(command, "commands", {}):
            inner = command.get_command(Context(command), each)
            if not inner.hidden:
                walk(inner, f"{name} {each}")

    walk(get_command(command_line), "glossator")
    return found


def options_of(command: Any) -> set[str]:
    """Return the options that a command takes, as in "--project"."""
    return {"--help"} | {each for part in command.params for each in (*part.opts, *part.secondary_opts)}


def cli_page() -> str:
    """Return docs/cli.md: each command with its arguments and options."""
    known = commands()
    single = {name: each for name, each in known.items() if not hasattr(each, "commands")}
    lines = [
        "# Command line",
        "",
        MADE.format(source="engine/commands"),
        "",
        *_wrapped(ABOUT_COMMANDS),
        "",
        "| command | purpose |",
        "|---|---|",
    ]
    for name, command in single.items():
        lines.append(f"| [`{name}`](#{name.replace(' ', '-')}) | {_cell(_paragraphs(command.help)[0])} |")
    for name, command in single.items():
        context = command.make_context(name, [], resilient_parsing=True)
        lines += ["", f"## {name}", "", f"`{name} {' '.join(command.collect_usage_pieces(context))}`"]
        for paragraph in _paragraphs(command.help):
            lines += ["", *_wrapped(paragraph)]
        records = [each.get_help_record(context) for each in command.params if not getattr(each, "hidden", False)]
        if records:
            lines += ["", "| argument or option | meaning |", "|---|---|"]
            lines += [f"| `{said.replace('|', chr(92) + '|')}` | {_cell(meaning)} |" for said, meaning in records]
    return "\n".join([*lines, ""])


@cache
def openapi() -> tuple[dict[str, Any], Mapping[tuple[str, str], str], ScopeTable]:
    """Return the OpenAPI document of the application, and the role and scope that each route asks for."""
    with tempfile.TemporaryDirectory(prefix="glossator-docs-") as folder:
        application = create_app(Settings(data_dir=Path(folder), _env_file=None))
        return application.openapi(), {**roles_of(application.routes), **CHECKED_LATER}, scopes_of(application)


def api_page() -> str:
    """Return docs/api.md: each REST route by group, with scope, role, parameters, body and answers."""
    document, roles, scopes = openapi()
    lines = ["# REST routes", "", MADE.format(source="annotator/routes"), ""]
    for paragraph in document["info"]["description"].split("\n\n"):
        lines += [*_wrapped(paragraph), ""]
    lines += ["```python", *CLIENT.splitlines(), "```", ""]
    lines += [
        *_wrapped(ABOUT_ROUTES),
    ]
    for tag in document["tags"]:
        lines += ["", f"## {tag['name'].capitalize()}", "", tag.get("description", "")]
        for method, path, operation in _operations(document):
            if tag["name"] in operation["tags"]:
                lines += _route(
                    document, operation, f"{method} {path}", roles.get((method, path)), scopes.needed(method, path)
                )
    lines += ["", "## Failures", "", 'A failure is a status with one sentence: `{"detail": "..."}`.', ""]
    lines += ["| status | when |", "|---|---|"]
    statuses = {
        (status, answer["$ref"].rsplit("/", 1)[1])
        for _, _, operation in _operations(document)
        for status, answer in operation["responses"].items()
        if "$ref" in answer
    }
    for status, name in sorted(statuses):
        lines.append(f"| {status} | {_cell(document['components']['responses'][name]['description'])} |")
    return "\n".join([*lines, ""])


def _operations(document: Mapping[str, Any]) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            yield method.upper(), path, operation


def _route(
    document: Mapping[str, Any], operation: Mapping[str, Any], name: str, role: str | None, scope: str
) -> list[str]:
    open_to_all = operation.get("security") == []
    who = (
        "Open to all, without a token."
        if open_to_all
        else f"Scope `{scope}`; role: {ROLES.get(role or '', 'any user')}."
    )
    lines = ["", f"### {name}", "", *_wrapped(f"{operation['summary']}. {who}")]
    rows = [
        f"| `{each['name']}` | {each['in']} | {_schema_name(each['schema'])} | {_cell(each['description'])} |"
        for each in operation.get("parameters", ())
        if each["in"] != "path"
    ]
    for kind, content in operation.get("requestBody", {}).get("content", {}).items():
        rows += _fields(document, content["schema"], "body" if kind == "application/json" else kind)
    if rows:
        lines += ["", "| parameter | in | type | meaning |", "|---|---|---|---|", *rows]
    good = []
    for status, answer in operation["responses"].items():
        if "$ref" not in answer:
            kinds = [
                _schema_name(content["schema"]) if content.get("schema") else f"`{kind}`"
                for kind, content in answer.get("content", {}).items()
            ]
            kind = f" ({', '.join(kinds)})" if kinds else ""
            good.append(f"{status}{kind}: {answer['description'].rstrip('.')}.")
    refused = [each for each, answer in operation["responses"].items() if "$ref" in answer and each not in EVERYWHERE]
    refusals = [f"Refuses with {', '.join(refused)}."] if refused else []
    return [*lines, "", *_wrapped("Answers " + " ".join([*good, *refusals]))]


def _fields(document: Mapping[str, Any], schema: Mapping[str, Any], place: str) -> list[str]:
    if "$ref" not in schema:
        return [f"| (whole) | {place} | {_schema_name(schema)} | {_cell(str(schema.get('description', '')))} |"]
    named = document["components"]["schemas"][schema["$ref"].rsplit("/", 1)[1]]
    required = named.get("required", ())
    return [
        f"| `{name}`{'' if name in required else ' (optional)'} | {place} | {_schema_name(field)} | "
        f"{_cell(str(field.get('description', '')))} |"
        for name, field in named.get("properties", {}).items()
    ]


def _schema_name(schema: Mapping[str, Any]) -> str:
    """Return a schema's type in a few words."""
    if "$ref" in schema:
        return f"`{schema['$ref'].rsplit('/', 1)[1]}`"
    for key in ("anyOf", "oneOf", "allOf"):
        if key in schema:
            return " or ".join(dict.fromkeys(_schema_name(each) for each in schema[key]))
    if "enum" in schema or "const" in schema:
        return " or ".join(f"`{each}`" for each in schema.get("enum", [schema.get("const")]))
    kind = str(schema.get("format") or schema.get("type") or "any value")
    return f"list of {_schema_name(schema.get('items', {}))}" if kind == "array" else kind


def _type_name(annotation: Any) -> str:
    """Return a setting's type in words."""
    if get_origin(annotation) is Literal:
        return " or ".join(f"`{each}`" for each in get_args(annotation))
    if get_origin(annotation) is list:
        return "list of text"
    if get_origin(annotation) is dict:
        return "JSON object"
    for kind, word in ((bool, "true or false"), (int, "integer"), (float, "number"), (str, "text")):
        if annotation is kind:
            return word
    return "path"


def _written(default: Any) -> str:
    """Return a default as it is written in the environment."""
    if isinstance(default, list):
        return ",".join(default)
    return json.dumps(default) if isinstance(default, bool) else str(default)


def _paragraphs(text: str | None) -> list[str]:
    return [" ".join(each.split()) for each in (text or "").strip().split("\n\n")]


def _wrapped(text: str, width: int = 118) -> list[str]:
    lines = [""]
    for word in re.findall(r"(?:`[^`]*`|\S)+", " ".join(text.split())):  # a span of code stays on its line
        if len(lines[-1]) + len(word) >= width:
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".strip()
    return lines


def _cell(text: str) -> str:
    """Return text that may stand in a cell of a Markdown table."""
    return " ".join(text.split()).replace("|", "\\|")


def keys() -> list[tuple[str, str, str]]:
    """Return the page's keyboard as (group, keys, what they do), read from the table in the scripts."""
    found = []
    for name in ("keyboard.js", "review_keys.js"):
        script = next((ROOT / "annotator" / "static").rglob(name)).read_text(encoding="utf-8")
        for chords, group, said in re.findall(r"\[\s*'\w+',\s*\[(.*?)\],\s+'([^']*)',\s+'([^']*)'", script, re.DOTALL):
            signs = [
                chord.replace("Mod+", "Ctrl+").replace("Arrow", "Arrow ") for chord in re.findall(r"'([^']+)'", chords)
            ]
            shown = [f"`{sign[:-1] + sign[-1].upper() if len(sign.split('+')[-1]) == 1 else sign}`" for sign in signs]
            found.append((group, " or ".join(shown), said))
    return found


def annotate_page() -> str:
    """Return docs/annotate.md with the table of keys as the page has it."""
    rows = [
        "| group | key | command |",
        "|---|---|---|",
        *(f"| {group} | {chords} | {said} |" for group, chords, said in keys()),
    ]
    page = (DOCS / "annotate.md").read_text(encoding="utf-8")
    before, begun, rest = page.partition(KEYS_BEGIN)
    _, ended, after = rest.partition(KEYS_END)
    if not begun or not ended:
        raise SystemExit(f"docs/annotate.md has lost its marks {KEYS_BEGIN} and {KEYS_END}.")
    return "\n".join([f"{before}{begun}", "", *rows, "", f"{ended}{after}"])


def exported_metrics() -> dict[str, tuple[str, str]]:
    """Return type and meaning of each metric that a server exports, by name."""
    with tempfile.TemporaryDirectory() as folder:
        application = create_app(Settings(data_dir=Path(folder), _env_file=None), with_page=False)
        text = application.state.gatherer.text().decode()
        application.state.answer_service.workspace.close()
    meanings = dict(re.findall(r"^# HELP (\S+) (.*)$", text, re.MULTILINE))
    types = dict(re.findall(r"^# TYPE (\S+) (.*)$", text, re.MULTILINE))
    return {name: (types[name], meaning) for name, meaning in sorted(meanings.items())}


def monitoring_page() -> str:
    """Return docs/monitoring.md with the table of metrics made anew; the rest is written by hand."""
    rows = ["| metric | type | meaning |", "|---|---|---|"]
    rows += [f"| `{name}` | {kind} | {meaning} |" for name, (kind, meaning) in exported_metrics().items()]
    page = (DOCS / "monitoring.md").read_text(encoding="utf-8")
    before, begun, rest = page.partition(METRICS_BEGIN)
    _, ended, after = rest.partition(METRICS_END)
    if not begun or not ended:
        raise SystemExit(f"docs/monitoring.md has lost its marks {METRICS_BEGIN} and {METRICS_END}.")
    return "\n".join([f"{before}{begun}", "", *rows, "", f"{ended}{after}"])


PAGES: dict[str, Callable[[], str]] = {
    "cli.md": cli_page,
    "api.md": api_page,
    "settings.md": settings_page,
    "annotate.md": annotate_page,
    "monitoring.md": monitoring_page,
}


def main() -> None:
    """Write the generated pages anew."""
    for name, page in PAGES.items():
        (DOCS / name).write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
