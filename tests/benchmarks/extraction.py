"""Times of extraction over HTTP: python -m tests.benchmarks.extraction [--times 40] [--clients 20 --seconds 300].

A server of its own, on a new SQLite workspace, reads papers of one page and answers ten fields of them with
`keep=false`: a PDF with a text layer, and a scan of the same paper, which OCR reads. Each request sends other bytes.
Reading alone is timed beside it, as an upload does it. Then so many clients send the PDF at once, each again as soon as
it has its answer. At the end, database, folder and log are searched for what stood on the papers.
"""

import argparse
import io
import itertools
import statistics
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

import httpx
import pymupdf
from PIL import Image

from engine.accounts.users import ensure_local_user
from engine.documents.ingest import limits_of
from engine.documents.reading.open import read_document
from engine.fields.definition import FieldDefinition
from engine.fields.project_fields import replace_fields
from engine.projects.projects import DEFAULT_NAME, ensure_project
from engine.settings import Settings
from engine.workspace import open_workspace
from tests.benchmarks.markdown import table
from tests.support.server_process import Served

LINES = (
    ("Invoice number", "HV-{n}"), ("Date", "12 March 2026"), ("Due date", "11 April 2026"), ("Customer", "Nordlicht {n}"),
    ("Order number", "PO-{n}"), ("Net amount", "1,050.00 EUR"), ("VAT", "199.50 EUR"), ("Total due", "1,249.50 EUR"),
    ("Phone", "+49 30 123456"), ("Contact", "M. Weber"),
)  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=40)
    parser.add_argument("--clients", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=60.0)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="glossator-extraction-") as folder:
        server = Served(Path(folder), {"GLOSSATOR_EXTRACTIONS_PER_MINUTE": "1000000"})
        project = _make_project(server.data)
        server.start()
        try:
            address = f"{server.address}/api/projects/{project}/extract?keep=false"
            numbers = itertools.count(100_000)
            rows = []
            for name, make in (("PDF with a text layer", _pdf), ("scan", _scan)):
                took = _time_requests(address, make, numbers, chosen.times)
                read = _time_reading(make, numbers, max(5, chosen.times // 4))
                rows.append([name, *_shares(took), f"{statistics.median(read):.2f}"])
            print(table(["a page, ten fields", "median s", "95 % s", "most s", "reading alone, median s"], rows))
            print(_crowd(address, numbers, chosen.clients, chosen.seconds))
        finally:
            server.stop()
        print(_search(server.data, (server.folder / "server.log").read_text()))


def _make_project(data: Path) -> str:
    workspace = open_workspace(Settings(data_dir=data, _env_file=None))
    try:
        user = ensure_local_user(workspace)
        with workspace.database.write() as session:
            project = ensure_project(session, DEFAULT_NAME, workspace.settings, user.id)
        fields = [
            FieldDefinition(name=key.lower().replace(" ", "_"), question=f"What is the {key.lower()}?")
            for key, _ in LINES
        ]
        replace_fields(workspace, project.id, fields, user.id)
        return project.id
    finally:
        workspace.close()


def _pdf(number: int) -> tuple[str, bytes]:
    with pymupdf.open() as document:
        page = document.new_page()
        for at, (key, value) in enumerate(LINES):
            page.insert_text((60, 90 + 40 * at), f"{key}: {value.format(n=number)}", fontsize=11)
        return "paper.pdf", bytes(document.tobytes())


def _scan(number: int) -> tuple[str, bytes]:
    with pymupdf.open(stream=_pdf(number)[1]) as document:
        pixels = document[0].get_pixmap(dpi=200)
    picture = Image.frombytes("RGB", (pixels.width, pixels.height), pixels.samples)
    stream = io.BytesIO()
    picture.save(stream, "JPEG", quality=85)
    return "paper.jpg", stream.getvalue()


def _time_requests(
    address: str, make: Callable[[int], tuple[str, bytes]], numbers: "itertools.count[int]", times: int
) -> list[float]:
    took = []
    with httpx.Client(timeout=300) as client:
        for turn in range(times + 3):
            number = next(numbers)
            file = make(number)
            began = time.perf_counter()
            answer = client.post(address, files={"file": file})
            if turn >= 3:  # the first ones load the model
                took.append(time.perf_counter() - began)
            answer.raise_for_status()
    return took


def _time_reading(make: Callable[[int], tuple[str, bytes]], numbers: "itertools.count[int]", times: int) -> list[float]:
    took = []
    limits = limits_of(Settings(_env_file=None))
    for _ in range(times):
        with tempfile.TemporaryDirectory(prefix="glossator-reading-") as folder:
            name, content = make(next(numbers))
            source = Path(folder) / name
            source.write_bytes(content)
            began = time.perf_counter()
            read_document(source, name=name, limits=limits, out_dir=Path(folder) / "pages")
            took.append(time.perf_counter() - began)
    return took


def _crowd(address: str, numbers: "itertools.count[int]", clients: int, seconds: float) -> str:
    took: list[float] = []
    errors: list[str] = []
    ends = time.monotonic() + seconds

    def send() -> None:
        with httpx.Client(timeout=300) as client:
            while time.monotonic() < ends:
                file = _pdf(next(numbers))
                began = time.perf_counter()
                answer = client.post(address, files={"file": file})
                took.append(time.perf_counter() - began)
                if answer.status_code != 200 or not answer.json()["fields"]["total_due"]["values"]:
                    errors.append(f"{answer.status_code} {answer.text[:200]}")

    began = time.monotonic()
    threads = [threading.Thread(target=send) for _ in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    whole = time.monotonic() - began
    median, most, longest = _shares(took)
    return (
        f"{clients} clients for {whole:.0f} s: {len(took)} papers, {60 * len(took) / whole:.0f} a minute, "
        f"median {median} s, 95 % {most} s, most {longest} s, {len(errors)} errors {errors[:3]}"
    )


def _search(data: Path, log: str) -> str:
    left = [
        str(path.relative_to(data))
        for path in data.rglob("*")
        if path.is_file() and any(sign in path.read_bytes() for sign in (b"Nordlicht", b"HV-1", b"paper.pdf"))
    ]
    said = [sign for sign in ("Nordlicht", "HV-1", "paper.pdf") if sign in log]
    return f"left behind: {len(left)} files {left[:5]}, {len(said)} words in the log"


def _shares(took: list[float]) -> tuple[str, str, str]:
    ordered = sorted(took)
    return tuple(f"{ordered[int(share * (len(ordered) - 1))]:.2f}" for share in (0.5, 0.95, 1.0))  # type: ignore[return-value]


if __name__ == "__main__":
    main()
