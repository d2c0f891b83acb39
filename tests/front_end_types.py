"""Write build/openapi.d.ts, the types of requests and answers against which `make lint` checks the front end.

The browser needs no types, so neither the repository nor the package holds the file.

A field with a default may be left out of a request, and is always there in an answer. The OpenAPI document has one
schema for both; so a schema that stands in answers lists all its fields as required, and what requests need of it
stands again under its name with `Sent`.
"""

import json
import re
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from tests.client_schemas import ROOT, Schema, document

TYPES = ROOT / "build" / "openapi.d.ts"
OPTIONS = ("--root-types", "--root-types-no-schema-prefix", "--default-non-nullable=false", "--alphabetize")
_REFERENCE = re.compile(r'"#/components/schemas/([^"]+)"')


def prepared(whole: Schema) -> Schema:
    """Return the document with the routes of REST, their answers of success alone, and schemas by direction."""
    paths = {path: routes for path, routes in whole["paths"].items() if path.startswith("/api/")}
    requests, answers = [], []
    for routes in paths.values():
        for operation in routes.values():
            kept = {status: each for status, each in operation["responses"].items() if status.startswith("2")}
            operation["responses"] = kept
            answers.append(kept)
            requests.append(operation.get("requestBody", {}))
    schemas = whole["components"]["schemas"]
    answered, asked = _reached(schemas, answers), _reached(schemas, requests)
    twice = answered & asked
    for name in answered:
        properties = schemas[name].get("properties", {})
        sent = json.dumps(schemas[name])
        if name in twice:
            schemas[f"{name}Sent"] = json.loads(_renamed(sent, twice))
        if properties:
            schemas[name]["required"] = sorted(properties)
    for name in asked - twice:
        schemas[name] = json.loads(_renamed(json.dumps(schemas[name]), twice))
    for routes in paths.values():
        for operation in routes.values():
            if "requestBody" in operation:
                operation["requestBody"] = json.loads(_renamed(json.dumps(operation["requestBody"]), twice))
    used = answered | asked | {f"{name}Sent" for name in twice}
    return {**whole, "paths": paths, "components": {"schemas": {name: schemas[name] for name in sorted(used)}}}


def _renamed(text: str, names: set[str]) -> str:
    return _REFERENCE.sub(lambda found: f'"#/components/schemas/{found[1]}{"Sent" * (found[1] in names)}"', text)


def _reached(schemas: Schema, start: Any) -> set[str]:
    """Return the names of the schemas to which `start` refers, directly or through others."""
    reached: set[str] = set()
    waiting = _REFERENCE.findall(json.dumps(start))
    while waiting:
        name = waiting.pop()
        if name not in reached:
            reached.add(name)
            waiting += _REFERENCE.findall(json.dumps(schemas[name]))
    return reached


def main() -> None:
    """Write the types as openapi-typescript makes them of the server's OpenAPI document."""
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder) / "openapi.json", Path(folder) / "openapi.d.ts"
        source.write_text(json.dumps(prepared(document())), encoding="utf-8")
        command = ["npx", "--no-install", "openapi-typescript", str(source), "--output", str(target), *OPTIONS]
        subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
        TYPES.parent.mkdir(exist_ok=True)
        TYPES.write_bytes(target.read_bytes())


if __name__ == "__main__":
    main()
