"""A server that is killed during an import goes on with it after the next start: every entry is in exactly once."""

import json
import time
import zipfile
from io import BytesIO
from pathlib import Path

import httpx
from PIL import Image

from tests.support.server_process import Served

PAGES = 120
SECONDS = 180


def packed(path: Path) -> bytes:
    lines = []
    with zipfile.ZipFile(path, "w") as archive:
        for number in range(PAGES):
            image = BytesIO()
            Image.new("RGB", (400, 300), (255, 255, number)).save(image, "PNG")
            archive.writestr(f"{number}.png", image.getvalue())
            words = [{"text": f"w{at}", "box": [10 * at, 10, 10 * at + 8, 20]} for at in range(30)]
            questions = [{"question_id": f"q{at}", "question": f"Which {at}?", "answers": [[at]]} for at in range(3)]
            page = {"page_id": str(number), "image": f"{number}.png", "width": 400, "height": 300}
            lines.append(json.dumps({**page, "words": words, "questions": questions}))
        archive.writestr("pages.jsonl", "\n".join(lines) + "\n")
    return path.read_bytes()


def test_a_killed_import_is_completed_and_every_entry_is_in_once(tmp_path: Path) -> None:
    content = packed(tmp_path / "set.zip")
    served = Served(tmp_path)
    served.start()
    try:
        project = httpx.get(f"{served.address}/api/projects").json()[0]["id"]
        answer = httpx.post(
            f"{served.address}/api/projects/{project}/import?background=true",
            files={"file": ("set.zip", content)},
            timeout=60,
        )
        assert answer.status_code == 202
        job = answer.json()["id"]
        # At most two of its three attempts end without a word.
        for share in (4, 2):
            end = time.monotonic() + SECONDS
            while served.rows("SELECT count(*) FROM documents")[0][0] < PAGES // share:
                assert time.monotonic() < end
                time.sleep(0.01)
            served.kill()
            [(status,)] = served.rows("SELECT status FROM jobs WHERE id = ?", job)
            assert status == "running", "it had ended before it was killed"
            served.start()
        end = time.monotonic() + SECONDS
        while (found := served.rows("SELECT status, result FROM jobs WHERE id = ?", job)[0])[0] != "done":
            assert time.monotonic() < end and found[0] in ("running", "waiting"), found
            time.sleep(0.1)
        counts = json.loads(found[1])["imported"]
        assert (counts["documents"], counts["known"], counts["answers"]) == (PAGES, 0, 3 * PAGES)
        assert served.rows("SELECT count(*), count(DISTINCT sha256) FROM documents") == [(PAGES, PAGES)]
        assert served.rows("SELECT count(*), sum(head) FROM annotations") == [(3 * PAGES, 3 * PAGES)]
        assert served.rows("SELECT count(*) FROM revisions") == [(3 * PAGES,)]
        assert httpx.get(f"{served.address}/api/projects/{project}/imports").json() == []
        end = time.monotonic() + SECONDS
        while any((served.data / "uploads").iterdir()):  # nobody needs the file any more
            assert time.monotonic() < end
            time.sleep(0.1)
    finally:
        served.stop()
