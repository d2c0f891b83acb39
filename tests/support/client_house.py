"""A server with people, for tests of the Python client."""

from typing import Any

import httpx

from engine.accounts import tokens, users
from engine.client import Glossator
from engine.workspace import Workspace

PASSWORD = "correct horse battery"


class Gateway:
    """A gateway in front of the application that can lose answers: what was asked is done, and the answer is a 504."""

    def __init__(self, app: Any) -> None:
        self.app = app
        self.losing = 0

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        lost = scope["type"] == "http" and self.losing > 0
        if not lost:
            await self.app(scope, receive, send)
            return
        self.losing -= 1

        async def nowhere(_message: Any) -> None:
            pass

        await self.app(scope, receive, nowhere)
        await send({"type": "http.response.start", "status": 504, "headers": [(b"content-length", b"0")]})
        await send({"type": "http.response.body", "body": b""})


class House:
    """A served application where people log in, with an admin, a reviewer and an annotator."""

    def __init__(self, address: str, workspace: Workspace, gateway: Gateway) -> None:
        self.address, self.workspace, self.gateway = address, workspace, gateway
        self.tokens = {}
        for name, role in (("ada", "admin"), ("rob", "reviewer"), ("ann", "annotator")):
            users.add_user(workspace, name, PASSWORD, role)
            self.tokens[name] = tokens.issue(workspace, name, purpose="tests", days=1, scope="admin")

    def as_(self, name: str) -> Glossator:
        return Glossator(self.address, token=self.tokens[name])


def member(house: House, project_id: str, name: str, role: str) -> None:
    with httpx.Client(base_url=house.address, headers={"authorization": f"Bearer {house.tokens['ada']}"}) as admin:
        user = users.user_named(house.workspace, name)
        assert admin.put(f"/api/projects/{project_id}/members/{user.id}", json={"role": role}).is_success
