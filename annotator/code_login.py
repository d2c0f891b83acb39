"""The second step of a login: a code beside the password, or setting up what gives codes.

Its cookie is sent to the paths of this step alone, and is no session: everything else stays closed.
"""

from collections.abc import Callable
from typing import Annotated
from urllib.parse import quote

from fastapi import APIRouter, Form, Request
from fastapi.responses import HTMLResponse, JSONResponse, RedirectResponse, Response

from annotator.second_factor_pages import code_page, enrolment_page, recovery_page
from engine.accounts import login_steps, second_factor, second_login
from engine.accounts.login_steps import SecondStep
from engine.errors import NotFound, TooMany
from engine.workspace import Workspace

COOKIE = "glossator_login_step"
CODE, ENROLMENT = "/login/code", "/login/second-factor"
STEPS = (CODE, ENROLMENT)


def wants_json(request: Request) -> bool:
    """Return whether a page logs in by a script, which has a form of its own."""
    return request.headers.get("accept", "").startswith("application/json")


def begin(request: Request, step: SecondStep, where: str, *, secure: bool, root: str) -> Response:
    """Return the answer to a right password whose login needs a second step."""
    answer: Response
    if wants_json(request):
        answer = JSONResponse({"step": "enrolment" if step.enrols else "code"})
    else:
        path = ENROLMENT if step.enrols else CODE
        answer = RedirectResponse(f"{path}?next={quote(where, safe='/')}", status_code=303)
    answer.set_cookie(
        COOKIE,
        step.token,
        max_age=login_steps.MINUTES * 60,
        path=f"{root}/login",
        httponly=True,
        samesite="strict",
        secure=secure,
    )
    return answer


def router(
    workspace: Workspace,
    safe_next: Callable[[str | None], str],
    caller_of: Callable[[Request], tuple[str, str]],
    set_session: Callable[[Response, str], Response],
) -> APIRouter:
    """Return the routes of the second step.

    Args:
        workspace: workspace with the accounts.
        safe_next: checks the path to open after the login.
        caller_of: returns user agent and address of a request.
        set_session: sets the cookie of a session.
    """
    routes = APIRouter(include_in_schema=False)
    root = workspace.settings.root_path

    def anew(where: str) -> Response:
        return RedirectResponse(f"/login?next={quote(where, safe='/')}", status_code=303)

    def page(token: str, where: str, wrong: str = "", status: int = 200) -> Response:
        """Return the page that this login needs now, whichever was asked for."""
        try:
            enrolment = second_login.secret_of(workspace, token)
        except NotFound:
            return anew(where)
        if enrolment is None:
            return HTMLResponse(code_page(root, where, wrong), status_code=status)
        return HTMLResponse(enrolment_page(root, where, enrolment, wrong), status_code=status)

    @routes.get(CODE, response_class=HTMLResponse)
    @routes.get(ENROLMENT, response_class=HTMLResponse)
    def form(request: Request, next: str | None = None) -> Response:
        return page(request.cookies.get(COOKIE, ""), safe_next(next))

    def finish(request: Request, code: str, next: str, *, enrols: bool) -> Response:
        where, token, json = safe_next(next), request.cookies.get(COOKIE, ""), wants_json(request)
        client, address = caller_of(request)
        try:
            finished = second_login.finish(workspace, token, code, enrols=enrols, client=client, address=address)
        except NotFound as ended:
            return JSONResponse({"detail": str(ended)}, status_code=404) if json else anew(where)
        except TooMany as refused:
            return _late(refused) if json else _waiting(page(token, where, str(refused), 429), refused)
        if finished is None:
            wrong = second_factor.WRONG
            return JSONResponse({"detail": wrong}, status_code=401) if json else page(token, where, wrong, 401)
        answer: Response
        if json:
            answer = JSONResponse({"step": "done"})
        elif finished.recovery_codes:
            answer = HTMLResponse(recovery_page(root, where, finished.recovery_codes))
        else:
            answer = RedirectResponse(where, status_code=303)
        answer.delete_cookie(COOKIE, path=f"{root}/login")
        return set_session(answer, finished.token)

    @routes.post(CODE)
    def enter_code(
        request: Request,
        code: Annotated[str, Form(max_length=100)],
        next: Annotated[str, Form(max_length=2000)] = "",
    ) -> Response:
        return finish(request, code, next, enrols=False)

    @routes.post(ENROLMENT)
    def confirm_enrolment(
        request: Request,
        code: Annotated[str, Form(max_length=100)],
        next: Annotated[str, Form(max_length=2000)] = "",
    ) -> Response:
        return finish(request, code, next, enrols=True)

    return routes


def _late(refused: TooMany) -> Response:
    return _waiting(JSONResponse({"detail": str(refused)}, status_code=429), refused)


def _waiting(answer: Response, refused: TooMany) -> Response:
    answer.headers["retry-after"] = str(refused.seconds)
    return answer
