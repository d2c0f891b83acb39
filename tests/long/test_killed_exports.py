"""A server that is killed during an export goes on with it after the next start, and the zip is that of one never killed."""

import time
from pathlib import Path

import httpx

from tests.long.test_killed_imports import PAGES, packed
from tests.support.server_process import Served

SECONDS = 180


def test_a_killed_export_goes_on_and_has_the_bytes_of_one_that_was_not_killed(tmp_path: Path) -> None:
    content = packed(tmp_path / "set.zip")
    served = Served(tmp_path)
    served.start()
    try:
        project = httpx.get(f"{served.address}/api/projects").json()[0]["id"]
        address = f"{served.address}/api/projects/{project}"
        assert httpx.post(f"{address}/import", files={"file": ("set.zip", content)}, timeout=SECONDS).status_code == 200
        end = time.monotonic() + SECONDS
        while True:  # until one is killed while it writes: how long that lasts is the machine's matter
            assert time.monotonic() < end
            job = httpx.post(f"{address}/exports?format=png").json()["id"]
            folder = served.data / "exports" / job
            while not list(folder.glob("*/images/*")) and not (served.data / "exports" / f"{job}.zip").exists():
                time.sleep(0.001)
            served.kill()
            [(status,)] = served.rows("SELECT status FROM jobs WHERE id = ?", job)
            if status == "running":
                break
            served.start()
        served.start()
        while served.rows("SELECT status FROM jobs WHERE id = ?", job) != [("done",)]:
            assert time.monotonic() < end + SECONDS
            time.sleep(0.1)
        [(attempts,)] = served.rows("SELECT attempts FROM jobs WHERE id = ?", job)
        assert attempts == 2 and not folder.exists()
        resumed = httpx.get(f"{address}/exports/{job}/file").content
        assert resumed == httpx.get(f"{address}/export?format=png", timeout=SECONDS).content
        assert len(resumed) > PAGES * 100
    finally:
        served.stop()
