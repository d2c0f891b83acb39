"""Routes for signing in with a provider of OpenID Connect, or as the person whom a trusted proxy names.

What a browser must bring back from the provider travels in a cookie that is signed and lasts ten minutes. So any
process can end a sign-in that another one has begun, and strangers write nothing into the database. The cookie also
ties the sign-in to the browser that began it: with the answer of somebody else's sign-in, no browser gets in.
"""

import hashlib
import hmac
import secrets
import time
from collections.abc import Callable
from functools import partial

from fastapi import APIRouter, Request
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import OctKey
from starlette.requests import HTTPConnection

from annotator import proxy_person
from annotator.front_pages import Doors, leaving_page, login_page, notice_page
from annotator.login_queue import LoginQueue
from annotator.root_path import ELSEWHERE
from engine.accounts import identities, sessions
from engine.accounts.identity_provider import Attempt, IdentityProvider, ProviderDown
from engine.errors import Forbidden, Refused, TooMany
from engine.settings import Settings
from engine.workspace import Workspace

COOKIE = "glossator_sign_in_"  # and the begin of the state: two windows may sign in at once
PATH = "/sign-in"
SECONDS = 600  # to sign in at the provider
MOST = 5  # attempts of one browser at a time
_STATE_SHOWN = 12  # characters
_LONGEST_PLACE = 1500  # bytes: browsers keep cookies of 4 KB
_LONGEST = 4000  # characters of an answer's parameter


