"""Access to what a route's path names: every router depends on `MEMBERS`, single routes on more.

The ids in a path carry fixed names (engine.access.NAMES), so that no route can forget to ask whose they are, and whether
the person is to see them yet.
"""

from collections.abc import Callable

from fastapi import Depends, Request

from annotator.deps import required_user, workspace_of
from db.tables.people import Role
from engine import access


def _needs(role: Role) -> Callable[[Request], None]:
    def check(request: Request) -> None:
        ids = {name: key for name, key in request.path_params.items() if name in access.NAMES}
        user = required_user(request)
        if ids:
            with workspace_of(request).database.read() as session:
                access.check(session, user, ids, role)
        elif role != "annotator":
            raise RuntimeError(
                f"{request.url.path} names nothing whose project could be asked; depend on CurrentAdmin."
            )

    return check


check_member, check_reviewer = _needs("annotator"), _needs("reviewer")  # for routes that ask before they read the body
MEMBERS = Depends(check_member)
REVIEWERS = Depends(check_reviewer)
ADMINS = Depends(_needs("admin"))
