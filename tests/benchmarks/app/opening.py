"""How long until the first page of a long document is seen: opened, and uploaded."""

from __future__ import annotations

from tests.benchmarks.app.chromium import opening, workspace
from tests.benchmarks.app.measured import Row, row
from tests.benchmarks.app.pages import document
from tests.benchmarks.app.server import Client, serving

OPEN_BAR, UPLOAD_BAR = 1000.0, 3000.0


def measure(rounds: int, pages: int = 100, words: int = 300) -> list[Row]:
    """Milliseconds to the frame with the first page."""
    opened, uploaded = [], []
    with serving({"GLOSSATOR_MAX_READ_SECONDS": "300"}) as served:
        client = Client(served.address)
        long = client.upload(document(pages, words, seed=99), "long.pdf")
        for at in range(rounds):
            small = client.upload(document(1, 40, seed=200 + at), f"small {at}.pdf")
            with workspace(served.address) as bench:
                first = small["pages"][0]["id"]
                opening(bench, f"workspace.navigation.document('{small['id']}')", first)
                opened.append(
                    [opening(bench, f"workspace.navigation.document('{long['id']}')", long["pages"][0]["id"])]
                )
                name = f"upload {at}.pdf"
                bench.page.evaluate("(name) => { window.uploadName = name; }", name)
                bench.page.evaluate(_HOLD, list(document(pages, words, seed=300 + at)))
                uploaded.append([opening(bench, _UPLOAD)])
    return [
        row(f"first page seen, document of {pages} pages opened", opened, OPEN_BAR),
        row(f"first page seen, {pages} pages uploaded", uploaded, UPLOAD_BAR),
    ]


# The file is in the browser before the clock starts, as a dropped one is.
_HOLD = "(bytes) => { window.uploadFile = new File([Uint8Array.from(bytes)], window.uploadName, { type: 'application/pdf' }); }"
_UPLOAD = "workspace.uploads.add([window.uploadFile])"
