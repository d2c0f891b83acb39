"""Scopes of tokens: each route states the narrowest scope that may request it, and LoginGate checks it first.

A scope restricts the rights of its user and never extends them; routes still check the user's role. A route that states
none needs the scope admin. So a new route is closed to narrower tokens until it opens itself. What narrower scopes do
not include: logins, users, invitations, and audit trails, which contain addresses.
"""

import re
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from fastapi import FastAPI
from fastapi.routing import iter_route_contexts
from starlette.routing import BaseRoute

from db.tables.people import Scope

# Scopes of tokens that may request a route which states the scope.
_COVERED_BY: dict[Scope, frozenset[Scope]] = {
    "read": frozenset({"read", "annotate", "admin"}),
    "extract": frozenset({"extract", "annotate", "admin"}),
    "annotate": frozenset({"annotate", "admin"}),
    "admin": frozenset({"admin"}),
}
_STATED = "token_scope"
_BY_FASTAPI = frozenset({("GET", "/api/openapi.json")})  # its function cannot state a scope; it may be read
Endpoint = TypeVar("Endpoint", bound=Callable[..., Any])


def needs_scope(scope: Scope) -> Callable[[Endpoint], Endpoint]:
    """State the narrowest scope that may request a route; stands below the route's own decorator.

    Args:
        scope: read: reads annotation data; extract: gets values out of papers; annotate: both, and changes annotation
            data, and reviews when the user is a reviewer.
    """

    def state(endpoint: Endpoint) -> Endpoint:
        setattr(endpoint, _STATED, scope)
        return endpoint

    return state


class ScopeTable:
    """Narrowest scope of each route of an application."""

    def __init__(self, routes: Sequence[BaseRoute]) -> None:
        """Read what the routes state.

        Args:
            routes: routes of the application, all of them.
        """
        self._scopes: list[Scope] = []
        patterns = []
        for context in iter_route_contexts(routes):
            for method in getattr(context, "methods", None) or ():
                endpoint = getattr(context.original_route, "endpoint", None)
                self._scopes.append(
                    "read" if (method, context.path) in _BY_FASTAPI else getattr(endpoint, _STATED, "admin")
                )
                patterns.append(_pattern(f"{method} {context.path}"))
        # One pattern with a group for each route, in their order: the route that answers decides.
        self._pattern = re.compile("|".join(patterns))

    def needed(self, method: str, path: str) -> Scope:
        """Return the narrowest scope that may request a path.

        Args:
            method: HTTP method; HEAD needs what GET needs.
            path: path of a request, or of a route with its names in braces.
        """
        line = f"{'GET' if method == 'HEAD' else method} {path}"
        match = self._pattern.fullmatch(line)
        return self._scopes[match.lastindex - 1] if match and match.lastindex else "admin"

    def refusal(self, scope: Scope | None, method: str, path: str) -> str | None:
        """Return the reason why a scope does not cover a request.

        Args:
            scope: scope of the token; None for browsers, which have all rights of their user.
            method: HTTP method.
            path: path of the request.

        Returns:
            One sentence, or None when the request is allowed.
        """
        wanted = self.needed(method, path)
        if scope is None or scope in _COVERED_BY[wanted]:
            return None
        return f"The token's scope is {scope}; this request needs the scope {wanted}. Use another token."


def scopes_of(app: FastAPI) -> ScopeTable:
    """Return the scopes of an application's routes; read at the first request, when all routes are there."""
    if not hasattr(app.state, "scopes"):
        app.state.scopes = ScopeTable(app.routes)
    scopes: ScopeTable = app.state.scopes
    return scopes


def _pattern(line: str) -> str:
    return "(" + re.sub(r"\\{[^/]*?\\}", "[^/]+", re.escape(line)) + ")"
