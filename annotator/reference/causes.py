"""Error statuses of each route with their causes, for the OpenAPI document.

`failures_of` combines three sources: statuses of all routes (annotator.http_limits, request_guard and login_gate);
statuses that follow from the form of a route (login, role, ids in its path, body); and `CAUSES`, raised by the engine
for one route. Tests record every response of the application and fail when a status is missing here.
"""

from collections.abc import Mapping
from typing import Any

OPEN = ("/api/health", "/api/health/live", "/api/health/ready")  # routes that need no login
WRITES = ("POST", "PUT", "PATCH", "DELETE")

RETRY_AFTER = {"Retry-After": {"description": "Seconds to wait.", "schema": {"type": "integer", "minimum": 0}}}

# Status: name of the shared response, its cause, and an example.
FAILURES: dict[str, tuple[str, str, dict[str, Any]]] = {
    "400": (
        "Unreadable",
        "The request body is not complete JSON in UTF-8, nor a complete form.",
        {"detail": "The request body is not complete JSON in UTF-8, nor a complete form. Check the body."},
    ),
    "401": ("NotLoggedIn", "The request has no valid login or token.", {"detail": "Log in first."}),
    "403": (
        "NotAllowed",
        "The user's role or the token's scope does not allow it, or the request comes from another site.",
        {"detail": "Only an admin of the project can do this. Ask an admin of the project for that role."},
    ),
    "404": (
        "NotFound",
        "The resource does not exist, was removed, or belongs to a project of which the user is not a member.",
        {"detail": "There is no such document."},
    ),
    "408": (
        "TooSlow",
        "The request did not arrive in time.",
        {"detail": "The request body did not arrive in time. Send the request again."},
    ),
    "409": (
        "Conflict",
        "Another change came first, or the state is already set; nothing was changed. `current` holds the newest "
        "version, if any.",
        {
            "detail": "This answer was changed meanwhile: your change starts from revision 3, and the newest is "
            "revision 4."
        },
    ),
    "413": (
        "TooLarge",
        "The request body is larger than allowed.",
        {"detail": "The request is larger than the 1,000 KB allowed. Send it in parts."},
    ),
    "421": (
        "OtherHost",
        "The Host header is not allowed; GLOSSATOR_ALLOWED_HOSTS lists further hosts.",
        {"detail": "Host 'example.org' is not allowed; add it to GLOSSATOR_ALLOWED_HOSTS."},
    ),
    "422": (
        "Refused",
        "The request is invalid. `errors` lists the wrong fields.",
        {
            "detail": "seconds: Input should be greater than or equal to 0.",
            "errors": [{"where": ["body", "seconds"], "what": "Input should be greater than or equal to 0"}],
        },
    ),
    "429": (
        "TooMany",
        "Too many attempts; the header Retry-After gives the seconds to wait.",
        {"detail": "Too many wrong passwords. Try again in 30 seconds."},
    ),
    "431": (
        "HeadTooLarge",
        "The request header is larger than allowed.",
        {"detail": "The request header is larger than the 64 KB allowed. Send less."},
    ),
    "500": (
        "FileMissing",
        "A stored file is missing from the disk; its database row exists.",
        {"detail": "The file 9f2c1c7a5d0e... is missing from /data/blobs."},
    ),
    "503": (
        "Unavailable",
        "The database does not respond, or all connections are in use; Retry-After gives the seconds to wait.",
        {"detail": "The server's database does not respond. Try again in a moment; if it fails, tell the admin."},
    ),
    "507": (
        "DiskFull",
        "The server's disk is full; the header Retry-After gives the seconds to wait.",
        {"detail": "The server's disk is full; nothing was saved. Ask the administrator to free disk space."},
    ),
}
WITH_RETRY_AFTER = ("429", "503", "507")

PROBLEM = {
    "type": "object",
    "title": "Problem",
    "description": "Reason for a failed request.",
    "required": ["detail"],
    "properties": {
        "detail": {"type": "string", "description": "The error and the action to take, in plain English."},
        "errors": {
            "type": "array",
            "description": "The wrong fields, for programs.",
            "items": {
                "type": "object",
                "properties": {
                    "where": {"type": "array", "items": {"type": "string"}},
                    "what": {"type": "string"},
                },
            },
        },
        "current": {"type": "object", "description": "With 409: the newest version, as its route returns it."},
    },
}

