"""The head of the page: the front end's styles and modules, and the facts of the source offer.

Gradio's own parameter `head` arrives with its configuration: the browser would learn of our files when Gradio's scripts
have run, a second later. So the head is written into the document that is served. Gradio, whose sixty files keep a
browser busy, starts when the workspace shows its list and its page, or after START_SECONDS.
"""

import re

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from annotator.front_end_bundle import SCRIPT, STYLES
from annotator.front_end_files import BASE, DIGEST

# What the workspace asks for first: on its way while its script is read. Each is used once, as fetch() asks for it.
_FIRST = ("/api/me", "/api/me/preferences", "/api/projects")
# In the middle of an upgrade, the file may have been asked of a server of another edition, which has none of this one.
_AGAIN = "setTimeout(() => location.reload(), 3000)"
_END = b"</head>"
START_SECONDS = 4
_MANIFEST = (
    b'<link rel="manifest" href="/manifest.json" />'  # of Gradio; there is none, and below a path it is another's
)
_GRADIO = re.compile(rb'<script type="module" crossorigin src="([^"]+)"></script>')
# Started by annotator/static/main.js; by the clock where that fails.
_LATER = rb"""<link rel="modulepreload" crossorigin href="\1">
<script>
window.startGradio = () => {
    window.startGradio = () => {};
    document.head.append(Object.assign(document.createElement('script'), { type: 'module', src: '\1' }));
};
setTimeout(() => window.startGradio(), %d);
</script>""" % (START_SECONDS * 1000)


def front_end(root: str) -> str:
    """Return the lines that load the front end.

    Args:
        root: path under which the application is served, as in "/gloss" or "".
    """
    preloads = (f'<link rel="preload" as="fetch" crossorigin="anonymous" href="{root}{path}">' for path in _FIRST)
    below = f"{root}{BASE}"
    lines = (
        f'<meta name="glossator-root" content="{root}" data-edition="{DIGEST}">',  # for annotator/static/core/root.js
        f'<link rel="icon" href="{below}/icon.svg" type="image/svg+xml">',
        f'<link rel="stylesheet" href="{below}/{STYLES}">',
        f'<script type="module" src="{below}/{SCRIPT}" onerror="{_AGAIN}"></script>',
        *preloads,
    )
    return "\n".join(lines)


class HeadInPage:
    """ASGI middleware that writes lines before the end of the head of HTML documents below a path.

    Args:
        app: the application behind it.
        path: path of the documents, as in "/app/".
        lines: what is written.
    """

    def __init__(self, app: ASGIApp, path: str, lines: str) -> None:
        self.app = app
        self._path = path
        self._lines = lines.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle an ASGI request."""
        if scope["type"] != "http" or scope["path"] != self._path or scope["method"] != "GET":
            await self.app(scope, receive, send)
            return
        start: Message | None = None
        body = bytearray()

        async def send_with_head(message: Message) -> None:
            nonlocal start
            if message["type"] == "http.response.start" and _is_plain_html(message):
                start = message
            elif start is None:
                await send(message)
            else:
                body.extend(message.get("body", b""))
                if not message.get("more_body", False):
                    document = self._write(bytes(body))
                    if "content-length" in (headers := MutableHeaders(raw=start["headers"])):
                        headers["content-length"] = str(len(document))
                    await send(start)
                    await send({"type": "http.response.body", "body": document})

        await self.app(scope, receive, send_with_head)

    def _write(self, document: bytes) -> bytes:
        document = document.replace(_MANIFEST, b"", 1)
        return _GRADIO.sub(_LATER, document.replace(_END, self._lines + _END, 1), count=1)


def _is_plain_html(start: Message) -> bool:
    headers = Headers(raw=start["headers"])
    return headers.get("content-type", "").startswith("text/html") and "content-encoding" not in headers
