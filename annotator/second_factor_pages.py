"""The pages of the second step of a login: a code, setting up a second factor, and its recovery codes."""

from collections.abc import Sequence
from html import escape

from annotator.front_pages import render
from engine.accounts.second_factor import Enrolment

_CODE = (
    '<label>{label}<input name="code" autocomplete="one-time-code" autocapitalize="characters" spellcheck="false" '
    'required maxlength="100" autofocus></label>'
)


def code_page(root: str, next: str, wrong: str = "") -> str:
    """Return the form for a code.

    Args:
        root: path under which the application is served, as in "/gloss" or "".
        next: path to open after the login, without `root`.
        wrong: error of the last attempt; empty: none.

    Returns:
        HTML.
    """
    return render(
        root,
        "Enter a code",
        f'<form method="post" action="{root}/login/code"><h1>Enter a code</h1>'
        "<p>Open your authenticator app and type the code for Glossator.</p>"
        f"{_wrong(wrong)}{_next(next)}{_CODE.format(label='Code, or a recovery code')}<button>Log in</button></form>"
        f'<p class="foot"><a href="{root}/login">Log in as somebody else</a></p>',
    )


def enrolment_page(root: str, next: str, enrolment: Enrolment, wrong: str = "") -> str:
    """Return the page that sets up a second factor. Arguments as of `code_page`."""
    return render(
        root,
        "Set up a second factor",
        f'<form method="post" action="{root}/login/second-factor"><h1>Set up a second factor</h1>'
        "<p>This server asks for a code beside the password. Scan the picture with an authenticator app, then type "
        f"the code that it shows.</p>{_wrong(wrong)}"
        f'<img src="{enrolment.qr}" alt="QR code of the secret" '
        'style="display:block;width:12rem;max-width:100%;margin:0 auto 1rem;border-radius:8px">'
        f"<p>Or type this secret into the app: <b>{_in_groups(enrolment.secret)}</b></p>"
        f"{_next(next)}{_CODE.format(label='Code')}<button>Switch on</button></form>",
    )


def recovery_page(root: str, next: str, codes: Sequence[str]) -> str:
    """Return the page that shows new recovery codes once."""
    lines = "".join(f"<li><code>{code}</code></li>" for code in codes)
    return render(
        root,
        "Recovery codes",
        "<h1>Keep these codes</h1><p>Each logs you in once when your device is lost. They are shown only now: print "
        f"them, or save them in a password manager.</p><ol>{lines}</ol>"
        f'<p class="foot"><a href="{escape(root + next, quote=True)}">I have kept them, go on</a></p>',
    )


def _next(next: str) -> str:
    return f'<input type="hidden" name="next" value="{escape(next, quote=True)}">'


def _wrong(sentence: str) -> str:
    return f'<p class="wrong" role="alert">{escape(sentence)}</p>' if sentence else ""


def _in_groups(secret: str) -> str:
    return " ".join(secret[at : at + 4] for at in range(0, len(secret), 4))