class SingleSignOn:
    """The way to the provider and back, for one process.

    Args:
        workspace: workspace with the accounts.
        log_in: returns the response that gives a browser its session token and opens a page.
    """

    def __init__(self, workspace: Workspace, log_in: Callable[[str, str], Response]) -> None:
        self._workspace, self._log_in = workspace, log_in
        self._settings = settings = workspace.settings
        self._provider = IdentityProvider(settings) if settings.oidc_issuer else None
        self._queue = LoginQueue()  # of its own: a provider that is slow holds up no password
        secret = hmac.digest(settings.oidc_client_secret.encode(), b"glossator: state of sign-ins", hashlib.sha256)
        self._key = OctKey.import_key(secret)

    def router(
        self,
        safe_next: Callable[[str | None], str],
        client_of: Callable[[HTTPConnection], str],
        address_of: Callable[[HTTPConnection], str],
    ) -> APIRouter:
        """Return the routes.

        Args:
            safe_next: returns the page to open, of what the browser asks for.
            client_of: returns the user agent of a request.
            address_of: returns the client address of a request.
        """
        routes = APIRouter(include_in_schema=False)

        @routes.get(PATH)
        async def begin(request: Request, next: str | None = None) -> Response:
            where = safe_next(next)
            if self._provider is None:
                return RedirectResponse("/login", status_code=303)
            state, nonce, verifier = (secrets.token_urlsafe(32) for _ in range(3))
            back = f"{base_of(request, self._settings)}{PATH}/callback"
            attempt = Attempt(state=state, nonce=nonce, verifier=verifier, redirect_uri=back)
            step = partial(self._provider.address_to, attempt)
            try:
                if self._provider.is_known:
                    address = await run_in_threadpool(step)
                else:  # the provider is asked; else a whole office may begin at once
                    address = await self._queue.call_in_turn(address_of(request), step)
            except Refused as refused:
                return self._refusal(refused, where)
            answer = RedirectResponse(address, status_code=303)
            setattr(request.state, ELSEWHERE, True)
            self._forget_old(request, answer)
            self._remember(answer, attempt, where)
            return answer

        @routes.get(f"{PATH}/callback")
        async def end(request: Request) -> Response:
            sent = {name: value[:_LONGEST] for name, value in request.query_params.items()}
            name = f"{COOKIE}{sent.get('state', '')[:_STATE_SHOWN]}"
            begun = self._recall(request.cookies.get(name))
            if self._provider is None or begun is None:
                sentence = "This sign-in was not begun in this browser, or took longer than ten minutes. Sign in again."
                return self._refusal(Refused(sentence), "/app/")
            attempt, where = begun
            client, address = client_of(request), address_of(request)
            provider = self._provider

            def step() -> str:
                person = provider.person_of(attempt, sent)
                return identities.sign_in(self._workspace, person, client=client, address=address)

            try:
                token = await self._queue.call_in_turn(address, step)
                answer = self._log_in(token, safe_next(where))
            except TooMany as refused:
                return self._refusal(refused, where)  # the cookie stays: loading the page again will do
            except Refused as refused:
                answer = self._refusal(refused, where)
            answer.delete_cookie(name, path=self._path)
            return answer

        return routes

    async def by_proxy(self, request: Request, client: str, address: str) -> str | None:
        """Return the token of a new session of the person whom a trusted proxy names; None without one.

        Raises:
            Forbidden: this person may not sign in.
        """
        person = proxy_person.person_of(request, self._settings)
        if person is None:
            return None
        return await run_in_threadpool(identities.sign_in, self._workspace, person, client=client, address=address)

    async def log_out(self, request: Request, token: str) -> Response | None:
        """End a session; return the page that ends it at the provider or proxy too, None where there is nothing to end.

        It ends here first, whether the provider answers or not.
        """
        root, unused = self._settings.root_path, partial(sessions.login_of_token, used=False)
        login = await run_in_threadpool(unused, self._workspace, token)
        id_token = await run_in_threadpool(identities.id_token_of, self._workspace, token)
        await run_in_threadpool(sessions.log_out, self._workspace, token)
        if login is not None and login.proxy_user is not None:
            there = self._settings.proxy_logout_url
            sentence = "You are logged out. Whoever opens Glossator here is logged in again: the proxy still knows you."
            return HTMLResponse(leaving_page(root, there) if there else notice_page(root, "Logged out", sentence))
        if self._provider is None or id_token is None:
            return None
        back = f"{base_of(request, self._settings)}/login"
        address = await run_in_threadpool(self._provider.address_of_logout, id_token, back)
        return HTMLResponse(leaving_page(root, address)) if address is not None else None

    @property
    def _path(self) -> str:
        return f"{self._settings.root_path}{PATH}"

    def _remember(self, answer: Response, attempt: Attempt, where: str) -> None:
        now = int(time.time())
        claims = {
            "exp": now + SECONDS,
            "state": attempt.state,
            "nonce": attempt.nonce,
            "verifier": attempt.verifier,
            "back": attempt.redirect_uri,
            "next": where if len(where.encode()) <= _LONGEST_PLACE else "/app/",
        }
        answer.set_cookie(
            f"{COOKIE}{attempt.state[:_STATE_SHOWN]}",
            jwt.encode({"alg": "HS256"}, claims, self._key, algorithms=["HS256"]),
            max_age=SECONDS,
            path=self._path,
            httponly=True,
            samesite="lax",  # the provider's redirect comes from another site
            secure=self._settings.secure_cookies,
        )

    def _recall(self, cookie: str | None) -> tuple[Attempt, str] | None:
        """Return the attempt of a cookie and the page to open; None for a cookie that is not ours, or too old."""
        try:
            claims = jwt.decode(cookie or "", self._key, algorithms=["HS256"]).claims
            jwt.JWTClaimsRegistry(exp={"essential": True}).validate(claims)
            attempt = Attempt(claims["state"], claims["nonce"], claims["verifier"], claims["back"])
            return attempt, str(claims["next"])
        except (JoseError, ValueError, KeyError, TypeError):
            return None

    def _forget_old(self, request: Request, answer: Response) -> None:
        """Delete cookies of attempts that nobody has ended: each is a kilobyte of every request to this path.

        Browsers send the oldest first (RFC 6265, section 5.4).
        """
        for name in [name for name in request.cookies if name.startswith(COOKIE)][: 1 - MOST]:
            answer.delete_cookie(name, path=self._path)

    def _refusal(self, refused: Refused, where: str) -> Response:
        page = login_page(self._settings.root_path, str(refused), next=where, doors=Doors.of(self._settings))
        down, many = isinstance(refused, ProviderDown), isinstance(refused, TooMany)
        status = 429 if many else 503 if down else 403 if isinstance(refused, Forbidden) else 400
        headers = {"retry-after": str(refused.seconds)} if isinstance(refused, TooMany) else None
        return HTMLResponse(page, status_code=status, headers=headers)


def base_of(request: Request, settings: Settings) -> str:
    """Return the address of this server as the browser sees it, with the path below which it is served."""
    scheme = "https" if settings.secure_cookies else request.url.scheme
    return f"{scheme}://{request.headers['host']}{settings.root_path}"
