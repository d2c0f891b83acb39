"""The OpenAPI document: FastAPI's own, with summaries, examples and shared error responses."""

from collections.abc import Mapping
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from annotator.access import roles_of
from annotator.reference.causes import FAILURES, OPEN, PROBLEM, RETRY_AFTER, WITH_RETRY_AFTER, failures_of
from annotator.reference.examples import Examples, NoSample
from annotator.reference.samples import WHOLE

INTRODUCTION = """Ask a document a question; the answer is marked on the page. Fix the mark; the model learns.

These routes cover everything that the page offers. Browsers log in and send a cookie. Scripts send a token as
`Authorization: Bearer TOKEN`; `glossator users token NAME` creates one. In local mode (GLOSSATOR_AUTH=local) neither is
needed. For Python, `engine.client.Glossator` has a method for each route.

The scope of a token restricts the rights of its user. `read` allows documents, answers, figures and exports. `extract`
allows the extraction of values and nothing else. `annotate` allows both, and uploads, questions, marks, word fixes, the
queue and reviews. `admin` allows all that the user may do. Other requests are refused with 403.

Coordinates are pixels of the rendered page; right and lower edges are exclusive. Times are in UTC. Errors have a status
and a sentence: `{"detail": "..."}`. Every route lists its statuses and their causes.

Lists that can grow come in pages. The header `Link` holds the address of the next page (RFC 8288, rel="next"); the
last page has none. A `cursor` works only for the list that gave it; otherwise the answer is 422. New rows do not shift
later pages. Documents, tasks and asked questions also send `X-Total-Count`: the number of lines on all pages.

A page has 1,000 lines at most, and as many without `limit`. Exceptions: the audit trail has 100, at most 500; jobs and
asked questions have 100 without `limit`; invitations, automatic answers and labels under review have 200.

Short lists come whole: at most 200 standard questions, 20 suggestions, 50 exports of a day, 10 running imports and 20
entries of the trigger history; people at work; the contents of one document or page."""

TAGS = {
    "system": "Health of the server, and the current user.",
    "projects": "Projects, their settings, and the next open answer.",
    "documents": "Uploads, and documents with their pages.",
    "pages": "Images and words of pages.",
    "extraction": "Values of papers for programs: a file or a document in, JSON with citations out.",
    "annotations": "Questions, refinements, saved edits of answers, and their removal.",
    "fields": "Fields of a project: questions with names and types, and ready sets of them; the table of values.",
    "tasks": "Standard questions, and the queue of their tasks.",
    "reviews": "Reviews of submitted answers.",
    "selection": "Document selection, label review, stages and automatic answers.",
    "people": "Users, members, invitations, sessions and tokens.",
    "quotas": "What projects hold and people have uploaded, beside the quotas.",
    "webhooks": "Webhooks, their deliveries, and the secret that signs callbacks.",
    "proposers": "Another model that proposes answers: its settings, and requests to it.",
    "learning": "Models, training runs and jobs.",
    "figures": "Throughput, speed and share of answers accepted unchanged.",
    "exports": "Exports and imports of datasets.",
}

PARAMETERS = {
    "project_id": "Id of a project; GET /api/projects lists them.",
    "document_id": "Id of a document; GET /api/projects/{project_id}/documents lists them.",
    "page_id": "Id of a page; GET /api/documents/{document_id} lists them.",
    "annotation_id": "Id of an annotation: one user's answer to a question about a document.",
    "question_id": "Id of a question.",
    "field_id": "Id of a field, which is that of its question; GET /api/projects/{project_id}/fields lists them.",
    "prediction_id": "Id of a model's proposal.",
    "version_id": "Id of a model version.",
    "run_id": "Id of a training run.",
    "job_id": "Id of a job.",
    "task_id": "Id of a task of the queue.",
    "user_id": "Id of a user.",
    "removed_id": "Id of a project in the bin; GET /api/removed-projects lists them.",
    "session_id": "Id of a session or token.",
    "invitation_id": "Id of an invitation.",
    "webhook_id": "Id of a webhook; GET /api/projects/{project_id}/webhooks lists them.",
    "delivery_id": "Id of a delivery; GET /api/projects/{project_id}/webhook-deliveries lists them.",
    "import_id": "Id of a running import.",
    "export_id": "Id of an export; GET /api/projects/{project_id}/exports lists them.",
    "snapshot_id": "Id or SHA-256 of a snapshot, or 12 or more of its first digits.",
    "after": "Id of the previous item; the one behind it is returned.",
    "before": "Id of an entry; older entries are returned.",
    "width": "Width of the image in pixels.",
    "limit": "Maximum number of rows.",
    "offset": "Number of rows to skip.",
    "format": "Format of the dataset.",
    "if-none-match": "ETag of the client's copy; answered with 304 when it is current.",
}


