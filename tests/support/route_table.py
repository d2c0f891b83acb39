"""Every route, in one table: who may ask for it, with which scope of a token, and a body that its checks let through.

To add a route, add its row: the role that it needs, its scope where it is not "admin", and a body where an empty one
would be refused before the check of access.
"""

from dataclasses import dataclass, field
from typing import Any

from db.tables.people import Scope

# What one must be. Whoever is less gets 401 (nobody), 404 (no member: the project does not exist for them) or 403.
ANYBODY, USER, MEMBER, REVIEWER, ADMIN, OWNER, CLOSED = range(7)  # OWNER: admin of the whole installation


@dataclass(frozen=True)
class Row:
    """Access that a route needs.

    `scope`: narrowest scope of a token, where tokens may come. `nobody`: status for strangers. `missing`: its ids do
    not exist, for anybody.
    """

    needed: int
    scope: Scope = "admin"
    body: Any = None
    nobody: int = 401
    missing: bool = False
    query: str = ""
    more: dict[str, Any] = field(default_factory=dict)


EDIT = {"idempotency_key": "access-" + "0" * 9, "base": 1, "edits": []}
FORM = {"idempotency_key": "access-" + "0" * 9, "answers": [{"annotation_id": "0" * 32, "base": 0}]}
PREDICTIONS = {"model": "other", "predictions": [{"question": "What is printed?", "text": "nothing of it"}]}
TRANSFER = {"documents": ["0" * 32], "to": "0" * 32, "move": False}
WITHOUT_POINTS = {"page_id": "{page_id}", "points": [[-1, -1, True]]}

