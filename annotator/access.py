"""Access control of the routes: every router depends on `MEMBERS`, some routes on a higher role.

The ids in a path carry fixed names (engine.accounts.permissions.NAMES). So every route checks the project of each id,
and whether the user may see it yet. Routes that do not only read are refused in archived projects, unless they are
marked by `while_archived`.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

from fastapi import Depends, Request
from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute, iter_route_contexts
from starlette.routing import BaseRoute

from annotator.deps import required_admin, required_user, workspace_of
from db.tables.people import ROLES, Role
from engine.accounts import permissions

_READING = frozenset({"GET", "HEAD"})
_WHILE_ARCHIVED = "while_archived"
_Endpoint = TypeVar("_Endpoint", bound=Callable[..., Any])
OWNER = "owner"  # an admin of the whole installation
_ASKS_FOR: dict[Callable[..., Any], str] = {required_admin: OWNER}


def while_archived(endpoint: _Endpoint) -> _Endpoint:
    """Let a route that does not only read be used in archived projects too; stands below the route's own decorator.

    It changes nothing in fact, or who may see the project, or it deletes what must not be there any longer.
    """
    setattr(endpoint, _WHILE_ARCHIVED, True)
    return endpoint


def _changes(request: Request) -> bool:
    return request.method not in _READING and not getattr(request.scope.get("endpoint"), _WHILE_ARCHIVED, False)


def _needs(role: Role, *, removed: bool = False) -> Callable[[Request], None]:
    def check(request: Request) -> None:
        ids = {name: key for name, key in request.path_params.items() if name in permissions.NAMES}
        user = required_user(request)
        if ids:
            with workspace_of(request).database.read() as session:
                permissions.check(session, user, ids, role, removed=removed, changes=_changes(request))
        elif role != "annotator":
            raise RuntimeError(f"{request.url.path} names no id of a project; depend on CurrentAdmin instead.")

    _ASKS_FOR[check] = role
    return check


check_member, check_reviewer = _needs("annotator"), _needs("reviewer")  # for routes that check before reading the body
MEMBERS = Depends(check_member)
MEMBERS_AND_REMOVED = Depends(_needs("annotator", removed=True))  # for routes that also take removed answers
REVIEWERS = Depends(check_reviewer)
ADMINS = Depends(_needs("admin"))


def roles_of(routes: Sequence[BaseRoute]) -> dict[tuple[str, str], str]:
    """Return the highest role that each route requires.

    Args:
        routes: routes of the application.

    Returns:
        Role by (method, path); OWNER for admins of the installation.
    """
    lowest_first = [*reversed(ROLES), OWNER]
    roles = {}
    for context in iter_route_contexts(routes):
        route = context.original_route
        if isinstance(route, APIRoute) and context.path is not None:
            asked = {_ASKS_FOR[call] for call in _calls(route.dependant) if call in _ASKS_FOR}
            for method in route.methods or ():
                if asked:
                    roles[method, context.path] = max(asked, key=lowest_first.index)
    return roles


def _calls(dependant: Dependant) -> Iterator[Callable[..., Any] | None]:
    for dependency in dependant.dependencies:
        yield dependency.call
        yield from _calls(dependency)
