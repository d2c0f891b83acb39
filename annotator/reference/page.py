"""The page /api/docs: the OpenAPI document as plain HTML.

It has no script and loads nothing from other machines, so it works offline and under a strict content policy. Browsers
can search it, and every route is shown as a curl command. (FastAPI's own page loads scripts from a network.)
"""

import json
from collections.abc import Mapping
from html import escape
from importlib.resources import files
from shlex import quote
from typing import Any


def page(document: Mapping[str, Any], address: str, root: str) -> str:
    """Return the reference as HTML.

    Args:
        document: the OpenAPI document.
        address: address of this server, as "http://127.0.0.1:7860".
        root: path of that address, without a slash at its end, as "/gloss" or "".
    """
    groups: dict[str, list[str]] = {tag["name"]: [] for tag in document["tags"]}
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            for tag in operation.get("tags", ()):
                groups[tag].append(_operation(document, path, method, operation, address))
    sections = "".join(
        f'<section id="{escape(tag["name"])}"><h2>{escape(tag["name"].capitalize())}</h2>'
        f"<p>{escape(tag.get('description', ''))}</p>{''.join(groups[tag['name']])}</section>"
        for tag in document["tags"]
    )
    links = "".join(
        f'<a href="#{escape(tag["name"])}">{escape(tag["name"].capitalize())}</a>' for tag in document["tags"]
    )
    failures = "".join(
        f'<dt id="status-{escape(name)}">{escape(name)}</dt><dd>{_code(response["description"])}</dd>'
        for name, response in document["components"]["responses"].items()
    )
    schemas = "".join(
        _schema(name, schema)
        for name, schema in sorted(document["components"]["schemas"].items())
        if name[:5] != "Body_"
    )
    introduction = "".join(f"<p>{_code(part)}</p>" for part in document["info"]["description"].split("\n\n"))
    style = (files("annotator") / "static" / "css" / "reference.css").read_text(encoding="utf-8")
    title = f"{document['info']['title']} REST {document['info']['version']}"
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, '
        f'initial-scale=1"><title>{escape(title)}</title>'
        f'<link rel="icon" href="{root}/static/icon.svg" type="image/svg+xml">'
        f"<style>{style}</style></head><body><nav><b>{escape(title)}</b>{links}"
        '<a href="#failures">Errors</a><a href="#schemas">Schemas</a></nav><main><h1>The REST interface</h1>'
        f'{introduction}<p><a href="{root}/api/openapi.json">openapi.json</a> · '
        f'<a href="{root}/app/">Open Glossator</a></p>{sections}'
        f'<section id="failures"><h2>Errors</h2><dl>{failures}</dl></section>'
        f'<section id="schemas"><h2>Schemas</h2>{schemas}</section></main></body></html>'
    )


def _operation(document: Mapping[str, Any], path: str, method: str, operation: Mapping[str, Any], address: str) -> str:
    text = "".join(f"<p>{_code(part)}</p>" for part in operation.get("description", "").split("\n\n"))
    shared = document["components"]["responses"]
    parts = [text]
    if operation.get("parameters"):
        rows = "".join(
            f"<tr><th><code>{escape(parameter['name'])}</code></th><td>{escape(parameter['in'])}</td>"
            f"<td>{_type(parameter['schema'])}</td><td>{_code(parameter['description'])}</td></tr>"
            for parameter in operation["parameters"]
        )
        parts.append(f"<h4>Parameters</h4><div class=scroll><table>{rows}</table></div>")
    body = operation.get("requestBody")
    if body:
        for kind, content in body["content"].items():
            parts.append(
                f"<h4>Body</h4><p>{_code(body.get('description', ''))} "
                f"<small>{escape(kind)}, {_type(content['schema'])}</small></p>"
            )
            if kind == "application/json":
                parts.append(_json(content.get("example")))
    for status, response in operation["responses"].items():
        if "$ref" in response:
            continue
        parts.append(f"<h4>Response {escape(status)}</h4><p>{_code(response['description'])}")
        for kind, content in response.get("content", {}).items():
            parts.append(f" <small>{escape(kind)}{_of(content)}</small></p>")
            if "example" in content:
                parts.append(_json(content["example"]))
        parts.append("</p>" if not response.get("content") else "")
    failures = "".join(
        f'<dt><a href="#status-{escape(response["$ref"].rsplit("/", 1)[1])}">{escape(status)}</a></dt>'
        f"<dd>{_code(response.get('description') or shared[response['$ref'].rsplit('/', 1)[1]]['description'])}</dd>"
        for status, response in operation["responses"].items()
        if "$ref" in response
    )
    parts.append(f"<h4>Command</h4><pre>{escape(_curl(path, method, operation, address))}</pre>")
    parts.append(f"<h4>Errors</h4><dl>{failures}</dl>")
    return (
        f'<details id="{escape(operation["operationId"])}"><summary><b class="{method}">{method.upper()}</b>'
        f"<code>{escape(path)}</code><span>{escape(operation['summary'])}</span></summary>{''.join(parts)}</details>"
    )


