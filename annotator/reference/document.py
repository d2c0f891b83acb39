"""The OpenAPI document: what FastAPI derives from the routes, with sentences, examples and the failures put in once."""

from collections.abc import Mapping
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from annotator.access import roles_of
from annotator.reference.causes import FAILURES, OPEN, PROBLEM, RETRY_AFTER, WITH_RETRY_AFTER, failures_of
from annotator.reference.examples import Examples, NoSample
from annotator.reference.samples import WHOLE

INTRODUCTION = """Ask a document a question; the answer is marked on the page. Correct the mark; the model learns.

Whatever people can do on the page can be done through these routes. On the page they log in and carry a cookie; a script sends
a token: `glossator users token NAME` prints one, and every request carries it as `Authorization: Bearer TOKEN`. Where nobody
logs in (GLOSSATOR_AUTH=local) neither is needed. From Python, `engine.client.Glossator` has a method for each of them.

A token has a scope, which takes from what its person may do and never adds to it: `read` sees documents, answers, figures and
exports; `annotate` also uploads, asks, marks, mends words, works through the queue and reviews; `admin` may do whatever its
person may. What the scope does not allow is refused with 403.

Positions are pixels of the rendered page, right and lower edge exclusive; times are in UTC. A failure is a status with one
sentence: `{"detail": "..."}`. Every route names the statuses that it answers with, and when."""

TAGS = {
    "system": "Whether the server is well, and who is asking.",
    "projects": "Projects, their settings, and what is next in them.",
    "documents": "Files in, and the documents that they became.",
    "pages": "Pictures and words of pages.",
    "annotations": "Asking, refining, and saving what people make of the answers.",
    "tasks": "Standard questions, and the queue that hands them out.",
    "reviews": "A second person's verdict on an answer.",
    "selection": "What comes next and why, second looks at accepted labels, and answers accepted automatically.",
    "people": "Users, members of projects, invitations, logins.",
    "learning": "Models, retrainings and jobs.",
    "figures": "How much was done, how fast, and how often the model was right.",
    "exports": "Datasets out.",
}

PARAMETERS = {
    "project_id": "Id of a project; GET /api/projects lists them.",
    "document_id": "Id of a document; GET /api/projects/{project_id}/documents lists them.",
    "page_id": "Id of a page, as its document names it.",
    "annotation_id": "Id of an answer of a document to a question.",
    "question_id": "Id of a question.",
    "prediction_id": "Id of a proposal of the model.",
    "version_id": "Id of a model version.",
    "run_id": "Id of a retraining.",
    "job_id": "Id of a job.",
    "task_id": "Id of a task of the queue.",
    "user_id": "Id of a user.",
    "session_id": "Id of a login.",
    "invitation_id": "Id of an invitation.",
    "import_id": "Id of an import under way.",
    "after": "Go on behind this one.",
    "before": "Go on with what is older than this entry.",
    "width": "Width of the picture in pixels.",
    "limit": "Most rows that are returned.",
    "offset": "How many rows to leave out first.",
    "format": "Format of the dataset.",
    "if-none-match": "The ETag that the client holds already; then nothing is sent again.",
}


def install(app: FastAPI) -> None:
    """Let the application describe itself so, at /api/openapi.json and on /api/docs."""

    def document() -> dict[str, Any]:
        if app.openapi_schema is None:
            app.openapi_schema = described(
                get_openapi(
                    title=app.title,
                    version=app.version,
                    description=INTRODUCTION,
                    routes=app.routes,
                    tags=[{"name": name, "description": sentence} for name, sentence in TAGS.items()],
                ),
                roles_of(app.routes),
            )
        return app.openapi_schema

    app.openapi = document  # type: ignore[method-assign]


def described(document: dict[str, Any], roles: Mapping[tuple[str, str], str]) -> dict[str, Any]:
    """Return FastAPI's document with summaries, examples, and failures that are described once and referred to.

    `roles`: what routes ask for, by method and path.
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
        "token": {"type": "http", "scheme": "bearer", "description": "Printed by `glossator users token NAME`."},
        "cookie": {
            "type": "apiKey",
            "in": "cookie",
            "name": "glossator_session",
            "description": "Set by logging in on the page.",
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
    """Put all failures behind the answers, in order. A cause of the route's own stands beside the reference, as OpenAPI 3.1 has it."""
    responses = operation["responses"]
    for status, cause in failures_of(method, path, operation, role).items():
        own = responses.pop(status, {})
        if status == "503" and "content" in own:  # of the checks of health: an answer of its own
            responses[status] = own
            continue
        responses[status] = {"$ref": f"#/components/responses/{FAILURES[status][0]}"}
        if cause is not None:
            responses[status]["description"] = cause


def _exemplify(content: dict[str, Any], examples: Examples, path: str) -> None:
    """Put an example in, unless the route has its own; what has no sample goes without, and a test says so."""
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
    """What a body or an answer is: the first paragraph of its schema's description."""
    several = schema.get("type") == "array"
    if several:
        schema = schema.get("items", {})
    if "$ref" in schema:
        name = schema["$ref"].rsplit("/", 1)[1]
        text = schemas[name].get("description", "") if not name.startswith("Body_") else "Files, as a form sends them."
        first = " ".join(text.split("\n\n")[0].split())
        return f"A list: {first}" if several and first else first
    return str(schema.get("description", ""))
