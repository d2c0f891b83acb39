"""The login form: one small page without scripts."""

from html import escape

_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Log in - Glossator</title>
<style>
:root {{ color-scheme: light dark; }}
body {{ margin: 0; min-height: 100vh; display: grid; place-items: center; font: 16px/1.5 system-ui, sans-serif;
  background: light-dark(#f4f5f7, #15171c); color: light-dark(#1c2430, #e7eaf0); }}
form {{ width: min(22rem, calc(100vw - 3rem)); padding: 2rem; border-radius: 12px;
  background: light-dark(#fff, #1e2128); box-shadow: 0 1px 2px #0002, 0 8px 32px #0001; }}
h1 {{ margin: 0 0 .25rem; font-size: 1.5rem; }}
p {{ margin: 0 0 1.5rem; color: light-dark(#5b6675, #9aa4b2); }}
label {{ display: block; margin-bottom: 1rem; font-size: .875rem; font-weight: 600; }}
input {{ display: block; box-sizing: border-box; width: 100%; margin-top: .25rem; padding: .6rem .75rem; font: inherit;
  border: 1px solid light-dark(#cdd3dc, #3a404b); border-radius: 8px; background: transparent; color: inherit; }}
input:focus-visible, button:focus-visible {{ outline: 2px solid #2563eb; outline-offset: 1px; }}
button {{ width: 100%; padding: .65rem; border: 0; border-radius: 8px; background: #2563eb; color: #fff;
  font: inherit; font-weight: 600; cursor: pointer; }}
.wrong {{ padding: .6rem .75rem; border-radius: 8px; background: light-dark(#fdecec, #40201f);
  color: light-dark(#9b1c1c, #fca5a5); }}
</style></head>
<body><form method="post" action="/login">
<h1>Glossator</h1><p>Answers, in the margins.</p>{wrong}
<label>Name<input name="name" value="{name}" autocomplete="username" required autofocus></label>
<label>Password<input name="password" type="password" autocomplete="current-password" required></label>
<button>Log in</button></form></body></html>"""


def login_page(wrong: str = "", name: str = "") -> str:
    """Return the form as HTML, with what went wrong and the name that was typed."""
    sentence = f'<p class="wrong" role="alert">{escape(wrong)}</p>' if wrong else ""
    return _PAGE.format(wrong=sentence, name=escape(name, quote=True))
