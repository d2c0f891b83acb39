"""Make the sample of a schema: `python -m tests.support.grown_schema COMMIT` writes it into tests/data/schemas.

The commit is checked out, and its own application takes a paper, is asked, and saves answers and a review, by REST. So
the rows are those that people's work left behind then. Routes that it does not have yet are left out. With `--retrain`,
its own command also trains for one step, which leaves a snapshot, a run and its report. Make the sample of the newest
commit before each new migration.

Packages that earlier commits alone need (apscheduler: 0004 and 0005) are looked for in the folders of PYTHONPATH.
"""

import inspect
import json
import lzma
import os
import sqlite3
import subprocess
import sys
import tempfile
from contextlib import closing
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

_ROOT = Path(__file__).resolve().parents[2]
_FOLDER = _ROOT / "tests/data/schemas"
_LARGEST = 200_000  # bytes of a file that is kept; weights are larger
_QUESTIONS = ("What is the total?", "What is the bill number?", "Is it paid?")
_EDITS: tuple[tuple[str, Any], ...] = (("words", [4, 5]), ("words", [2]), ("no_answer", True))
_DERIVED = "document_search"  # tables of an index, which is in the samples but not compared


def main(commit: str, *options: str) -> None:
    """Check a commit out, run this file with its code, and store what it leaves."""
    with tempfile.TemporaryDirectory() as name:
        code, made = Path(name, "code"), Path(name, "made")
        subprocess.run(["git", "-C", str(_ROOT), "worktree", "add", "--detach", str(code), commit], check=True)
        try:
            folders = [str(code), *filter(None, [os.environ.get("PYTHONPATH")])]
            environment = {**os.environ, "PYTHONPATH": os.pathsep.join(folders)}
            command = [sys.executable, __file__, "--work", str(made), *options]
            subprocess.run(command, cwd=code, env=environment, check=True)
            _store(made)
        finally:
            subprocess.run(["git", "-C", str(_ROOT), "worktree", "remove", "--force", str(code)], check=True)