def install(app: FastAPI, root: str) -> None:
    """Make the application serve this document at /api/openapi.json and /api/docs.

    Args:
        app: the application, with all routes.
        root: path under which the application is served; empty: the whole host is its own.
    """

    def document() -> dict[str, Any]:
        if app.openapi_schema is None:
            app.openapi_schema = describe(
                get_openapi(
                    title=app.title,
                    version=app.version,
                    description=INTRODUCTION,
                    routes=app.routes,
                    tags=[{"name": name, "description": sentence} for name, sentence in TAGS.items()],
                ),
                roles_of(app.routes),
            )
            if root:
                app.openapi_schema["servers"] = [{"url": root}]
        return app.openapi_schema

    app.openapi = document  # type: ignore[method-assign]


def describe(document: dict[str, Any], roles: Mapping[tuple[str, str], str]) -> dict[str, Any]:
    """Return FastAPI's document with summaries, examples, and references to shared error responses.

    Args:
        document: OpenAPI document of FastAPI; changed in place.
        roles: role that each route requires, by (method, path).
    """
    parts = document.setdefault("components", {})
    schemas = parts.setdefault("schemas", {})
    for name in ("HTTPValidationError", "ValidationError"):
        schemas.pop(name, None)
    schemas["Problem"] = PROBLEM
    parts["responses"] = {
        name: {
            "description": sentence,
            "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Problem"}, "example": example}},
            **({"headers": RETRY_AFTER} if status in WITH_RETRY_AFTER else {}),
        }
        for status, (name, sentence, example) in FAILURES.items()
    }
    parts["securitySchemes"] = {
        "token": {"type": "http", "scheme": "bearer", "description": "Created by `glossator users token NAME`."},
        "cookie": {
            "type": "apiKey",
            "in": "cookie",
            "name": "glossator_session",
            "description": "Set by the login form.",
        },
    }
    document["security"] = [{"token": []}, {"cookie": []}]
    examples = Examples(schemas)
    used: set[str] = set()
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            used |= set(operation.get("tags", ()))
            _describe(path, operation, schemas, examples)
            _name_failures(method.upper(), path, operation, roles.get((method.upper(), path)))
    document["tags"] = [tag for tag in document["tags"] if tag["name"] in used] + [
        {"name": name} for name in sorted(used - {tag["name"] for tag in document["tags"]})
    ]
    return document


def _describe(path: str, operation: dict[str, Any], schemas: dict[str, Any], examples: Examples) -> None:
    text = operation.get("description", "")
    operation["summary"] = (
        " ".join(text.split("\n\n")[0].split()).split(". ")[0].removesuffix(".") or operation["summary"]
    )
    for parameter in operation.get("parameters", ()):
        known = parameter.get("description") or parameter["schema"].get("description")
        parameter.setdefault("description", known or PARAMETERS.get(parameter["name"], ""))
    body = operation.get("requestBody")
    if body:
        for content in body["content"].values():
            _exemplify(content, examples, path)
            body.setdefault("description", _sentence(content.get("schema", {}), schemas) or operation["summary"])
    responses = operation["responses"]
    for status, response in responses.items():
        if status.startswith("2"):
            for content in response.get("content", {}).values():
                _exemplify(content, examples, path)
                known = _sentence(content.get("schema", {}), schemas)
                if response["description"] == "Successful Response" and known:
                    response["description"] = known
            if response["description"] == "Successful Response":
                response["description"] = operation["summary"]
    if path in OPEN:
        operation["security"] = []


def _name_failures(method: str, path: str, operation: dict[str, Any], role: str | None) -> None:
    """Add the error responses behind the successful ones.

    A route's own cause stands beside the reference (OpenAPI 3.1).
    """
    responses = operation["responses"]
    for status, cause in failures_of(method, path, operation, role).items():
        own = responses.pop(status, {})
        if status == "503" and "content" in own:  # health checks have a body of their own
            responses[status] = own
            continue
        responses[status] = {"$ref": f"#/components/responses/{FAILURES[status][0]}"}
        if cause is not None:
            responses[status]["description"] = cause


def _exemplify(content: dict[str, Any], examples: Examples, path: str) -> None:
    """Add an example unless the route has one; a test fails for content without a sample."""
    if "example" in content or "examples" in content or not content.get("schema"):
        return
    if path in WHOLE:
        content["example"] = WHOLE[path]
        return
    try:
        content["example"] = examples.of(content["schema"])
    except NoSample:
        return


def _sentence(schema: dict[str, Any], schemas: dict[str, Any]) -> str:
    """Return the description of a body or response: the first paragraph of its schema's description."""
    several = schema.get("type") == "array"
    if several:
        schema = schema.get("items", {})
    if "$ref" in schema:
        name = schema["$ref"].rsplit("/", 1)[1]
        text = schemas[name].get("description", "") if not name.startswith("Body_") else "Files, sent as a form."
        first = " ".join(text.split("\n\n")[0].split())
        return f"List of: {first}" if several and first else first
    return str(schema.get("description", ""))
