"""Authentication: one cookie or token, read in one place for REST and page, and the login forms."""

import hmac
from functools import partial
from typing import Annotated
from urllib.parse import quote, urlsplit

from fastapi import APIRouter, Form, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.requests import HTTPConnection

from annotator import code_login, proxy_person
from annotator.front_pages import Doors, invitation_page, login_page, notice_page
from annotator.login_queue import LoginQueue
from annotator.single_sign_on import SingleSignOn
from db.tables import User
from engine.accounts import invitations, login_throttle, sessions
from engine.accounts.login_steps import SecondStep
from engine.errors import Forbidden, NotFound, Refused, TooMany
from engine.settings import Settings
from engine.workspace import Workspace

COOKIE = "glossator_session"
HOME = "/app/"
BACKGROUND = "x-glossator-background"  # header of what an open page asks without its person: no use of the login
_OF_OPEN_PAGES = ("/api/changes", "/api/health", "/app/gradio_api/")  # as well, where the page cannot say so
METRICS = "/api/metrics"


def user_of(request: HTTPConnection, workspace: Workspace) -> User | None:
    """Return the user of a request, looked up once per request.

    In local mode that is the local user, as annotator.login_gate notes, else the user of the session or token. Tokens
    count only under /api; their scope (annotator.scopes) limits them.

    Args:
        request: the request.
        workspace: workspace with the sessions.

    Returns:
        The user, or None when nobody is logged in.
    """
    if not hasattr(request.state, "user"):
        token = token_of(request)
        login = sessions.login_of_token(workspace, token, used=_is_of_person(request)) if token else None
        if login is not None and login.scope is not None and not request.scope["path"].startswith("/api/"):
            login = None
        if login is not None and login.proxy_user is not None:
            person = proxy_person.person_of(request, workspace.settings)
            login = login if person is not None and person.subject == login.proxy_user else None
        request.state.user = login.user if login is not None else None
        request.state.scope = login.scope if login is not None else None
    user: User | None = request.state.user
    return user


def _is_of_person(request: HTTPConnection) -> bool:
    """Return whether a request comes from what a person does; else a forgotten tab would never be logged out."""
    headers = request.headers
    if BACKGROUND in headers or headers.get("sec-fetch-dest") == "image":
        return False
    return not request.scope["path"].startswith(_OF_OPEN_PAGES)


def token_of(request: HTTPConnection) -> str | None:
    """Return the token of a request: from `Authorization: Bearer`, else from the cookie."""
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else request.cookies.get(COOKIE)


def has_metrics_token(request: HTTPConnection, settings: Settings) -> bool:
    """Return whether a request may read the metrics by the token of the settings."""
    sent = token_of(request) or ""
    return bool(settings.metrics_token) and hmac.compare_digest(sent.encode(), settings.metrics_token.encode())


def client_of(request: HTTPConnection) -> str:
    """Return the user agent of a request, at most 200 characters."""
    return request.headers.get("user-agent", "")[:200]


def address_of(request: HTTPConnection) -> str:
    """Return the client address of a request.

    Behind a trusted proxy, uvicorn takes it from X-Forwarded-For.
    """
    return (request.client.host if request.client else "")[:60]


def safe_next(wanted: str | None) -> str:
    """Return the page to open after a login.

    Args:
        wanted: path that the browser asks for.

    Returns:
        `wanted` when it is a path on this server, else HOME.
    """
    if not wanted or len(wanted) > 2000 or not wanted.startswith("/") or wanted.startswith(("//", "/\\")):
        return HOME
    if "\\" in wanted or any(ord(letter) < 33 or ord(letter) == 127 for letter in wanted):
        return HOME
    parts = urlsplit(wanted)
    closed = parts.path in ("/login", "/logout", *code_login.STEPS) or parts.path.startswith("/sign-in")
    return HOME if parts.scheme or parts.netloc or closed else wanted


