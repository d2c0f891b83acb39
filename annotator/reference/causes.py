"""When routes answer otherwise than with success: each status of each route with its cause, for the OpenAPI document.

Three sources, put together in `failures_of`: what is answered for all (annotator.http_limits, annotator.request_guard, annotator.login_gate), what
follows from the form of a route (a login, a role, ids in its path, a body), and `CAUSES`: what the engine raises for one route
alone. Tests record every answer that the application really gives, and fail where it is not named here.
"""

from collections.abc import Mapping
from typing import Any

OPEN = ("/api/health", "/api/health/live", "/api/health/ready")  # routes that need no login
WRITES = ("POST", "PUT", "PATCH", "DELETE")

RETRY_AFTER = {"Retry-After": {"description": "Seconds to wait.", "schema": {"type": "integer", "minimum": 0}}}

# Status: the name of the shared answer, when it comes, and an example of it.
FAILURES: dict[str, tuple[str, str, dict[str, Any]]] = {
    "400": (
        "Unreadable",
        "The body cannot be read: it is no whole JSON in UTF-8, or no whole form.",
        {"detail": "The body cannot be read: it is no whole JSON in UTF-8, or no whole form."},
    ),
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
    "408": (
        "TooSlow",
        "The request did not arrive in time.",
        {"detail": "The body of the request did not arrive in time."},
    ),
    "409": (
        "Conflict",
        "Something else was faster or is so already; nothing was changed. `current` holds the newest version where there is one.",
        {"detail": "This answer was changed meanwhile: it is at revision 4, and yours builds on 3."},
    ),
    "413": ("TooLarge", "The body is larger than allowed.", {"detail": "The request is too large."}),
    "421": (
        "OtherHost",
        "The Host that the request names is not one of this server's; GLOSSATOR_ALLOWED_HOSTS lists further ones.",
        {"detail": "This server is not 'example.org'; add the name to GLOSSATOR_ALLOWED_HOSTS if it should be."},
    ),
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
    "431": (
        "HeadTooLarge",
        "The header of the request is larger than allowed.",
        {"detail": "The header of the request is too large."},
    ),
    "500": (
        "FileMissing",
        "A stored file is missing from the disk; its row is there.",
        {"detail": "The file 9f2c1c7a5d0e... is missing from /data/blobs."},
    ),
    "503": (
        "Unavailable",
        "The database does not answer, or all connections are taken; Retry-After says how many seconds to wait.",
        {
            "detail": "The database of the server does not answer. Try again in a moment; if it stays, tell whoever runs the server."
        },
    ),
    "507": (
        "DiskFull",
        "The disk of the server is full; the header Retry-After says how many seconds to wait.",
        {"detail": "The disk of the server is full, so this was not stored. Ask whoever runs the server to make room."},
    ),
}
WITH_RETRY_AFTER = ("429", "503", "507")

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

ROLES = {
    "reviewer": "Only reviewers and admins of the project may do this.",
    "admin": "Only admins of the project may do this.",
    "owner": "Only admins of the whole installation may do this.",
}
ELSEWHERE = "The request comes from another site, or from a browser that does not say from which."

_MOVED_ON = "The answer has moved on since `base`; `current` holds the newest version."
_FILE = "The picture of the page, or the checkpoint of the model, is missing from the disk."
_REPORTS = "Eight reports are being made already; Retry-After says how many seconds to wait."
_LARGE = "Many large masks are being worked on already; Retry-After says how many seconds to wait."
_WORK = "The answer is somebody else's, and only reviewers and admins may change it."

