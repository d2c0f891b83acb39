"""A provider of OpenID Connect: its discovery document and keys, the way there and back, and what it signed.

The code flow with PKCE, state and nonce (OpenID Connect Core 1.0; RFC 7636, 9207, 9700). Authlib speaks OAuth, joserfc
checks signatures. What a process remembers are the provider's public documents alone, so any process can end what
another has begun.
"""

import logging
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode, urlsplit

import httpx2  # the client below Authlib's
from authlib.common.errors import AuthlibBaseError
from authlib.integrations.httpx_client import OAuth2Client
from authlib.oidc.core import CodeIDToken
from joserfc import jwt
from joserfc.errors import ExpiredTokenError, InvalidClaimError, InvalidKeyIdError, JoseError
from joserfc.jwk import JWKRegistry, Key, KeySet
from joserfc.jws import JWSRegistry

from engine.accounts.identities import LONGEST, Person
from engine.errors import Refused
from engine.settings import Settings, is_loopback

SECONDS = 5.0  # for one answer of the provider
REMEMBERED_SECONDS = 3600.0  # a key that the provider has withdrawn is refused after so long
RELOAD_SECONDS = 60.0  # between two requests for the keys because of an unknown one
# Signatures by private keys alone: with "none" or HS256 anybody could sign, the latter with the provider's public key.
ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512")
_KINDS = ("RSA", "EC")
_log = logging.getLogger(__name__)


class ProviderDown(Refused):
    """The provider does not answer, or not as a provider does.

    Args:
        sentence: message for people.
        reason: what is wrong, for engineers.
    """

    def __init__(self, sentence: str, reason: str) -> None:
        super().__init__(sentence)
        self.reason = reason