def router(workspace: Workspace, line: LoginQueue) -> APIRouter:
    """Return the routes for login, logout and invitations.

    Args:
        workspace: workspace with the accounts.
        line: queue in which password checks wait.
    """
    routes = APIRouter(include_in_schema=False)
    settings = workspace.settings
    root, doors = settings.root_path, Doors.of(settings)

    def set_session(answer: Response, token: str) -> Response:
        answer.set_cookie(
            COOKIE,
            token,
            max_age=int(settings.session_hours * 3600),
            path=root or "/",
            httponly=True,
            samesite="lax",
            secure=settings.secure_cookies,
        )
        return answer

    def logged_in(token: str, where: str) -> Response:
        return set_session(RedirectResponse(where, status_code=303), token)

    def caller_of(request: Request) -> tuple[str, str]:
        return client_of(request), address_of(request)

    routes.include_router(code_login.router(workspace, safe_next, caller_of, set_session))

    single_sign_on = SingleSignOn(workspace, logged_in)
    routes.include_router(single_sign_on.router(safe_next, client_of, address_of))

    @routes.get("/login", response_class=HTMLResponse)
    async def form(request: Request, next: str | None = None) -> Response:
        where = safe_next(next)
        if await run_in_threadpool(user_of, request, workspace) is not None:
            return RedirectResponse(where, status_code=303)
        try:
            token = await single_sign_on.by_proxy(request, client_of(request), address_of(request))
        except Forbidden as refused:
            return HTMLResponse(login_page(root, str(refused), next=where, doors=doors), status_code=403)
        return HTMLResponse(login_page(root, next=where, doors=doors)) if token is None else logged_in(token, where)

    def refusal(
        request: Request, sentence: str, name: str, where: str, status: int, headers: dict[str, str] | None = None
    ) -> Response:
        if code_login.wants_json(request):
            return JSONResponse({"detail": sentence}, status_code=status, headers=headers)
        return HTMLResponse(login_page(root, sentence, name, where, doors), status_code=status, headers=headers)

    @routes.post("/login")
    async def log_in(
        request: Request,
        name: Annotated[str, Form(max_length=100)],
        password: Annotated[str, Form(max_length=1000)],
        next: Annotated[str, Form(max_length=2000)] = "",
    ) -> Response:
        where, address = safe_next(next), address_of(request)
        if doors.passwords == "nobody":
            return refusal(
                request, "Nobody can log in with a password here. Sign in with single sign-on.", "", where, 403
            )
        step = partial(sessions.log_in, workspace, name, password, client=client_of(request), address=address)
        try:
            login_throttle.check(workspace, name, address)
            known = line.is_long and await run_in_threadpool(login_throttle.is_known, workspace, name, address)
            token = await line.call_in_turn(address, step, known=known)
        except TooMany as refused:
            await line.hold_back()
            headers = {"retry-after": str(refused.seconds)}
            return refusal(request, str(refused), name, where, 429, headers)
        if token is None:
            return refusal(request, "Wrong name or password. Try again.", name, where, 401)
        if isinstance(token, SecondStep):
            return code_login.begin(request, token, where, secure=settings.secure_cookies, root=root)
        if code_login.wants_json(request):
            return set_session(JSONResponse({"step": "done"}), token)
        return logged_in(token, where)

    @routes.post("/logout")
    async def log_out(request: Request) -> Response:
        token = request.cookies.get(COOKIE)
        left = await single_sign_on.log_out(request, token) if token else None
        answer = left if left is not None else RedirectResponse("/login", status_code=303)
        answer.delete_cookie(COOKIE, path=root or "/")
        return answer

    def invitation(request: Request, token: str, wrong: str = "", name: str = "", status: int = 200) -> Response:
        """Return the page of an invitation, or a notice when the link is not valid."""
        try:
            offer = invitations.offer(workspace, token)
        except NotFound as refused:
            return HTMLResponse(notice_page(root, "Invitation not valid", str(refused)), status_code=404)
        if settings.auth == "local":
            sentence = (
                "This server has no login, so invitations cannot be used. Set GLOSSATOR_AUTH=login to enable logins."
            )
            return HTMLResponse(notice_page(root, "Logins are disabled", sentence), status_code=409)
        user = user_of(request, workspace)
        address = f"/invite/{quote(token)}"
        page = invitation_page(root, offer, address, user.name if user else None, wrong, name, doors)
        return HTMLResponse(page, status_code=status)

    @routes.get("/invite/{token}", response_class=HTMLResponse)
    def open_invitation(request: Request, token: str) -> Response:
        return invitation(request, token)

    @routes.post("/invite/{token}")
    async def accept_invitation(
        request: Request,
        token: str,
        name: Annotated[str, Form(max_length=200)] = "",
        password: Annotated[str, Form(max_length=2000)] = "",
    ) -> Response:
        if settings.auth == "local":
            return await run_in_threadpool(invitation, request, token)
        user = await run_in_threadpool(user_of, request, workspace)
        client, address = client_of(request), address_of(request)
        try:
            if user is not None:
                joined = await run_in_threadpool(invitations.accept_as, workspace, token, user)
            else:
                step = partial(invitations.accept_new, workspace, token, name, password, client=client, address=address)
                joined = await line.call_in_turn(address, step)
        except TooMany as refused:
            await line.hold_back()
            page = await run_in_threadpool(invitation, request, token, str(refused), name, 429)
            page.headers["retry-after"] = str(refused.seconds)
            return page
        except Refused as refused:
            return await run_in_threadpool(invitation, request, token, str(refused), name, 422)
        where = f"{HOME}#project={joined.project_id}"
        return logged_in(joined.token, where) if joined.token else RedirectResponse(where, status_code=303)

    return routes
