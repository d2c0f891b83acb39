"""The pages for login and invitations: small, without scripts or styles to load."""

from dataclasses import dataclass
from html import escape
from typing import Literal
from urllib.parse import quote

from annotator import source_offer
from engine.accounts.invitations import Offer
from engine.accounts.names import LOCAL_NAME
from engine.accounts.passwords import SHORTEST
from engine.settings import Settings

_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title} - Glossator</title><link rel="icon" href="{root}/static/icon.svg" type="image/svg+xml">
<style>
:root {{ color-scheme: light dark; --line: light-dark(#cdd3dc, #3a404b); --quiet: light-dark(#566070, #a9b2c0);
  --accent: light-dark(#1d63d6, #5b97f5); }}
body {{ margin: 0; min-height: 100vh; display: grid; place-items: center; font: 16px/1.5 system-ui, sans-serif;
  background: light-dark(#eceef1, #101215); color: light-dark(#1b1f27, #e9ecf1); }}
main {{ box-sizing: border-box; width: min(24rem, calc(100vw - 2rem)); margin: 2rem 0; padding: 2rem;
  border-radius: 12px; background: light-dark(#fff, #1a1d22); box-shadow: 0 1px 2px #0002, 0 8px 32px #0001;
  overflow-wrap: anywhere; }}
h1 {{ margin: 0 0 .25rem; font-size: 1.5rem; line-height: 1.3; }}
p {{ margin: 0 0 1.5rem; color: var(--quiet); }}
p b {{ unicode-bidi: isolate; color: light-dark(#1b1f27, #e9ecf1); }}
label {{ display: block; margin-bottom: 1rem; font-size: .875rem; font-weight: 600; }}
label small {{ float: right; font-weight: 400; color: var(--quiet); }}
input {{ display: block; box-sizing: border-box; width: 100%; margin-top: .25rem; padding: .6rem .75rem; font: inherit;
  font-size: 1rem; font-weight: 400; border: 1px solid var(--line); border-radius: 8px; background: transparent;
  color: inherit; }}
:focus-visible {{ outline: 2px solid var(--accent); outline-offset: 1px; }}
button, .button {{ display: block; box-sizing: border-box; width: 100%; padding: .65rem; border: 0; border-radius: 8px;
  background: var(--accent); color: light-dark(#fff, #0c1422); font: inherit; font-weight: 600; text-align: center;
  text-decoration: none; cursor: pointer; }}
.button + form button {{ background: transparent; color: inherit; border: 1px solid var(--line); }}
.button + form, .button + details {{ margin-top: 1.25rem; padding-top: 1.25rem; border-top: 1px solid var(--line); }}
summary {{ cursor: pointer; color: var(--quiet); font-size: .875rem; }}
summary + form {{ margin-top: 1rem; }}
.wrong {{ padding: .6rem .75rem; border-radius: 8px; background: light-dark(#fceaee, #3a1a23);
  color: light-dark(#a61d3f, #f2889f); }}
.foot {{ margin: 1.25rem 0 0; font-size: .875rem; text-align: center; }}
.about {{ margin: 1.5rem 0 0; font-size: .8rem; text-align: center; }}
a {{ color: var(--accent); }}
</style></head>
<body><main>{body}{foot}</main></body></html>"""

# A link to a document names it behind the "#", which browsers do not send: the form and the link add it.
_KEEP_PLACE = """<script>
for (const form of document.forms) form.addEventListener('submit', () => {
  const next = form.elements.next;
  if (location.hash && !next.value.includes('#')) next.value += location.hash;
});
for (const link of document.querySelectorAll('.button')) link.addEventListener('click', () => {
  if (location.hash && !link.search.includes('%23')) link.search += encodeURIComponent(location.hash);
});
</script>"""


@dataclass(frozen=True, slots=True)
class Doors:
    """Ways to log in. `provider`: name of the provider of single sign-on, or None. `passwords`: who may use one."""

    provider: str | None = None
    passwords: Literal["everyone", "admins", "nobody"] = "everyone"

    @classmethod
    def of(cls, settings: Settings) -> "Doors":
        """Return the ways to log in of a deployment."""
        return cls(settings.oidc_label if settings.oidc_issuer else None, settings.password_login)


def login_page(root: str, wrong: str = "", name: str = "", next: str = "/app/", doors: Doors = Doors()) -> str:
    """Return the login page: a button for single sign-on, a form for passwords, or both.

    Args:
        root: path under which the application is served, as in "/gloss" or "".
        wrong: error of the last attempt; empty: none.
        name: name to fill in.
        next: path to open after the login, without `root`.
        doors: ways to log in.

    Returns:
        HTML.
    """
    parts = ["<h1>Glossator</h1><p>Answers, in the margins.</p>", _wrong(wrong)]
    if doors.provider is not None:
        address = escape(f"{root}/sign-in?next={quote(next, safe='/')}", quote=True)
        parts.append(f'<a class="button" href="{address}">Sign in with {escape(doors.provider)}</a>')
    if doors.passwords != "nobody":
        focus = bool(name) or doors.provider is None
        form = (
            f'<form method="post" action="{root}/login"><input type="hidden" name="next" '
            f'value="{escape(next, quote=True)}">{_name_field(name, focus=focus)}'
            '<label>Password<input name="password" type="password" autocomplete="current-password" required '
            f'maxlength="1000"{" autofocus" if name else ""}></label><button>Log in</button></form>'
        )
        only = f"<details{' open' if name else ''}><summary>Log in with a password (admins)</summary>{form}</details>"
        parts.append(form if doors.passwords == "everyone" else only)
    elif doors.provider is None:
        parts.append("<p>You are not logged in. Open Glossator through the address that signs you in.</p>")
    return _page(root, "Log in", "".join(parts) + _KEEP_PLACE)


def leaving_page(root: str, address: str) -> str:
    """Return a page that leads to the provider, to end the session there.

    A redirect would not do: browsers take it for the end of the form that logs out, which may lead to this server only.
    """
    target = escape(address, quote=True)
    return _page(
        root,
        "Logged out",
        f'<meta http-equiv="refresh" content="0;url={target}"><h1>Logged out</h1>'
        f'<p>You are logged out of Glossator.</p><a class="button" href="{target}">Log out of the provider, too</a>',
    )


def invitation_page(
    root: str,
    offer: Offer,
    address: str,
    user: str | None,
    wrong: str = "",
    name: str = "",
    doors: Doors = Doors(),
) -> str:
    """Return the page of an open invitation.

    Args:
        root: path under which the application is served, as in "/gloss" or "".
        offer: project, role and inviter.
        address: path to post to, without `root`.
        user: name of the logged-in user, who gets a button; None: a form for a new user.
        wrong: error of the last attempt; empty: none.
        name: name to fill in.
        doors: ways to log in; new users get a password only where everyone may use one.

    Returns:
        HTML.
    """
    article = "a reviewer" if offer.role == "reviewer" else f"an {offer.role}"
    who = "You are invited" if offer.inviter == LOCAL_NAME else f"<b>{escape(offer.inviter)}</b> invites you"
    head = (
        f"<h1>{escape(offer.project)}</h1><p>{who} to this project as "
        f"<b>{article}</b>. The link works once and expires on {offer.expires_at:%d %B %Y, %H:%M} UTC.</p>"
    )
    action = escape(f"{root}{address}", quote=True)
    if user is not None:
        return _page(
            root,
            "Invitation",
            f'<form method="post" action="{action}">{head}{_wrong(wrong)}<button>Join as {escape(user)}</button></form>'
            f'<p class="foot"><a href="{root}/app/">Not now</a></p>',
        )
    if doors.passwords != "everyone":
        link = f'<a class="button" href="{root}/login?next={quote(address)}">Log in to join</a>'
        return _page(root, "Invitation", head + _wrong(wrong) + link)
    return _page(
        root,
        "Invitation",
        f'<form method="post" action="{action}">{head}{_wrong(wrong)}{_name_field(name)}'
        f"<label>Password <small>at least {SHORTEST} characters</small>"
        f'<input name="password" type="password" autocomplete="new-password" required minlength="{SHORTEST}" '
        f'maxlength="1000">'
        "</label><button>Join</button></form>"
        f'<p class="foot">Already have an account? <a href="{root}/login?next={quote(address)}">Log in</a></p>',
    )


def notice_page(root: str, title: str, sentence: str) -> str:
    """Return a page with one sentence."""
    return _page(
        root, title, f'<h1>{escape(title)}</h1><p>{escape(sentence)}</p><a href="{root}/app/">Open Glossator</a>'
    )


def _page(root: str, title: str, body: str) -> str:
    # The link is always this server's /source, which redirects when another address is set.
    named = f"Glossator {escape(source_offer.version())}, {escape(source_offer.licence())}."
    foot = f'<p class="about">{named} <a href="{root}/source">Source</a></p>'
    return _PAGE.format(root=root, title=escape(title), body=body, foot=foot)


def _wrong(sentence: str) -> str:
    return f'<p class="wrong" role="alert">{escape(sentence)}</p>' if sentence else ""


def _name_field(name: str, *, focus: bool = True) -> str:
    return (
        f'<label>Name<input name="name" value="{escape(name, quote=True)}" autocomplete="username" required '
        f'maxlength="100"{" autofocus" if focus and not name else ""}></label>'
    )


def render(root: str, title: str, body: str) -> str:
    """Return a page of this kind. `body`: HTML."""
    return _page(root, title, body)