class NotSignedIn(Refused):
    """The provider refused, or what it sent cannot be trusted."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """A sign-in that has begun, as the browser carries it (signed) until it comes back.

    Attributes:
        state: names the attempt on the way there and back.
        nonce: names it inside the ID token.
        verifier: secret of PKCE.
        redirect_uri: where the provider sends the browser.
    """

    state: str
    nonce: str
    verifier: str
    redirect_uri: str


class IdentityProvider:
    """The provider of the settings; one for each process. Its methods block while the provider answers.

    Args:
        settings: issuer, client, scopes and claims.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._lock = threading.Lock()
        self._document: Mapping[str, Any] = {}
        self._document_at = self._keys_at = self._reloaded_at = float("-inf")
        self._keys = KeySet([])
        self._date: str | None = None
        # Made once: reading the certificates of the system takes longer than a request.
        self._certificates = httpx2.create_ssl_context()

    @property
    def is_known(self) -> bool:
        """Whether `address_to` needs no answer of the provider."""
        return time.monotonic() - self._document_at <= REMEMBERED_SECONDS

    def address_to(self, attempt: Attempt) -> str:
        """Return the address at which a person signs in.

        Raises:
            ProviderDown: the provider does not answer.
        """
        endpoint = self._endpoint("authorization_endpoint")
        with self._client(code_challenge_method="S256", redirect_uri=attempt.redirect_uri) as client:
            address, _ = client.create_authorization_url(
                endpoint, state=attempt.state, nonce=attempt.nonce, code_verifier=attempt.verifier
            )
        return str(address)

    def person_of(self, attempt: Attempt, answer: Mapping[str, str]) -> Person:
        """Return who has signed in.

        Args:
            attempt: the sign-in, as the browser carried it.
            answer: what the provider sent by the browser: code, state and iss, or error.

        Raises:
            ProviderDown: the provider does not answer.
            NotSignedIn: the person or the provider refused, or what it sent cannot be trusted.
        """
        if answer.get("state") != attempt.state:
            raise NotSignedIn("This sign-in was begun in another window or has ended. Sign in again.")
        names_itself = self.discover().get("authorization_response_iss_parameter_supported") is True
        if answer.get("iss", "" if names_itself else self._settings.oidc_issuer) != self._settings.oidc_issuer:
            raise self._distrust("another issuer has answered")
        if "error" in answer or not answer.get("code"):
            _log.warning("the provider refused a sign-in: %s", _short(answer.get("error", "no code")))
            raise NotSignedIn(f"You were not signed in with {self._settings.oidc_label}. Try again, or ask its admin.")
        token = self._tokens(attempt, answer["code"])
        claims = self._claims_of(str(token.get("id_token") or ""), attempt.nonce, str(token.get("access_token") or ""))
        return self._person(self._with_user_info(claims, token), str(token["id_token"]))

    def address_of_logout(self, id_token: str, back: str) -> str | None:
        """Return the address that ends the session at the provider and leads back; None where it has none."""
        try:
            endpoint = self._endpoint("end_session_endpoint")
        except ProviderDown:
            return None
        query = {
            "id_token_hint": id_token,
            "client_id": self._settings.oidc_client_id,
            "post_logout_redirect_uri": back,
        }
        return f"{endpoint}{'&' if '?' in endpoint else '?'}{urlencode(query)}"

    def discover(self) -> Mapping[str, Any]:
        """Return the discovery document, at most an hour old.

        Raises:
            ProviderDown: the provider does not answer, or as another issuer.
        """
        with self._lock:
            if not self.is_known:
                issuer = self._settings.oidc_issuer
                document = self._get(f"{issuer.rstrip('/')}/.well-known/openid-configuration")
                if document.get("issuer") != issuer:
                    raise self._down(f"its document names the issuer {_short(document.get('issuer'))}")
                self._document, self._document_at = document, time.monotonic()
            return self._document

    def date(self) -> str | None:
        """Return the header Date of the provider's last document; None where it sent none."""
        return self._date

    def load_keys(self, unknown: bool = False) -> KeySet:
        """Return the provider's keys, at most an hour old.

        Args:
            unknown: a key is missing from them: load them again, but not more than once in a minute.

        Raises:
            ProviderDown: the provider does not answer, or with no key.
        """
        address = self._endpoint("jwks_uri")
        with self._lock:
            instant = time.monotonic()
            old = instant - self._keys_at > REMEMBERED_SECONDS
            if old or (unknown and instant - self._reloaded_at > RELOAD_SECONDS):
                if unknown:
                    self._reloaded_at = instant
                self._keys = KeySet(_signing_keys(self._get(address).get("keys")))
                self._keys_at = time.monotonic()
            if not self._keys:
                raise self._down("it names no key that signs")
            return self._keys

    def _tokens(self, attempt: Attempt, code: str) -> Mapping[str, Any]:
        endpoint = self._endpoint("token_endpoint")
        methods = self.discover().get("token_endpoint_auth_methods_supported") or ["client_secret_basic"]
        method = "client_secret_post" if "client_secret_post" in methods else "client_secret_basic"
        try:
            with self._client(token_endpoint_auth_method=method, redirect_uri=attempt.redirect_uri) as client:
                token: Mapping[str, Any] = client.fetch_token(
                    endpoint, grant_type="authorization_code", code=code, code_verifier=attempt.verifier
                )
        except AuthlibBaseError as error:
            if error.error in ("invalid_client", "unauthorized_client"):
                raise self._down(f"it refuses the client: {_short(error.error)}") from None
            raise self._distrust(f"it refuses the code: {_short(error.error)}") from None
        except (httpx2.HTTPError, ValueError) as error:
            raise self._down(type(error).__name__) from None
        return token

    def _claims_of(self, id_token: str, nonce: str, access_token: str) -> dict[str, Any]:
        """Return the claims of an ID token for this client and sign-in, after all checks of OpenID Connect."""
        registry = JWSRegistry(algorithms=ALGORITHMS, strict_check_header=False)
        try:
            try:
                token = jwt.decode(id_token, self.load_keys(), registry=registry)
            except InvalidKeyIdError:
                token = jwt.decode(id_token, self.load_keys(unknown=True), registry=registry)
            client_id = self._settings.oidc_client_id
            claims = CodeIDToken(
                token.claims,
                token.header,
                {
                    "iss": {"essential": True, "value": self._settings.oidc_issuer},
                    "aud": {"essential": True, "value": client_id},
                },
                {"nonce": nonce, "client_id": client_id, "access_token": access_token},
            )
            claims.validate(leeway=self._settings.oidc_leeway_seconds)
        except ExpiredTokenError:
            raise self._distrust("the ID token has expired; compare the clocks") from None
        except InvalidClaimError as error:
            clocks = "; compare the clocks" if error.claim in ("iat", "nbf") else ""
            raise self._distrust(f"the ID token has a wrong {error.claim}{clocks}") from None
        except (JoseError, ValueError, TypeError) as error:
            raise self._distrust(f"the ID token is refused: {getattr(error, 'error', type(error).__name__)}") from None
        subject = claims.get("sub")
        if not isinstance(subject, str) or not 0 < len(subject) <= LONGEST or not subject.isprintable():
            raise self._distrust("the ID token has no usable sub")
        return dict(claims)

    def _with_user_info(self, claims: dict[str, Any], token: Mapping[str, Any]) -> dict[str, Any]:
        """Return the claims, with those of the user info where the ID token lacks some that are needed."""
        settings = self._settings
        wanted = {settings.oidc_name_claim}
        if settings.group_roles:
            wanted.add(settings.oidc_groups_claim)
        if settings.oidc_link_by_email:
            wanted |= {"email", "email_verified"}
        if wanted <= claims.keys() or not self.discover().get("userinfo_endpoint") or not token.get("access_token"):
            return claims
        address = self._endpoint("userinfo_endpoint")
        more = self._get(address, {"authorization": f"Bearer {token['access_token']}"})
        if more.get("sub") != claims["sub"]:
            raise self._distrust("the user info is that of another person")
        return {**more, **claims}

    def _person(self, claims: Mapping[str, Any], id_token: str) -> Person:
        settings = self._settings
        groups = claims.get(settings.oidc_groups_claim)
        elsewhere = claims.get("_claim_names")
        held_back = (isinstance(elsewhere, dict) and "groups" in elsewhere) or claims.get("hasgroups") is True
        if settings.group_roles and groups is None and held_back:
            raise NotSignedIn(
                "Your account has more groups than the provider sends. "
                "Ask an admin to let the provider send the groups of Glossator alone."
            )
        named = (claims.get(claim) for claim in (settings.oidc_name_claim, "preferred_username", "name", "email"))
        email, verified = claims.get("email"), claims.get("email_verified") in (True, "true")
        return Person(
            issuer=settings.oidc_issuer,
            subject=claims["sub"],
            name=next((name for name in named if isinstance(name, str) and name.strip()), "person"),
            email=email if verified and isinstance(email, str) and email.isprintable() else "",
            groups=frozenset(group for group in _list_of(groups) if isinstance(group, str)),
            id_token=id_token,
        )

    def _endpoint(self, name: str) -> str:
        """Return an endpoint of the discovery document, which nobody on the way can read or change."""
        address = self.discover().get(name)
        parts = urlsplit(address) if isinstance(address, str) else urlsplit("")
        if not parts.hostname or not (parts.scheme == "https" or is_loopback(parts.hostname)):
            raise self._down(f"its document has no safe {name}")
        return str(address)

    def _get(self, address: str, headers: Mapping[str, str] | None = None) -> dict[str, Any]:
        """Return a JSON object of the provider."""
        try:
            answer = httpx2.get(address, headers=headers, timeout=SECONDS, verify=self._certificates)
            answer.raise_for_status()
            self._date = answer.headers.get("date")
            content = answer.json()
        except (httpx2.HTTPError, httpx2.InvalidURL, ValueError) as error:
            raise self._down(f"{urlsplit(address).path}: {_short(error) or type(error).__name__}") from None
        if not isinstance(content, dict):
            raise self._down(f"{urlsplit(address).path} is no JSON object")
        return content

    def _client(self, **options: Any) -> OAuth2Client:
        settings = self._settings
        return OAuth2Client(
            settings.oidc_client_id,
            settings.oidc_client_secret,
            scope=" ".join(settings.oidc_scopes),
            timeout=SECONDS,
            verify=self._certificates,
            **options,
        )

    def _down(self, why: str) -> ProviderDown:
        _log.warning("the provider of single sign-on cannot be used: %s", why)
        label = self._settings.oidc_label
        sentence = f"You cannot sign in with {label} now: it does not answer as it should. Try again in a few minutes."
        return ProviderDown(sentence, why)

    def _distrust(self, why: str) -> NotSignedIn:
        _log.warning("a sign-in was refused: %s", why)
        return NotSignedIn(
            f"The answer of {self._settings.oidc_label} could not be verified: {why}. Sign in again; if that does not "
            "help, ask an admin."
        )


def _signing_keys(listed: object) -> list[Key]:
    """Return the public keys of a JWK set that sign; what this program does not know is left out (RFC 7517, 5)."""
    keys: list[Key] = []
    for raw in listed if isinstance(listed, list) else []:
        if not isinstance(raw, dict) or raw.get("kty") not in _KINDS or raw.get("use", "sig") != "sig":
            continue
        try:
            keys.append(JWKRegistry.import_key(raw))
        except (JoseError, ValueError, TypeError, KeyError):
            continue
    return keys


def _list_of(groups: object) -> Sequence[object]:
    return [groups] if isinstance(groups, str) else groups if isinstance(groups, list) else []


def _short(said: object) -> str:
    """Return what a stranger may have written, as one short line for the log."""
    return ascii(str(said))[1:-1][:200]
