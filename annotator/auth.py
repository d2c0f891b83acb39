"""Who is asking: one cookie, read in one place, for REST and for the Gradio page alike."""

from collections.abc import Callable

from fastapi import APIRouter, Form, HTTPException, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from annotator.login_page import login_page
from db.tables import User
from engine import people
from engine.workspace import Workspace

COOKIE = "glossator_session"


def user_of(request: Request, workspace: Workspace) -> User | None:
    """Return the user of a request: the local one where nobody logs in, else the one whose session the cookie names."""
    if workspace.settings.auth == "local":
        local: User = request.app.state.local_user
        return local
    token = request.cookies.get(COOKIE)
    return people.user_of_token(workspace, token) if token else None


def gradio_user(workspace: Workspace) -> Callable[[Request], str | None]:
    """Return Gradio's auth_dependency: a function to the user's name that sends strangers to the login form."""

    def name_of(request: Request) -> str | None:
        if workspace.settings.auth == "local":
            return people.LOCAL_NAME
        token = request.cookies.get(COOKIE)
        user = people.user_of_token(workspace, token) if token else None
        if user is None and request.url.path.rstrip("/") == "/app":
            raise HTTPException(303, headers={"location": "/login"})
        return user.name if user else None

    return name_of


def router(workspace: Workspace) -> APIRouter:
    """Return the routes of logging in and out."""
    routes = APIRouter(include_in_schema=False)

    @routes.get("/login", response_class=HTMLResponse)
    def form() -> str:
        return login_page()

    @routes.post("/login")
    def log_in(name: str = Form(max_length=100), password: str = Form(max_length=1000)) -> Response:
        token = people.log_in(workspace, name, password)
        if token is None:
            return HTMLResponse(login_page("The name or the password is wrong.", name), status_code=401)
        answer = RedirectResponse("/app/", status_code=303)
        answer.set_cookie(
            COOKIE,
            token,
            max_age=int(workspace.settings.session_hours * 3600),
            httponly=True,
            samesite="lax",
            secure=workspace.settings.secure_cookies,
        )
        return answer

    @routes.post("/logout")
    def log_out(request: Request) -> Response:
        token = request.cookies.get(COOKIE)
        if token:
            people.log_out(workspace, token)
        answer = RedirectResponse("/login", status_code=303)
        answer.delete_cookie(COOKIE)
        return answer

    return routes
