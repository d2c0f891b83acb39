"""Login check before all routes: without a login, only forms and static files are open.

Where nobody logs in, all requests are those of the local user.

Routes check the user themselves. This middleware checks once more in front of them, so a route that forgets is not
open. It also checks the scopes of tokens, and closes the routes of Gradio that the page does not use.
"""

from urllib.parse import quote

from starlette.concurrency import run_in_threadpool
from starlette.requests import HTTPConnection, Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from annotator.auth import HOME, METRICS, has_metrics_token, user_of
from annotator.code_login import STEPS
from annotator.gradio.closed_routes import is_closed
from annotator.reference.causes import OPEN as OPEN_ROUTES
from annotator.scopes import scopes_of
from db.tables import User
from engine.workspace import Workspace

PAGE_OF = "x-glossator-user"  # header of a page: id of the person whose page it is
OPEN = frozenset(
    {"/", "/login", "/logout", "/favicon.ico", "/sign-in", "/sign-in/callback", "/source", *STEPS, *OPEN_ROUTES}
)
OPEN_BELOW = ("/static/", "/invite/", "/app/assets/", "/app/static/", "/source/weights/")


class LoginGate:
    """ASGI middleware around the application, inside RequestGuard.

    Args:
        app: the application behind it.
        workspace: workspace with settings and sessions.
        local: the local user.
    """

    def __init__(self, app: ASGIApp, workspace: Workspace, local: User) -> None:
        self.app = app
        self.workspace = workspace
        self._local = local if workspace.settings.auth == "local" else None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle an ASGI request."""
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        path = scope["path"]
        answer: Response | None = None
        if self._local is not None:
            scope.setdefault("state", {})["user"] = self._local
        if is_closed(path):
            answer = JSONResponse({"detail": "Nothing exists at this address. Check the path."}, status_code=404)
        elif self._local is None and not (is_open(path) or self._is_scrape(scope)):
            answer = await self._turned_away(scope)
        if answer is not None:
            await answer(scope, receive, send)
            return
        await self.app(scope, receive, send)

    def _is_scrape(self, scope: Scope) -> bool:
        """Return whether the token of the metrics opens a request, which is no login."""
        return scope["path"] == METRICS and has_metrics_token(HTTPConnection(scope), self.workspace.settings)

    async def _turned_away(self, scope: Scope) -> Response | None:
        """Return the refusal of a stranger, or of a token whose scope is too narrow.

        None when the request may pass.
        """
        if scope["type"] == "websocket":
            return JSONResponse(
                {"detail": "Nothing exists at this address. Check the path."}, status_code=404
            )  # there is none in this application
        request = Request(scope)
        user = await run_in_threadpool(user_of, request, self.workspace)
        if user is not None:
            if request.headers.get(PAGE_OF, user.id) != user.id:  # an open page of somebody who is logged in no more
                said = f"{user.name} is logged in here now. Log in again to save your edits."
                return JSONResponse({"detail": said}, status_code=401)
            sentence = scopes_of(request.app).refusal(request.state.scope, scope["method"], scope["path"])
            return JSONResponse({"detail": sentence}, status_code=403) if sentence else None
        path = scope["path"]
        if scope["method"] in ("GET", "HEAD") and path in ("/app", HOME, "/api/docs"):
            wanted = path + (f"?{request.url.query}" if request.url.query else "")
            plain = wanted in ("/app", HOME)
            return RedirectResponse("/login" if plain else f"/login?next={quote(wanted, safe='/')}", status_code=303)
        return JSONResponse({"detail": "Log in first."}, status_code=401)


def is_open(path: str) -> bool:
    """Return whether a path is open without a login."""
    return path in OPEN or path.startswith(OPEN_BELOW)
