"""A real provider of OpenID Connect (npm oidc-provider, certified) in a process of its own, and a browser for it."""

import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

from tests.conftest import needed
from tests.support.repository import ROOT
from tests.support.server_process import free_port

CLIENT = "glossator"
SECRET = "the secret of the client"
_SCRIPT = Path(__file__).with_suffix(".mjs")


class OpenIdServer:
    """The provider, as its operator sees it."""

    def __init__(self, port: int) -> None:
        self.issuer = f"http://127.0.0.1:{port}"
        self._http = httpx.Client(verify=False, trust_env=False)

    def control(self, **wanted: Any) -> dict[str, Any]:
        """Change something; return what was asked of the server so far, by path, and its last ID token and key."""
        answer: dict[str, Any] = self._http.post(f"{self.issuer}/control", json=wanted).raise_for_status().json()
        return answer

    def asked(self, path: str) -> int:
        """Return how often a path was asked for."""
        return int(self.control()["asked"].get(path, 0))

    def add(self, login: str, *groups: str, name: str | None = None, **claims: Any) -> None:
        """Add a person, or change what is known of them. Claims are sent in the ID token."""
        known = {"preferred_username": name or login, "groups": list(groups), **claims}
        self.control(person=login, claims={"always": known})

    def settings(self) -> dict[str, Any]:
        """Return the settings of a Glossator whose people sign in here."""
        return {
            "auth": "login",
            "oidc_issuer": self.issuer,
            "oidc_client_id": CLIENT,
            "oidc_client_secret": SECRET,
            "oidc_label": "Office",
        }


@contextmanager
def openid_server(*bases: str) -> Iterator[OpenIdServer]:
    """Serve a provider that sends browsers back to Glossator at these addresses."""
    node = shutil.which("node")
    if node is None:  # as the checks of the front end, which are left out without it
        pytest.skip("Tests of single sign-on need Node.js.")
    if not (ROOT / "node_modules" / "oidc-provider").exists():
        needed("Tests of single sign-on need the packages of Node.js: npm ci.")
    port = free_port()
    redirects = ",".join(f"{base}/sign-in/callback" for base in bases)
    logouts = ",".join(f"{base}/login" for base in bases)
    process = subprocess.Popen(
        [node, str(_SCRIPT), str(port), redirects, logouts],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        assert process.stdout is not None
        assert any(line.strip() == "ready" for line in process.stdout), "the provider did not start"
        yield OpenIdServer(port)
    finally:
        process.kill()
        process.wait()


class Visitor:
    """A browser at the provider: it follows redirects there, keeps its cookies, and fills in its form."""

    def __init__(self, login: str, *, refuses: bool = False) -> None:
        self.login, self.refuses = login, refuses
        self._http = httpx.Client(verify=False, trust_env=False)

    def pass_through(self, address: str, back: str) -> str:
        """Sign in at the provider; return the address that leads back to Glossator, below `back`."""
        answer = self._http.get(address)
        for _ in range(12):
            if answer.status_code in (302, 303):
                where = str(answer.url.join(answer.headers["location"]))
                if where.startswith(back):
                    return where
                answer = self._http.get(where)
            elif "<form" in answer.text and urlsplit(str(answer.url)).path.startswith("/interaction/"):
                form = {"login": self.login, **({"refuse": "yes"} if self.refuses else {})}
                answer = self._http.post(str(answer.url), data=form)
            else:
                raise AssertionError(f"{answer.url} answers {answer.status_code}: {_text_of(answer.text)}")
        raise AssertionError("the provider leads nowhere")

    def open(self, address: str) -> httpx.Response:
        """Open an address at the provider, following redirects there."""
        return self._http.get(address, follow_redirects=True)

    def send(self, address: str, form: dict[str, str]) -> httpx.Response:
        """Send a form to the provider, without following where it leads."""
        return self._http.post(address, data=form)


def _text_of(page: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", page))[:500]
