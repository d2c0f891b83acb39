"""A server that is killed while it takes files in leaves no copy of them behind the next start."""

import threading
import time
import zipfile
from pathlib import Path

import httpx

from tests.support.server_process import Served

ENTRIES = 60_000


def packed(path: Path) -> bytes:
    """A set that takes a while to unpack."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        for number in range(ENTRIES):
            archive.writestr(f"{number:x}.txt", b"confidential")
    return path.read_bytes()


def copies(*folders: Path) -> list[Path]:
    """The copies of uploads, and what is unpacked of them; a listing that changes while it is read is read again."""
    while True:
        try:
            return [path for folder in folders for path in folder.glob("**/glossator-*") if path.exists()]
        except FileNotFoundError:
            continue


def test_copies_of_uploads_of_a_killed_server_are_gone_after_the_next_start(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    served = Served(tmp_path, {"TMPDIR": str(elsewhere)})
    places = elsewhere, served.data / ".glossator-tmp"
    content = packed(tmp_path / "set.zip")
    served.start()
    project = httpx.get(f"{served.address}/api/projects").json()[0]["id"]

    def send() -> None:
        try:
            httpx.post(
                f"{served.address}/api/projects/{project}/import", files={"file": ("set.zip", content)}, timeout=60
            )
        except httpx.TransportError:
            return  # the server was killed

    senders = [threading.Thread(target=send, daemon=True) for _ in range(4)]
    for one in senders:
        one.start()
    end = time.monotonic() + 120
    while len(copies(*places)) < 3 or len(list((served.data / "uploads").iterdir())) < 1:
        assert time.monotonic() < end
        time.sleep(0.02)
    served.kill()
    try:
        for one in senders:
            one.join()
        assert copies(*places), "nothing was left to clean up"
        served.start()
        end = time.monotonic() + 300
        while httpx.get(f"{served.address}/api/projects/{project}/imports").json():  # they go on, and find no dataset
            assert time.monotonic() < end
            time.sleep(0.5)
        while (*copies(*places), *(served.data / "uploads").iterdir()):
            assert time.monotonic() < end
            time.sleep(0.1)
        assert not [path for path in elsewhere.rglob("*") if path.is_file()]
    finally:
        served.stop()
