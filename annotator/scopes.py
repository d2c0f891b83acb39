"""Scopes of tokens: the table that LoginGate checks before every route.

A scope restricts the rights of its user and never extends them; routes still check the user's role. Routes not listed
here need the scope admin. So a new route is closed to narrower tokens until it is listed.
"""

import re
from functools import cache

from db.tables.people import Scope

# Reading annotation data. Not included: logins, users, invitations, and audit trails, which contain addresses.
READ = frozenset(
    {
        "/api/docs",
        "/api/openapi.json",
        "/api/changes",
        "/api/changes/since",
        "/api/me",
        "/api/me/preferences",
        "/api/projects",
        "/api/projects/{id}/next",
        "/api/projects/{id}/documents",
        "/api/projects/{id}/members",
        "/api/projects/{id}/questions",
        "/api/projects/{id}/asked-questions",
        "/api/projects/{id}/standard-questions",
        "/api/projects/{id}/queue",
        "/api/projects/{id}/tasks",
        "/api/projects/{id}/task-changes",
        "/api/projects/{id}/agreement",
        "/api/projects/{id}/figures",
        "/api/projects/{id}/label-reviews",
        "/api/projects/{id}/second-looks",
        "/api/projects/{id}/stage",
        "/api/projects/{id}/automatic-answers",
        "/api/projects/{id}/models",
        "/api/projects/{id}/runs",
        "/api/projects/{id}/jobs",
        "/api/projects/{id}/triggers",
        "/api/projects/{id}/export",
        "/api/projects/{id}/export-formats",
        "/api/projects/{id}/exports",
        "/api/projects/{id}/exports/{id}/file",
        "/api/projects/{id}/imports",
        "/api/documents/{id}",
        "/api/documents/{id}/removed-answers",
        "/api/pages/{id}/image",
        "/api/pages/{id}/thumbnail",
        "/api/pages/{id}/words",
        "/api/annotations/{id}",
        "/api/annotations/{id}/revisions",
        "/api/annotations/{id}/reviews",
        "/api/runs/{id}",
        "/api/runs/{id}/changes",
    }
)
# An export only reads, like the GET that does the same at once.
READ_BY_POST = frozenset({"POST /api/projects/{id}/exports"})
# Annotating, and reviewing when the user is a reviewer.
ANNOTATE = frozenset(
    {
        "POST /api/projects/{id}/documents",
        "POST /api/documents/{id}/reading/stop",
        "POST /api/documents/{id}/reading/resume",
        "POST /api/documents/{id}/read-again",
        "POST /api/pages/{id}/read-again",
        "PUT /api/pages/{id}/words",
        "POST /api/pages/{id}/encode",
        "POST /api/documents/{id}/ask",
        "POST /api/annotations/{id}/refine",
        "POST /api/annotations/{id}/ask-more",
        "PUT /api/annotations/{id}/revisions",
        "DELETE /api/annotations/{id}",
        "POST /api/annotations/{id}/restore",
        "POST /api/projects/{id}/queue/next",
        "POST /api/tasks/{id}/heartbeat",
        "POST /api/tasks/{id}/release",
        "POST /api/projects/{id}/review/next",
        "POST /api/annotations/{id}/review/heartbeat",
        "POST /api/annotations/{id}/review/release",
        "POST /api/annotations/{id}/reviews",
    }
)


def needed_scope(method: str, path: str) -> Scope:
    """Return the narrowest scope that may request a path."""
    if method in ("GET", "HEAD") and _pattern(READ).fullmatch(path):
        return "read"
    if _pattern(READ_BY_POST).fullmatch(f"{method} {path}"):
        return "read"
    return "annotate" if _pattern(ANNOTATE).fullmatch(f"{method} {path}") else "admin"


def refusal(scope: Scope | None, method: str, path: str) -> str | None:
    """Return the reason why a scope does not cover a request.

    Args:
        scope: scope of the token; None for browsers, which have all rights of their user.
        method: HTTP method.
        path: path of the request.

    Returns:
        One sentence, or None when the request is allowed.
    """
    wanted = needed_scope(method, path)
    if scope is None or _RANK[scope] >= _RANK[wanted]:
        return None
    return f"The token's scope is {scope}; this request needs the scope {wanted}. Use another token."


_RANK = {"read": 1, "annotate": 2, "admin": 3}


@cache
def _pattern(routes: frozenset[str]) -> re.Pattern[str]:
    return re.compile("|".join(re.escape(route).replace(r"\{id\}", "[^/]+") for route in sorted(routes)))
