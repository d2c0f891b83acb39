"""Access to what a route's path names: every router depends on `MEMBERS`, single routes on more.

The ids in a path carry fixed names (engine.accounts.permissions.NAMES), so that no route can forget to ask whose they are, and whether
the person is to see them yet.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from fastapi import Depends, Request
from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute, iter_route_contexts
from starlette.routing import BaseRoute

from annotator.deps import required_admin, required_user, workspace_of
from db.tables.people import ROLES, Role
from engine.accounts import permissions

OWNER = "owner"  # an admin of the whole installation
_ASKS_FOR: dict[Callable[..., Any], str] = {required_admin: OWNER}


def _needs(role: Role) -> Callable[[Request], None]:
    def check(request: Request) -> None:
        ids = {name: key for name, key in request.path_params.items() if name in permissions.NAMES}
        user = required_user(request)
        if ids:
            with workspace_of(request).database.read() as session:
                permissions.check(session, user, ids, role)
        elif role != "annotator":
            raise RuntimeError(
                f"{request.url.path} names nothing whose project could be asked; depend on CurrentAdmin."
            )

    _ASKS_FOR[check] = role
    return check


check_member, check_reviewer = _needs("annotator"), _needs("reviewer")  # for routes that ask before they read the body
MEMBERS = Depends(check_member)
REVIEWERS = Depends(check_reviewer)
ADMINS = Depends(_needs("admin"))


def roles_of(routes: Sequence[BaseRoute]) -> dict[tuple[str, str], str]:
    """Return the highest role that each route asks for, by method and path; OWNER for admins of everything."""
    lowest_first = [*reversed(ROLES), OWNER]
    found = {}
    for context in iter_route_contexts(routes):
        route = context.original_route
        if isinstance(route, APIRoute) and context.path is not None:
            asked = {_ASKS_FOR[call] for call in _calls(route.dependant) if call in _ASKS_FOR}
            for method in route.methods or ():
                if asked:
                    found[method, context.path] = max(asked, key=lowest_first.index)
    return found


def _calls(dependant: Dependant) -> Iterator[Callable[..., Any] | None]:
    for each in dependant.dependencies:
        yield each.call
        yield from _calls(each)