def _curl(path: str, method: str, operation: Mapping[str, Any], address: str) -> str:
    words = ["curl", "-H", '"Authorization: Bearer $TOKEN"']
    if method != "get":
        words += ["-X", method.upper()]
    url = address.rstrip("/") + path.replace("{", "$").replace("}", "")
    for kind, content in operation.get("requestBody", {}).get("content", {}).items():
        if kind == "application/json":
            written = json.dumps(content.get("example"), ensure_ascii=False)
            words += ["-H", "'Content-Type: application/json'", "-d", quote(written)]
        else:
            words += ["-F", "'files=@Invoice HV-20418.pdf'"]
    if operation["responses"].get("200", {}).get("content", {}).keys() & {"application/zip", "image/png", "image/jpeg"}:
        words += ["-OJ"]
    return " ".join([*words, f'"{url}"'])


def _schema(name: str, schema: Mapping[str, Any]) -> str:
    required = schema.get("required", ())
    rows = "".join(
        f"<tr><th><code>{escape(field)}</code></th>"
        f"<td>{_type(of_field)}{'' if field in required else ' <small>optional</small>'}</td>"
        f"<td>{_code(of_field.get('description', ''))}</td></tr>"
        for field, of_field in schema.get("properties", {}).items()
    )
    table = f"<div class=scroll><table>{rows}</table></div>" if rows else ""
    return (
        f'<div class="schema" id="schema-{escape(name)}"><h3>{escape(name)}</h3>'
        f"<p>{_code(schema.get('description', ''))}</p>{table}</div>"
    )


def _of(content: Mapping[str, Any]) -> str:
    return f", {_type(content['schema'])}" if content.get("schema") else ""


def _type(schema: Mapping[str, Any]) -> str:
    """Return the type of a schema in a few words, with links to named schemas."""
    if "$ref" in schema:
        name = schema["$ref"].rsplit("/", 1)[1]
        return "a form" if name.startswith("Body_") else f'<a href="#schema-{escape(name)}">{escape(name)}</a>'
    for key in ("anyOf", "oneOf", "allOf"):
        if key in schema:
            return " or ".join(dict.fromkeys(_type(alternative) for alternative in schema[key]))
    if "const" in schema or "enum" in schema:
        return " or ".join(
            f"<code>{escape(json.dumps(value))}</code>" for value in schema.get("enum", [schema.get("const")])
        )
    kind = str(schema.get("format") or schema.get("type") or "anything")
    if kind == "array":
        if "prefixItems" in schema:
            return f"[{', '.join(_type(prefix) for prefix in schema['prefixItems'])}]"
        return f"list of {_type(schema.get('items', {}))}"
    if isinstance(schema.get("additionalProperties"), Mapping) and schema["additionalProperties"]:
        return f"object of {_type(schema['additionalProperties'])}"
    bounds = [
        f"{sign} {schema[key]:g}"
        for key, sign in (("minimum", "≥"), ("exclusiveMinimum", ">"), ("maximum", "≤"), ("exclusiveMaximum", "<"))
        if key in schema
    ]
    return escape(" ".join([kind, *bounds]))


def _json(example: Any) -> str:
    return f"<pre>{escape(_format_json(example))}</pre>"


def _format_json(value: Any, indent: str = "") -> str:
    """Return readable JSON: one field per line, lists of numbers on one line."""
    inner = indent + "  "
    if isinstance(value, dict) and value:
        fields = [
            f"{inner}{json.dumps(name)}: {_format_json(inner_value, inner)}" for name, inner_value in value.items()
        ]
        return "{\n" + ",\n".join(fields) + f"\n{indent}}}"
    if isinstance(value, list) and any(isinstance(inner_value, dict) for inner_value in value):
        return "[\n" + ",\n".join(inner + _format_json(inner_value, inner) for inner_value in value) + f"\n{indent}]"
    return json.dumps(value, ensure_ascii=False)


def _code(text: str) -> str:
    """Return text as HTML with `code` marked."""
    parts = escape(" ".join(text.split()), quote=False).split("`")
    return "".join(f"<code>{part}</code>" if at % 2 else part for at, part in enumerate(parts))