ROLES = {
    "reviewer": "Only reviewers and admins of the project can do this.",
    "admin": "Only admins of the project can do this.",
    "owner": "Only admins of the installation can do this.",
}
ELSEWHERE = "The request comes from another site, or from a browser that sends no Origin header."

_MOVED_ON = "The answer has changed since `base`; `current` holds the newest version."
_OTHER_USER = "Nobody is logged in, or the user is not the one in X-Glossator-User."
_FILE = "The page image or the model's checkpoint is missing from the disk."
_EXTRACTIONS = "The user has asked too often, or too many papers wait; Retry-After gives the seconds to wait."
_CODES = "Too many wrong codes; Retry-After gives the seconds to wait."
_REPORTS = "Eight reports are running; Retry-After gives the seconds to wait."
_LARGE = "Too many large masks are being saved; Retry-After gives the seconds to wait."
_WORK = "The answer belongs to another user; only reviewers and admins can change it."

# Statuses that the engine raises for one route: "METHOD path": {status: cause}.
CAUSES: dict[str, dict[str, str]] = {
    "GET /api/changes": {
        "429": "The user, or the server, has too many streams; Retry-After gives the seconds to wait."
    },
    # people
    "PUT /api/me/password": {
        "403": "The current password is wrong.",
        "429": "Too many wrong passwords; Retry-After gives the seconds to wait.",
    },
    "POST /api/me/second-factor": {
        "403": "The password is wrong.",
        "409": "The user has a second factor.",
        "429": "Too many wrong passwords; Retry-After gives the seconds to wait.",
    },
    "POST /api/me/second-factor/confirmation": {
        "403": "The code is wrong, or was used already.",
        "404": "Nothing waits for a code.",
        "429": _CODES,
    },
    "POST /api/me/second-factor/recovery-codes": {
        "403": "The code is wrong, or was used already.",
        "404": "The user has no second factor.",
        "429": _CODES,
    },
    "POST /api/me/second-factor/removal": {
        "403": "The code is wrong, or was used already.",
        "404": "The user has no second factor.",
        "429": _CODES,
    },
    "POST /api/users": {"409": "The name, or a confusingly similar one, is taken."},
    "POST /api/projects/{project_id}/bin/restore": {
        "409": "The project has the same file again, two of them are the same file, or one is being deleted."
    },
    "POST /api/projects/{project_id}/removed-questions/restore": {
        "409": "Another field has the name of one of them, or one is being deleted."
    },
    "POST /api/removed-projects": {
        "404": "There is no such project.",
        "409": "Jobs of the project have not ended, or something of it is being frozen.",
    },
    "POST /api/removed-projects/{removed_id}/restore": {
        "404": "There is no such project.",
        "409": "Another project has the name now, or the project is being deleted.",
    },
    "POST /api/removed-projects/{removed_id}/delete": {"404": "There is no such project in the bin."},
    "POST /api/projects/{project_id}/transfers": {"409": "Somebody changes the fields of the other project."},
    "POST /api/projects/{project_id}/transfers/{job_id}/undo": {
        "409": "The documents are still being moved.",
        "422": "The transfer was a copy. Remove the copies instead.",
    },
    "POST /api/projects/{project_id}/webhooks": {"409": "The project has 100 webhooks."},
    "POST /api/projects/{project_id}/proposer/requests": {
        "409": "The project asks no other model; or the open job is being stopped, or has 20 further requests to do."
    },
    "POST /api/webhooks/{webhook_id}/test": {"409": "The webhook is switched off."},
    "POST /api/webhook-deliveries/{delivery_id}/send": {
        "409": "The delivery is being sent, its content was deleted, or its webhook is switched off."
    },
    "PUT /api/projects/{project_id}/members/{user_id}": {"409": "The project would be left without an admin."},
    "DELETE /api/projects/{project_id}/members/{user_id}": {
        "403": "Only admins of the project can remove other members.",
        "409": "The project would be left without an admin.",
    },
    "DELETE /api/invitations/{invitation_id}": {"409": "The invitation has been used."},
    # projects and documents
    "POST /api/projects": {"409": "The name is taken."},
    "PATCH /api/projects/{project_id}": {"409": "The name is taken, or is no longer `before`."},
    "PATCH /api/documents/{document_id}": {"409": "The name is no longer `before`: somebody else renamed it."},
    "POST /api/projects/{project_id}/documents": {
        "422": "None of the files can be read; `refused` holds a sentence for each. Or more than 50 files were sent.",
        "429": "Too many files, in total or of this user, are being read; Retry-After gives the seconds to wait.",
    },
    "POST /api/projects/{project_id}/extract": {
        "422": "The file cannot be read, the schema is none, or the project has no fields.",
        "429": _EXTRACTIONS,
    },
    "POST /api/documents/{document_id}/extract": {"429": _EXTRACTIONS},
    "POST /api/documents/{document_id}/predictions": {
        "429": "Too many requests of predictions, in total or of this user, are at work; Retry-After gives the seconds "
        "to wait."
    },
    "POST /api/documents/{document_id}/reading/stop": {"409": "The document is not being read."},
    "POST /api/documents/{document_id}/reading/resume": {"409": "The reading of the document was not stopped."},
    "GET /api/pages/{page_id}/image": {"500": "The image is missing from the disk; its database row exists."},
    "GET /api/pages/{page_id}/thumbnail": {
        "429": "Too many thumbnails are waiting; Retry-After gives the seconds to wait.",
        "500": "The image is missing from the disk; its database row exists.",
    },
    "POST /api/pages/{page_id}/turn": {
        "403": "People answer the document without seeing each other's answers, and the caller is no reviewer.",
        "409": "Answers mark the page, or its image is no longer the one named.",
    },
    "PUT /api/pages/{page_id}/words": {
        "409": "The words have changed since `base`; `current` holds the newest version.",
        "401": _OTHER_USER,
    },
    # answers
    "POST /api/documents/{document_id}/ask": {"500": _FILE},
    "POST /api/documents/{document_id}/form": {"500": _FILE},
    "POST /api/documents/{document_id}/form/accept": {"401": _OTHER_USER},
    "POST /api/documents/{document_id}/form/reopen": {"401": _OTHER_USER},
    "POST /api/annotations/{annotation_id}/ask-more": {"403": _WORK, "500": _FILE},
    "POST /api/annotations/{annotation_id}/table": {"403": _WORK, "500": _FILE},
    "POST /api/annotations/{annotation_id}/refine": {"403": _WORK, "500": _FILE},
    "PUT /api/annotations/{annotation_id}/revisions": {
        "401": _OTHER_USER,
        "403": _WORK,
        "409": _MOVED_ON,
        "429": _LARGE,
    },
    "DELETE /api/annotations/{annotation_id}": {
        "401": _OTHER_USER,
        "403": f"{_WORK} Only they can remove a submitted answer that is compared with other people's.",
        "409": _MOVED_ON,
        "422": "The answer is the known answer of a gold question. Otherwise `base` is missing or wrong.",
    },
    "POST /api/annotations/{annotation_id}/restore": {
        "401": _OTHER_USER,
        "403": _WORK,
        "409": "Its author has answered the question again since.",
    },
    "POST /api/annotations/{annotation_id}/reviews": {
        "401": _OTHER_USER,
        "409": _MOVED_ON,
        "429": _LARGE,
    },
    "POST /api/annotations/{annotation_id}/review/heartbeat": {
        "409": "Another user is reviewing the answer; the sentence names them."
    },
    # the queue
    "POST /api/tasks/{task_id}/heartbeat": {
        "409": "The lease has passed to another user, or the question was removed; the sentence says which."
    },
    "PUT /api/tasks/{task_id}/skip": {
        "409": "The user has answered the task, or the question was removed; the sentence says which.",
        "422": "The reason `other` has no note.",
    },
    "DELETE /api/tasks/{task_id}/skip": {"409": "The user has not skipped the task, or a reviewer has decided."},
    "POST /api/tasks/{task_id}/skip/verdict": {"409": "No skip of the task waits for a decision."},
    "PUT /api/projects/{project_id}/fields": {"409": "The stored list is no longer `before`; nothing was changed."},
    "POST /api/projects/{project_id}/fields/preview": {"409": "A field with an `id` is not in the project."},
    "POST /api/projects/{project_id}/fields/file": {
        "422": "The file is no list of fields, or has anchors or aliases; a sentence for each problem, a line each."
    },
    "PUT /api/projects/{project_id}/standard-questions": {
        "409": "The stored list differs from `before`; the sentence lists added and removed questions."
    },
    # selection
    "PUT /api/projects/{project_id}/stage": {
        "409": "The project is already at this stage.",
        "422": "For automatic: the measured precision does not reach the target. Otherwise a field is wrong.",
    },
    # learning
    "POST /api/projects/{project_id}/models/{version_id}/promote": {
        "409": "The version is already the champion, or the champion has changed since the verdict.",
        "422": "The version failed the gate and `force` is not set, or its checkpoint is gone. Else a field is wrong.",
    },
    "DELETE /api/projects/{project_id}/models/{version_id}": {
        "404": "The project has no such model, or its weights are deleted already.",
        "409": "The model is in use, a rollback would return to it, all projects begin with it, another model shares "
        "its weights, a retraining has not ended, or a backup copies the files. The sentence says which.",
    },
    "POST /api/projects/{project_id}/rollback": {
        "422": "There is no previous champion, or its checkpoint is missing. Otherwise a field is wrong."
    },
    "POST /api/jobs/{job_id}/cancel": {"409": "The job has ended."},
    "POST /api/jobs/{job_id}/retry": {"409": "The job has neither failed nor been given up."},
    "GET /api/runs/{run_id}/changes": {
        "429": _REPORTS,
        "500": "The stored answers of the run are missing from the disk.",
    },
    "GET /api/projects/{project_id}/figures": {"429": _REPORTS},
    "GET /api/projects/{project_id}/agreement": {"429": _REPORTS},
    # exports and imports
    "GET /api/projects/{project_id}/export": {
        "422": "No answer matches the filters, or a filter or the format is wrong.",
        "429": "Too many exports are waiting; Retry-After gives the seconds to wait.",
        "500": "A page image is missing from the disk, or the export failed in every attempt.",
    },
    "POST /api/projects/{project_id}/exports": {
        "422": "A filter or the format is wrong. If no answer matches, the job says so.",
        "429": "Too many exports are waiting; Retry-After gives the seconds to wait.",
    },
    "GET /api/projects/{project_id}/exports/{export_id}/file": {
        "404": "The project has no such export, it is not done, or its file is not kept any more.",
    },
    "DELETE /api/projects/{project_id}/exports/{export_id}": {
        "404": "The project has no such export, or its file is deleted already.",
        "409": "The export has not ended. Stop it instead.",
    },
    "DELETE /api/projects/{project_id}/snapshots/{snapshot_id}": {
        "404": "The project has no such snapshot.",
        "409": "A run or a model learned from the snapshot, an export or a retraining that has not ended may need it, "
        "answers are being frozen, or a backup copies the files. The sentence says which.",
        "422": "Several snapshots begin so, or fewer than 12 digits were given.",
    },
    "POST /api/projects/{project_id}/import": {
        "409": "An answer of the dataset was changed here during the import.",
        "422": "The dataset or a field is wrong; the sentence names file and entry. Nothing was stored.",
        "429": "Too many imports are waiting; Retry-After gives the seconds to wait.",
    },
}


def failures_of(method: str, path: str, operation: Mapping[str, Any], role: str | None) -> dict[str, str | None]:
    """Return the error statuses of an operation with their causes.

    Args:
        method: HTTP method, upper case.
        path: path with parameters in braces.
        operation: the operation in the OpenAPI document.
        role: role that the route requires, a key of `ROLES`, or None.

    Returns:
        Cause by status, in order; None where the shared description applies.
    """
    own = CAUSES.get(f"{method} {path}", {})
    failures: dict[str, str | None] = {"408": None, "421": None, "431": None, "503": None}
    if path not in OPEN:
        failures |= {"401": None, "403": None}  # 403: token with too narrow a scope
    if "{" in path:
        failures["404"] = None
    if role in ROLES:
        failures["403"] = ROLES[role]
    if "422" in operation["responses"]:  # FastAPI adds it to routes with parameters
        failures["422"] = None
    if "requestBody" in operation:
        failures |= {"400": None, "413": None, "422": None}
    if method in WRITES:
        failures |= {"403": failures.get("403"), "413": None, "507": None}
    failures |= own
    if method in WRITES:
        failures["403"] = f"{failures['403']} Or: {ELSEWHERE}" if failures["403"] else ELSEWHERE
    return dict(sorted(failures.items()))