# What the engine raises for one route alone: "METHOD path": {status: when}.
CAUSES: dict[str, dict[str, str]] = {
    # people
    "PUT /api/me/password": {
        "403": "The present password is another one.",
        "429": "Too many wrong passwords; Retry-After says how many seconds to wait.",
    },
    "POST /api/users": {"409": "A user is called so already, or nearly so."},
    "PUT /api/projects/{project_id}/members/{user_id}": {"409": "The project would be left without an admin."},
    "DELETE /api/projects/{project_id}/members/{user_id}": {
        "403": "Only admins of the project may end other people's memberships.",
        "409": "The project would be left without an admin.",
    },
    "DELETE /api/invitations/{invitation_id}": {"409": "The invitation was used already."},
    # projects and documents
    "POST /api/projects": {"409": "A project is called so already."},
    "POST /api/projects/{project_id}/documents": {
        "422": "None of the files can be read; `refused` holds a sentence for each. Or there are more than 50 of them.",
        "429": "Many files, or many of this person's, are being read just now; Retry-After says how many seconds to wait.",
    },
    "GET /api/pages/{page_id}/image": {"500": "The picture is missing from the disk; its row is there."},
    "GET /api/pages/{page_id}/thumbnail": {
        "429": "Too many other pictures wait to be made; Retry-After says how many seconds to wait.",
        "500": "The picture is missing from the disk; its row is there.",
    },
    "PUT /api/pages/{page_id}/words": {
        "409": "The words have moved on since `base`; `current` holds them as they are now.",
        "401": "Nobody is logged in, or somebody else than X-Glossator-User names.",
    },
    # answers
    "POST /api/documents/{document_id}/ask": {"500": _FILE},
    "POST /api/annotations/{annotation_id}/ask-more": {"403": _WORK, "500": _FILE},
    "POST /api/annotations/{annotation_id}/refine": {"403": _WORK, "500": _FILE},
    "PUT /api/annotations/{annotation_id}/revisions": {
        "401": "Nobody is logged in, or somebody else than X-Glossator-User names.",
        "403": _WORK,
        "409": _MOVED_ON,
        "429": _LARGE,
    },
    "POST /api/annotations/{annotation_id}/reviews": {
        "401": "Nobody is logged in, or somebody else than X-Glossator-User names.",
        "409": _MOVED_ON,
        "429": _LARGE,
    },
    "POST /api/annotations/{annotation_id}/review/heartbeat": {
        "409": "Somebody else is reviewing the answer; the sentence names them."
    },
    # the queue
    "POST /api/tasks/{task_id}/heartbeat": {
        "409": "The lease is lost, or the question is no longer asked; the sentence says to whom, or why."
    },
    "PUT /api/projects/{project_id}/standard-questions": {
        "409": "The list is no longer `before`; the sentence says what was added and taken out."
    },
    # what the model says unasked
    "PUT /api/projects/{project_id}/stage": {
        "409": "The project is at this stage already.",
        "422": "For automatic: the precision was not measured to reach the target. Else a field is wrong.",
    },
    # learning
    "POST /api/projects/{project_id}/models/{version_id}/promote": {
        "409": "The version is the champion already, or the champion changed since it was judged.",
        "422": "The gate has not passed it and `force` is not set, or its checkpoint is gone. Else a field is wrong.",
    },
    "POST /api/projects/{project_id}/rollback": {
        "422": "There is no earlier champion, or its checkpoint is gone. Else a field is wrong."
    },
    "POST /api/jobs/{job_id}/cancel": {"409": "The job has ended already."},
    "POST /api/jobs/{job_id}/retry": {"409": "The job neither failed nor was given up."},
    "GET /api/runs/{run_id}/changes": {
        "429": _REPORTS,
        "500": "The stored answers of the run are missing from the disk.",
    },
    "GET /api/projects/{project_id}/figures": {"429": _REPORTS},
    "GET /api/projects/{project_id}/agreement": {"429": _REPORTS},
    # exports and imports
    "GET /api/projects/{project_id}/export": {
        "422": "No answer passes the filters, or a filter or the format is wrong.",
        "429": "Too many exports wait already; Retry-After says how many seconds to wait.",
        "500": "The picture of a page is missing from the disk.",
    },
    "POST /api/projects/{project_id}/import": {
        "409": "Something of the set was changed here while it came in.",
        "422": "The set, or a field, is wrong; the sentence names the file and the entry. Nothing was stored.",
        "429": "Too many imports wait already; Retry-After says how many seconds to wait.",
    },
}


def failures_of(method: str, path: str, operation: Mapping[str, Any], role: str | None) -> dict[str, str | None]:
    """Return the statuses other than success that an operation answers with, in order, each with its cause.

    `role`: of `ROLES`, what the route's dependencies ask for. None as the cause: the shared sentence says it all.
    """
    own = CAUSES.get(f"{method} {path}", {})
    found: dict[str, str | None] = {"408": None, "421": None, "431": None, "503": None}
    if path not in OPEN:
        found |= {"401": None, "403": None}  # 403: of a token whose scope is too narrow
    if "{" in path:
        found["404"] = None
    if role in ROLES:
        found["403"] = ROLES[role]
    if "422" in operation["responses"]:  # FastAPI names it where there is anything to get wrong
        found["422"] = None
    if "requestBody" in operation:
        found |= {"400": None, "413": None, "422": None}
    if method in WRITES:
        found |= {"403": found.get("403"), "413": None, "507": None}
    found |= own
    if method in WRITES:
        found["403"] = f"{found['403']} Or: {ELSEWHERE}" if found["403"] else ELSEWHERE
    return dict(sorted(found.items()))