ROUTES: dict[str, Row] = {
    # --- the doors
    "GET /": Row(ANYBODY),
    "GET /favicon.ico": Row(ANYBODY),
    "GET /login": Row(ANYBODY),
    "POST /login": Row(ANYBODY),
    "POST /logout": Row(ANYBODY),
    "GET /sign-in": Row(ANYBODY),
    "GET /sign-in/callback": Row(ANYBODY),
    "GET /login/code": Row(ANYBODY),
    "POST /login/code": Row(ANYBODY),
    "GET /login/second-factor": Row(ANYBODY),
    "POST /login/second-factor": Row(ANYBODY),
    "GET /invite/{token}": Row(ANYBODY),
    "POST /invite/{token}": Row(ANYBODY),
    "GET /static/{path:path}": Row(ANYBODY),
    "GET /source": Row(ANYBODY),
    "GET /source/weights/{path:path}": Row(ANYBODY, missing=True),
    "GET /api/health": Row(ANYBODY),
    "GET /api/health/live": Row(ANYBODY),
    "GET /api/health/ready": Row(ANYBODY),
    "GET /api/metrics": Row(OWNER),
    "GET /api/docs": Row(USER, "read", nobody=303),
    "GET /api/openapi.json": Row(USER, "read"),
    # --- oneself
    "GET /api/changes": Row(USER, "read"),
    "GET /api/changes/since": Row(USER, "read"),
    "GET /api/me": Row(USER, "read"),
    "GET /api/me/preferences": Row(USER, "read"),
    "PUT /api/me/preferences": Row(USER, body={"theme": "dark"}),
    "GET /api/me/sessions": Row(USER),
    "DELETE /api/me/sessions": Row(USER),
    "DELETE /api/me/sessions/{session_id}": Row(USER),
    "POST /api/me/tokens": Row(USER, body={"purpose": "tests"}),
    "PUT /api/me/password": Row(USER, body={"old": "x"}),
    "GET /api/me/second-factor": Row(USER),
    "POST /api/me/second-factor": Row(USER, body={"password": "x"}),
    "POST /api/me/second-factor/confirmation": Row(USER, body={"code": "000000"}, missing=True),
    "POST /api/me/second-factor/recovery-codes": Row(USER, body={"code": "000000"}, missing=True),
    "POST /api/me/second-factor/removal": Row(USER, body={"code": "000000"}, missing=True),
    # --- users
    "GET /api/users": Row(OWNER),
    "POST /api/users": Row(OWNER),
    "PATCH /api/users/{user_id}": Row(OWNER, body={}),
    "PUT /api/users/{user_id}/password": Row(OWNER),
    "POST /api/users/{user_id}/erase": Row(OWNER),
    "DELETE /api/users/{user_id}/second-factor": Row(OWNER, missing=True),
    "GET /api/users/{user_id}/sessions": Row(OWNER),
    "GET /api/users/{user_id}/quota": Row(OWNER),
    "PUT /api/users/{user_id}/quota": Row(OWNER, body={"documents": 5}),
    "GET /api/projects/{project_id}/quota": Row(MEMBER, "read"),
    "PUT /api/projects/{project_id}/quota": Row(OWNER, body={"documents": 500}),
    "DELETE /api/users/{user_id}/sessions": Row(OWNER),
    "GET /api/audit": Row(OWNER),
    # --- projects and members
    "GET /api/projects": Row(USER, "read"),
    "POST /api/projects": Row(OWNER, body={"name": "one of {person}"}),
    "PATCH /api/projects/{project_id}": Row(ADMIN, body={"name": "a name of {person}"}),
    "POST /api/projects/{project_id}/archive": Row(ADMIN),
    "POST /api/projects/{project_id}/unarchive": Row(ADMIN),
    "PATCH /api/projects/{project_id}/settings": Row(ADMIN, body={}),
    "GET /api/projects/{project_id}/next": Row(MEMBER, "read"),
    "GET /api/projects/{project_id}/members": Row(MEMBER, "read"),
    "PUT /api/projects/{project_id}/members/{user_id}": Row(ADMIN, body={"role": "reviewer"}),
    "DELETE /api/projects/{project_id}/members/{user_id}": Row(ADMIN),
    "GET /api/projects/{project_id}/invitations": Row(ADMIN),
    "POST /api/projects/{project_id}/invitations": Row(ADMIN, body={"role": "annotator"}),
    "DELETE /api/invitations/{invitation_id}": Row(ADMIN),
    "GET /api/projects/{project_id}/audit": Row(ADMIN),
    # --- bin
    "GET /api/removed-projects": Row(OWNER),
    "POST /api/removed-projects": Row(OWNER, body={"id": "0" * 32}, missing=True),
    "POST /api/removed-projects/{removed_id}/restore": Row(OWNER, body={}),
    "POST /api/removed-projects/{removed_id}/delete": Row(OWNER),
    "POST /api/projects/{project_id}/documents/remove": Row(ADMIN, body={"documents": ["0" * 32]}, missing=True),
    "POST /api/projects/{project_id}/transfers/preview": Row(REVIEWER, body=TRANSFER, missing=True),
    "POST /api/projects/{project_id}/transfers": Row(REVIEWER, body=TRANSFER, missing=True),
    "GET /api/projects/{project_id}/transfers/{job_id}": Row(REVIEWER, missing=True),
    "POST /api/projects/{project_id}/transfers/{job_id}/undo": Row(ADMIN, missing=True),
    "GET /api/projects/{project_id}/bin": Row(ADMIN),
    "GET /api/projects/{project_id}/traces": Row(ADMIN, query="?document=" + "0" * 32, missing=True),
    "POST /api/projects/{project_id}/bin/restore": Row(ADMIN, body={"documents": ["0" * 32]}, missing=True),
    "POST /api/projects/{project_id}/bin/empty": Row(ADMIN, body={"documents": ["0" * 32]}),
    "GET /api/projects/{project_id}/questions/{question_id}/holdings": Row(ADMIN),
    "POST /api/projects/{project_id}/questions/remove": Row(ADMIN, body={"questions": ["0" * 32]}, missing=True),
    "GET /api/projects/{project_id}/removed-questions": Row(ADMIN),
    "POST /api/projects/{project_id}/removed-questions/restore": Row(
        ADMIN, body={"questions": ["0" * 32]}, missing=True
    ),
    "POST /api/projects/{project_id}/removed-questions/delete": Row(ADMIN, body={"questions": ["0" * 32]}),
    # --- webhooks
    "GET /api/projects/{project_id}/webhooks": Row(REVIEWER),
    "POST /api/projects/{project_id}/webhooks": Row(
        REVIEWER, body={"url": "https://webhooks.invalid/", "events": ["document.ready"]}
    ),
    "PATCH /api/webhooks/{webhook_id}": Row(REVIEWER, body={}),
    "DELETE /api/webhooks/{webhook_id}": Row(REVIEWER),
    "POST /api/webhooks/{webhook_id}/secret": Row(REVIEWER),
    "POST /api/webhooks/{webhook_id}/test": Row(REVIEWER),
    "GET /api/projects/{project_id}/webhook-deliveries": Row(REVIEWER),
    # --- another model
    "GET /api/projects/{project_id}/proposer": Row(REVIEWER),
    "PUT /api/projects/{project_id}/proposer": Row(
        ADMIN, body={"kind": "http", "url": "http://127.0.0.1:9/", "model": "reader"}
    ),
    "DELETE /api/projects/{project_id}/proposer": Row(ADMIN),
    "POST /api/projects/{project_id}/proposer/requests": Row(REVIEWER, body={}),
    "POST /api/webhook-deliveries/{delivery_id}/send": Row(REVIEWER),
    "GET /api/projects/{project_id}/callback-secret": Row(REVIEWER),
    "POST /api/projects/{project_id}/callback-secret": Row(REVIEWER),
    # --- documents and pages
    "GET /api/projects/{project_id}/documents": Row(MEMBER, "read"),
    "POST /api/projects/{project_id}/documents": Row(MEMBER, "annotate"),
    "GET /api/documents/{document_id}": Row(MEMBER, "read"),
    "PATCH /api/documents/{document_id}": Row(REVIEWER, "annotate", body={"name": "another name"}),
    "GET /api/documents/{document_id}/issuer": Row(MEMBER, "read"),
    "GET /api/documents/{document_id}/original": Row(MEMBER, "read"),
    "GET /api/documents/{document_id}/marked.pdf": Row(MEMBER, "read"),
    "POST /api/documents/{document_id}/reading/stop": Row(MEMBER, "annotate"),
    "POST /api/documents/{document_id}/read-again": Row(REVIEWER, "annotate"),
    "POST /api/pages/{page_id}/turn": Row(MEMBER, "annotate", {"degrees": 90}),
    "POST /api/pages/{page_id}/read-again": Row(REVIEWER, "annotate"),
    "POST /api/documents/{document_id}/reading/resume": Row(MEMBER, "annotate"),
    "GET /api/pages/{page_id}/image": Row(MEMBER, "read"),
    "GET /api/pages/{page_id}/thumbnail": Row(MEMBER, "read"),
    "GET /api/pages/{page_id}/words": Row(MEMBER, "read"),
    "PUT /api/pages/{page_id}/words": Row(MEMBER, "annotate"),
    "POST /api/pages/{page_id}/encode": Row(MEMBER, "annotate"),
    # --- values for programs
    "POST /api/projects/{project_id}/extract": Row(MEMBER, "extract"),
    "POST /api/documents/{document_id}/extract": Row(MEMBER, "extract", body={}),
    # --- annotations: of another annotator, so that only reviewers may change it
    "POST /api/documents/{document_id}/ask": Row(MEMBER, "annotate"),
    "POST /api/documents/{document_id}/predictions": Row(REVIEWER, "annotate", body=PREDICTIONS),
    "GET /api/documents/{document_id}/form": Row(MEMBER, "read"),
    "POST /api/documents/{document_id}/form": Row(MEMBER, "annotate", body={}),
    "POST /api/documents/{document_id}/form/upcoming": Row(MEMBER, "annotate"),
    "POST /api/documents/{document_id}/form/accept": Row(MEMBER, "annotate", body=FORM),
    "POST /api/documents/{document_id}/form/reopen": Row(MEMBER, "annotate", body=FORM),
    "GET /api/annotations/{annotation_id}": Row(MEMBER, "read"),
    "POST /api/annotations/{annotation_id}/restore": Row(REVIEWER, "annotate"),
    "DELETE /api/annotations/{annotation_id}": Row(REVIEWER, "annotate", query="?base=0"),  # 409: it is at revision 1
    "GET /api/documents/{document_id}/removed-answers": Row(MEMBER, "read"),
    "POST /api/annotations/{annotation_id}/refine": Row(REVIEWER, "annotate", body=WITHOUT_POINTS),
    "POST /api/annotations/{annotation_id}/table": Row(REVIEWER, "annotate", body={"rows": []}),
    "POST /api/annotations/{annotation_id}/ask-more": Row(REVIEWER, "annotate", body={"pages": 1}),
    "PUT /api/annotations/{annotation_id}/revisions": Row(REVIEWER, "annotate", body=EDIT),
    "GET /api/annotations/{annotation_id}/revisions": Row(MEMBER, "read"),
    "GET /api/annotations/{annotation_id}/reviews": Row(MEMBER, "read"),
    "POST /api/annotations/{annotation_id}/reviews": Row(REVIEWER, "annotate"),
    "POST /api/annotations/{annotation_id}/review/heartbeat": Row(REVIEWER, "annotate"),
    "POST /api/annotations/{annotation_id}/review/release": Row(REVIEWER, "annotate"),
    # --- standard questions, the queue, reviews, figures
    "GET /api/projects/{project_id}/questions": Row(MEMBER, "read"),
    "GET /api/projects/{project_id}/asked-questions": Row(MEMBER, "read"),
    "GET /api/projects/{project_id}/standard-questions": Row(MEMBER, "read"),
    "PUT /api/projects/{project_id}/standard-questions": Row(REVIEWER),
    "GET /api/field-sets": Row(USER, "read"),
    "POST /api/projects/{project_id}/conventions": Row(MEMBER, "annotate"),
    "GET /api/projects/{project_id}/fields": Row(MEMBER, "read"),
    "PUT /api/projects/{project_id}/fields": Row(REVIEWER),
    "POST /api/projects/{project_id}/fields/preview": Row(REVIEWER),
    "GET /api/projects/{project_id}/fields/file": Row(MEMBER, "read"),
    "POST /api/projects/{project_id}/fields/file": Row(REVIEWER),
    "GET /api/projects/{project_id}/fields/{field_id}/versions": Row(MEMBER, "read"),
    "GET /api/projects/{project_id}/values": Row(REVIEWER, "read"),
    "GET /api/projects/{project_id}/values/export": Row(REVIEWER, "read"),
    "GET /api/projects/{project_id}/values/counts": Row(REVIEWER, "read"),
    "GET /api/projects/{project_id}/task-changes": Row(MEMBER, "read"),
    "GET /api/projects/{project_id}/queue": Row(MEMBER, "read"),
    "POST /api/projects/{project_id}/queue/next": Row(MEMBER, "annotate", body={}),
    "POST /api/projects/{project_id}/queue/upcoming": Row(MEMBER, "annotate", body={"after": "0" * 32}),
    "POST /api/tasks/{task_id}/heartbeat": Row(MEMBER, "annotate"),
    "POST /api/tasks/{task_id}/release": Row(MEMBER, "annotate"),
    "PUT /api/tasks/{task_id}/skip": Row(MEMBER, "annotate", body={"reason": "not_sure"}),
    "DELETE /api/tasks/{task_id}/skip": Row(MEMBER, "annotate"),
    "POST /api/tasks/{task_id}/skip/verdict": Row(REVIEWER, "annotate", body={"verdict": "returned"}),
    "GET /api/projects/{project_id}/skips": Row(REVIEWER, "read"),
    "GET /api/projects/{project_id}/tasks": Row(REVIEWER, "read"),
    "PUT /api/tasks/{task_id}/gold": Row(REVIEWER),
    "GET /api/annotations/{annotation_id}/gold": Row(REVIEWER, "read"),
    "POST /api/projects/{project_id}/review/next": Row(REVIEWER, "annotate", body={}),
    "GET /api/projects/{project_id}/agreement": Row(REVIEWER, "read"),
    "GET /api/projects/{project_id}/figures": Row(MEMBER, "read"),
    # --- what the model says unasked
    "POST /api/projects/{project_id}/survey": Row(REVIEWER),
    "GET /api/projects/{project_id}/label-reviews": Row(REVIEWER, "read"),
    "GET /api/projects/{project_id}/second-looks": Row(REVIEWER, "read"),
    "PUT /api/documents/{document_id}/first": Row(REVIEWER),
    "GET /api/projects/{project_id}/stage": Row(MEMBER, "read"),
    "PUT /api/projects/{project_id}/stage": Row(ADMIN, body={"stage": "semi_automatic"}),
    "GET /api/projects/{project_id}/automatic-answers": Row(REVIEWER, "read"),
    "POST /api/projects/{project_id}/automatic-answers/undo": Row(ADMIN),
    # --- learning
    "GET /api/projects/{project_id}/models": Row(MEMBER, "read"),
    "POST /api/projects/{project_id}/models/{version_id}/promote": Row(ADMIN, body={}),
    "DELETE /api/projects/{project_id}/models/{version_id}": Row(ADMIN),
    "POST /api/projects/{project_id}/rollback": Row(ADMIN, body={}),
    "GET /api/projects/{project_id}/runs": Row(MEMBER, "read"),
    "GET /api/runs/{run_id}": Row(MEMBER, "read"),
    "GET /api/runs/{run_id}/changes": Row(REVIEWER, "read"),
    "POST /api/projects/{project_id}/retrain": Row(REVIEWER),
    "GET /api/projects/{project_id}/jobs": Row(MEMBER, "read"),
    "POST /api/jobs/{job_id}/cancel": Row(ADMIN),
    "POST /api/jobs/{job_id}/retry": Row(ADMIN),
    "GET /api/projects/{project_id}/triggers": Row(REVIEWER, "read"),
    "GET /api/projects/{project_id}/export": Row(REVIEWER, "read"),
    "POST /api/projects/{project_id}/exports": Row(REVIEWER, "read"),
    "GET /api/projects/{project_id}/exports": Row(REVIEWER, "read"),
    "POST /api/projects/{project_id}/exports/{export_id}/stop": Row(REVIEWER, missing=True),  # it has ended
    "GET /api/projects/{project_id}/exports/{export_id}/file": Row(REVIEWER, "read"),
    "DELETE /api/projects/{project_id}/exports/{export_id}": Row(REVIEWER),
    "GET /api/projects/{project_id}/snapshots": Row(REVIEWER, "read"),
    "DELETE /api/projects/{project_id}/snapshots/{snapshot_id}": Row(ADMIN),
    "POST /api/projects/{project_id}/import": Row(REVIEWER),
    "GET /api/projects/{project_id}/imports": Row(REVIEWER, "read"),
    "POST /api/projects/{project_id}/imports/{import_id}/stop": Row(REVIEWER),
    "GET /api/projects/{project_id}/export-formats": Row(REVIEWER, "read"),
    # --- Gradio: the page, its events, and its own files; everything else that it brings along is closed
    "GET /app/": Row(USER, nobody=303),
    "HEAD /app/": Row(USER, nobody=303),
    "GET /app/config": Row(USER),
    "GET /app/theme.css": Row(USER),
    "POST /app/gradio_api/queue/join": Row(USER),
    "GET /app/gradio_api/queue/data": Row(USER, query="?session_hash=none"),
    "GET /app/gradio_api/heartbeat/{session_hash}": Row(USER),
    "GET /app/assets/{path:path}": Row(ANYBODY, missing=True),
    "GET /app/static/{path:path}": Row(ANYBODY, missing=True),
}
