"""The OpenAPI document: what FastAPI derives from the routes, with sentences, examples and the failures put in once."""

from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

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
sentence: `{"detail": "..."}`."""

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

FAILURES: dict[str, tuple[str, str, dict[str, Any]]] = {
    "401": ("NotLoggedIn", "Nobody is logged in, or the login has ended.", {"detail": "Log in first."}),
    "403": (
        "NotAllowed",
        "The person's role or the scope of the token does not allow it, or the request comes from another site.",
        {"detail": "Only a reviewer or an admin of the project may do this."},
    ),
    "404": (
        "NotFound",
        "There is no such thing, or it is in a project that the person is no member of.",
        {"detail": "There is no such document."},
    ),
    "409": (
        "Conflict",
        "Somebody else was faster; nothing was changed. `current` holds the newest version where there is one.",
        {"detail": "This answer was changed meanwhile: it is at revision 4, and yours builds on 3."},
    ),
    "413": ("TooLarge", "The body is larger than allowed.", {"detail": "The request is too large."}),
    "422": (
        "Refused",
        "The request cannot be done as it was put. `errors` names the fields that are wrong.",
        {
            "detail": "seconds: Input should be greater than or equal to 0.",
            "errors": [{"where": ["body", "seconds"], "what": "Input should be greater than or equal to 0"}],
        },
    ),
    "429": (
        "TooMany",
        "Too many tries; the header Retry-After says how many seconds to wait.",
        {"detail": "Too many wrong passwords. Try again in 30 seconds."},
    ),
}

PROBLEM = {
    "type": "object",
    "title": "Problem",
    "description": "Why a request was not done.",
    "required": ["detail"],
    "properties": {
        "detail": {"type": "string", "description": "One sentence for a person: what was wrong, and what to do."},
        "errors": {
            "type": "array",
            "description": "The fields that are wrong, for programs.",
            "items": {
                "type": "object",
                "properties": {
                    "where": {"type": "array", "items": {"type": "string"}},
                    "what": {"type": "string"},
                },
            },
        },
        "current": {"type": "object", "description": "With 409: the newest version, as its own route returns it."},
    },
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

OPEN = ("/api/health",)  # routes that need no login


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
                )
            )
        return app.openapi_schema

    app.openapi = document  # type: ignore[method-assign]


def described(document: dict[str, Any]) -> dict[str, Any]:
    """Return FastAPI's document with summaries, examples, and failures that are described once and referred to."""
    parts = document.setdefault("components", {})
    schemas = parts.setdefault("schemas", {})
    for name in ("HTTPValidationError", "ValidationError"):
        schemas.pop(name, None)
    schemas["Problem"] = PROBLEM
    parts["responses"] = {
        name: {
            "description": sentence,
            "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Problem"}, "example": example}},
        }
        for name, sentence, example in FAILURES.values()
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
        for operation in operations.values():
            used |= set(operation.get("tags", ()))
            _describe(path, operation, schemas, examples)
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
    for status in _failures(path, operation):
        responses.pop(status, None)  # all failures behind the answers, in order
        responses[status] = {"$ref": f"#/components/responses/{FAILURES[status][0]}"}
    if path in OPEN:
        operation["security"] = []


def _failures(path: str, operation: dict[str, Any]) -> list[str]:
    found = set(FAILURES) & set(operation["responses"])
    if path not in OPEN:
        found |= {"401", "403"}
    if "{" in path:
        found.add("404")
    found |= {status for status in ("409", "429") if status in operation.get("description", "")}
    if "requestBody" in operation:
        found |= {"413", "422"}
    return sorted(found)


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