def _store(made: Path) -> None:
    known = json.loads((made / "known.json").read_text())
    file = made / "data/glossator.db"
    with closing(sqlite3.connect(file)) as database:
        [schema] = database.execute("SELECT version_num FROM alembic_version").fetchone()
        tables = [name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        of_people = (name for name in tables if not name.startswith((_DERIVED, "sqlite_")))
        rows = {name: database.execute(f'SELECT count(*) FROM "{name}"').fetchone()[0] for name in of_people}
        if rows.get("runs"):
            snapshots = database.execute("SELECT id, counts FROM snapshots").fetchall()
            runs = database.execute("SELECT id, status, verdict FROM runs").fetchall()
            known["snapshots"] = {key: json.loads(counts)["annotations"] for key, counts in snapshots}
            known["runs"] = {key: [status, json.loads(verdict)["sentence"]] for key, status, verdict in runs}
    known["rows"] = {name: number for name, number in rows.items() if number}
    dump = subprocess.run(["sqlite3", str(file), ".dump"], capture_output=True, check=True).stdout
    (_FOLDER / f"{schema}.sql.xz").write_bytes(lzma.compress(dump, preset=9 | lzma.PRESET_EXTREME))
    (_FOLDER / f"{schema}.json").write_text(json.dumps(known, separators=(",", ":")))
    with ZipFile(_FOLDER / "files.zip", "a", ZIP_DEFLATED) as files:
        for blob in (made / "data/blobs").rglob("*"):
            if blob.is_file() and blob.stat().st_size < _LARGEST and blob.name not in files.namelist():
                files.write(blob, blob.name)


def served(folder: Path, auth: str) -> Any:
    """Return a client of the application on the path."""
    from starlette.testclient import TestClient

    from annotator.app import create_app
    from engine.settings import Settings

    settings = Settings(data_dir=folder / "data", auth=auth, _env_file=None)
    without_page: dict[str, Any] = (
        {"with_page": False} if "with_page" in inspect.signature(create_app).parameters else {}
    )
    return TestClient(create_app(settings, **without_page), base_url="http://127.0.0.1:7860")


def work(folder: Path) -> dict[str, Any]:
    """Work with the application on the path; return what it says of the answers."""
    with served(folder, "local") as client:

        def call(method: str, path: str, **more: Any) -> Any:
            return client.request(method, f"/api{path}", **more).raise_for_status().json()

        listed = call("GET", "/projects")
        [project] = (each["id"] for each in (listed["items"] if isinstance(listed, dict) else listed))
        client.post("/api/projects", json={"name": "Bills of the north"})
        bill = (_FOLDER / "bill.pdf").read_bytes()
        taken = call("POST", f"/projects/{project}/documents", files=[("files", ("bill.pdf", bill, "application/pdf"))])
        document = taken["documents"][0]["document_id"]
        [page] = (each["id"] for each in call("GET", f"/documents/{document}")["pages"])
        client.put(f"/api/projects/{project}/standard-questions", json={"questions": _QUESTIONS[:1]})
        client.post(
            f"/api/projects/{project}/webhooks",
            json={"url": "https://example.org/hook", "events": ["answer.accepted"]},
        )
        answers = []
        for question, (op, value) in zip(_QUESTIONS, _EDITS, strict=True):
            answer = call("POST", f"/documents/{document}/ask", json={"question": question})["id"]
            edits = [{"op": op, "value": value}]
            if op == "words":
                edits = [{"op": "clear", "page": page}, {"op": op, "page": page, "add": value}]
            actions = ("edit",) if question == _QUESTIONS[1] else ("edit", "accept")
            for base, action in enumerate(actions):
                saved = {"idempotency_key": f"{action}-{answer}", "base": base, "action": action, "edits": edits}
                call("PUT", f"/annotations/{answer}/revisions", json=saved)
                edits = []
            view = call("GET", f"/annotations/{answer}")
            answers.append({name: view[name] for name in ("id", "question", "status", "text", "state")})
    return {"document": document, "page": page, "project": project, "answers": answers}


def review(folder: Path, annotation: str) -> list[dict[str, Any]]:
    """Judge the second revision of an answer as another person; return the verdicts that the application lists."""
    run_command(folder, "users", "add", "Rita", "--role", "admin", "--password", "a long password of Rita")
    issued = run_command(folder, "users", "token", "Rita", "--json")
    if not issued:
        return []  # 0001 to 0003 have no tokens, and 0001 and 0002 no reviews
    headers = {"Authorization": f"Bearer {json.loads(issued.splitlines()[-1])['token']}"}
    verdict = {"idempotency_key": f"verdict-{annotation}", "base": 2, "verdict": "accepted", "quality": True}
    with served(folder, "login") as client:
        path = f"/api/annotations/{annotation}/reviews"
        client.post(path, headers=headers, json=verdict).raise_for_status()
        lines = client.get(path, headers=headers).raise_for_status().json()
    return [{name: line[name] for name in ("reviewer", "verdict", "quality", "revision")} for line in lines]


def run_command(folder: Path, *words: str) -> str:
    """Return what a command of the application on the path prints; nothing where it fails."""
    command = [sys.executable, "-m", "engine.cli", *words]
    environment = {**os.environ, "GLOSSATOR_DATA_DIR": str(folder / "data")}
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=False)
    return "" if done.returncode else done.stdout


def work_there(folder: Path, options: list[str]) -> None:
    """Do everything, and write down what the application says of it."""
    known = work(folder)
    judged = known["answers"][0]  # it is accepted
    known["reviews"] = {judged["id"]: review(folder, judged["id"])}
    if "--retrain" in options and not run_command(folder, "retrain", "--steps", "1"):
        sys.exit("The commit did not train, so the sample would hold no run.")
    (folder / "known.json").write_text(json.dumps(known))


if __name__ == "__main__":
    if sys.argv[1] == "--work":
        work_there(Path(sys.argv[2]), sys.argv[3:])
    else:
        main(*sys.argv[1:])
