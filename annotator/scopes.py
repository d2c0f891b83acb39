"""What a program's token may ask for: the one table that the door asks, in front of every route.

A scope takes from what its person may do and never adds to it; routes ask for the person's role as always. What stands
nowhere here needs the scope admin, so that a new route is closed to narrower tokens until somebody decides.
"""

import re
from functools import cache

from db.tables.people import Scope

# Sees what people work on. Not here: logins, users, invitations, and the audit trails, which name addresses.
READ = frozenset(
    {
        "/api/docs",
        "/api/openapi.json",
        "/api/me",
        "/api/me/preferences",
        "/api/projects",
        "/api/projects/{id}/next",
        "/api/projects/{id}/documents",
        "/api/projects/{id}/members",
        "/api/projects/{id}/questions",
        "/api/projects/{id}/standard-questions",
        "/api/projects/{id}/queue",
        "/api/projects/{id}/tasks",
        "/api/projects/{id}/agreement",
        "/api/projects/{id}/figures",
        "/api/projects/{id}/second-looks",
        "/api/projects/{id}/stage",
        "/api/projects/{id}/automatic-answers",
        "/api/projects/{id}/models",
        "/api/projects/{id}/runs",
        "/api/projects/{id}/jobs",
        "/api/projects/{id}/triggers",
        "/api/projects/{id}/export",
        "/api/projects/{id}/export-formats",
        "/api/projects/{id}/imports",
        "/api/documents/{id}",
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
# Does an annotator's work; where its person is a reviewer, a reviewer's verdicts too.
ANNOTATE = frozenset(
    {
        "POST /api/projects/{id}/documents",
        "PUT /api/pages/{id}/words",
        "POST /api/pages/{id}/encode",
        "POST /api/documents/{id}/ask",
        "POST /api/annotations/{id}/refine",
        "POST /api/annotations/{id}/ask-more",
        "PUT /api/annotations/{id}/revisions",
        "POST /api/projects/{id}/queue/next",
        "POST /api/tasks/{id}/heartbeat",
        "POST /api/tasks/{id}/release",
        "POST /api/projects/{id}/review/next",
        "POST /api/annotations/{id}/review/heartbeat",
        "POST /api/annotations/{id}/review/release",
        "POST /api/annotations/{id}/reviews",
    }
)


def needed(method: str, path: str) -> Scope:
    """Return the least scope that may ask for a path."""
    if method in ("GET", "HEAD") and _pattern(READ).fullmatch(path):
        return "read"
    return "annotate" if _pattern(ANNOTATE).fullmatch(f"{method} {path}") else "admin"


def refusal(scope: Scope | None, method: str, path: str) -> str | None:
    """Return why a token of this scope may not ask for a path, as a sentence; None where it may, and for browsers."""
    wanted = needed(method, path)
    if scope is None or _RANK[scope] >= _RANK[wanted]:
        return None
    return f"The scope of this token is {scope}; this needs a token with the scope {wanted}."


_RANK = {"read": 1, "annotate": 2, "admin": 3}


@cache
def _pattern(routes: frozenset[str]) -> re.Pattern[str]:
    return re.compile("|".join(re.escape(route).replace(r"\{id\}", "[^/]+") for route in sorted(routes)))
