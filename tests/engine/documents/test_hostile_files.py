"""Files that ask for programs, other files and addresses get none, and leave nothing behind."""

import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.documents.limits import ReadLimits
from engine.documents.reading.forked_readers import FORKS
from engine.documents.reading.open import read_document
from engine.documents.refusal import DocumentRefused, Reason
from tests.support import made_documents, made_hostile
from tests.support.made_papers import bill_pdf
from tests.support.waiting import wait_until

SECRET = "Walrus"
Make = Callable[..., Path]


def read(source: Path, out: Path, limits: ReadLimits) -> list[str] | Reason:
    """Return the words of a file, or why it is refused."""
    try:
        document = read_document(source, name=source.name, limits=limits, out_dir=out)
    except DocumentRefused as refused:
        return refused.reason
    return [word.text for page in document.pages for word in page.words]


def read_beside_others(folder: Path, make: Make) -> list[str] | Reason:
    """Return the same for a made file, after a look that nobody was asked and nothing was left behind."""
    folder.joinpath("away").mkdir()
    secret = folder / "away" / "secret.txt"
    secret.write_text(f"BT /F1 18 Tf 20 60 Td ({SECRET}) Tj ET")
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.setblocking(False)
        address = f"http://127.0.0.1:{server.getsockname()[1]}/picture.png"
        source = make(folder / "file.pdf", secret=secret, address=address)
        before = files_of(folder)
        came = read(source, folder / "pages", ReadLimits())
        with pytest.raises(BlockingIOError):
            server.accept()
    assert files_of(folder) - before <= {"pages", "pages/page-0001.png"}
    assert_no_reader_runs()
    return came


def files_of(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


def assert_no_reader_runs() -> None:
    process = FORKS._process
    if process is not None and Path("/proc/self/task").exists():
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
        wait_until(lambda: children.read_text().split() == [])


@pytest.mark.parametrize("make", [made_hostile.pdf_with_actions, made_hostile.pdf_with_outside_streams])
def test_a_pdf_that_asks_for_others_is_read_without_them(tmp_path: Path, make: Make) -> None:
    assert read_beside_others(tmp_path, make) == ["Invoice"]


@pytest.mark.parametrize(
    "make",
    [
        made_hostile.page_with_outside_pictures,
        made_hostile.drawing_with_entities,
        made_hostile.archive_of_links,
    ],
)
def test_pages_drawings_and_archives_are_refused_before_they_fetch_anything(tmp_path: Path, make: Make) -> None:
    assert read_beside_others(tmp_path, make) == Reason.NOT_SUPPORTED


def test_after_a_file_that_exhausts_its_process_nothing_of_it_is_left(tmp_path: Path) -> None:
    bomb = made_documents.picture_bomb_pdf(tmp_path / "bomb.pdf")
    endless = made_documents.endless_pdf(tmp_path / "endless.pdf")
    read(bomb, tmp_path / "pages", ReadLimits(memory_mb=400))
    assert read(endless, tmp_path / "others", ReadLimits(seconds=1)) == Reason.TOO_SLOW
    assert list((tmp_path / "others").iterdir()) == []
    assert_no_reader_runs()
    (tmp_path / "bill.pdf").write_bytes(bill_pdf(7))
    assert "B7" in read(tmp_path / "bill.pdf", tmp_path / "next", ReadLimits())
