"""Show that a move of modules changes nothing. Start it in the checkout that is to be looked at.

python -m tests.benchmarks.unchanged record OUT            write the answers of this checkout into the new folder OUT
python -m tests.benchmarks.unchanged compare BEFORE AFTER  print what differs between two such folders; status 1 if any
python -m tests.benchmarks.unchanged reopen BEFORE         open a copy of the data in BEFORE and compare; status as above

`compare` replaces what differs between two runs of one commit: ids, times, the commit, the SHA-256 of snapshots and of
files in manifests, the bytes of parquet and XLSX; XLSX is unpacked, and parquet imported again. `reopen` compares these
too, but not the commit, nor figures, which follow the date. Neither compares milliseconds.
"""

import contextlib
import difflib
import io
import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

from httpx import Client, HTTPTransport

PASSWORDS = {"anna": "lantern-orchard-91-violet", "ben": "granite-kettle-47-meadow"}
PROOF = "0190000000007000800000000000f00d"  # id of a project: it decides the splits of the documents
ID = re.compile(r"(?<![0-9a-f])[0-9a-f]{12}7[0-9a-f]{3}[89ab][0-9a-f]{15}(?![0-9a-f])")  # UUID 7
RULES = {
    r"20\d\d-\d\d-\d\d(T\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)?)?": "TIME",
    r'("code_version": ")[^"]*': r"\1CODE",
    r'([Ss]napshot `?|"(?:snapshot_sha256|subject)": ")[0-9a-f]{64}': r"\1SNAPSHOT",
    r'"bytes": \d+(, "path": "[^"]*\.(parquet|xlsx)")': r'"bytes": "SIZE"\1',
    r'("path": "[^"]*", "sha256": ")[0-9a-f]{64}': r"\1SHA-256",
    r"(==== .*\.(?:parquet|xlsx)\n)[0-9a-f]{64}": r"\1SHA-256",
    r'("milliseconds": )[\d.e-]+': r"\1MILLISECONDS",
}
LISTS = "members audit documents standard-questions questions queue tasks models runs jobs figures agreement stage next"


def plain(text: str) -> str:
    """Replace what differs between two runs by names, ids by their place in the text."""
    ids: dict[str, str] = {}
    for rule, name in RULES.items():
        text = re.sub(rule, name, text)
    return ID.sub(lambda one: ids.setdefault(one[0], f"id-{len(ids) + 1}"), text)


def write(path: Path, value: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(plain(value if isinstance(value, str) else shown(value)))


def shown(value: Any) -> str:
    return re.sub(r"\[[-+.,\de\s]+\]", lambda one: " ".join(one[0].split()), json.dumps(value, indent=1))


def launched(data: Path, *words: str) -> dict[str, Any]:
    """How to start `glossator` as pyproject.toml names it, of this checkout and no other that is installed."""
    root, text = str(Path.cwd()), Path("pyproject.toml").read_text()
    it, main = re.findall(r'^glossator = "([\w.]+):(\w+)"', text, re.MULTILINE)[0]
    code = f"import sys, {it} as it; sys.argv[0] = 'glossator'; assert it.__file__.startswith({root!r}); it.{main}()"
    kept = {name: one for name, one in os.environ.items() if not name.startswith(("GLOSSATOR_", "FORCE_", "GITHUB_"))}
    kept |= {"COLUMNS": "120", "TERMINAL_WIDTH": "120", "NO_COLOR": "1", "OMP_NUM_THREADS": "1", "PYTHONPATH": root}
    kept |= {"GLOSSATOR_DATA_DIR": str(data), "GLOSSATOR_AUTH": "login"}
    return {"args": [sys.executable, "-c", code, *words], "cwd": data.parent, "env": kept, "text": True}


def command(data: Path, *words: str) -> str:
    return subprocess.run(**launched(data, *words), stdout=subprocess.PIPE, check=True).stdout


@contextlib.contextmanager
def serving(data: Path) -> Iterator[list[Client]]:
    """A server with the three samples; Anna and Ben, logged in, and a client for the token."""
    address = f"http://127.0.0.1:{20000 + os.getpid() % 12000}"
    people = [Client(base_url=f"{address}/api", timeout=300, transport=HTTPTransport(retries=9)) for _ in range(3)]
    with subprocess.Popen(**launched(data, "serve", "--port", address[-5:], "--no-worker", "--samples")) as process:
        try:
            for person, (name, password) in zip(people, PASSWORDS.items(), strict=False):
                person.post(f"{address}/login", data={"name": name, "password": password})
            yield people
        finally:
            process.terminate()


def call(client: Client, method: str, path: str, body: Any = None, files: Any = None) -> Any:
    answer = client.request(method, path, files=files, **({"json": body} if body else {}))
    assert answer.is_success, f"{method} {path}: {answer.status_code} {answer.text[:500]}"
    return answer.json() if "json" in answer.headers["content-type"] else answer.content


def read_all(client: Client, project: dict[str, Any]) -> dict[str, Any]:
    """Return what a project says of itself, its documents, pages and answers, by path."""
    found: dict[str, Any] = {}
    paths = [f"/projects/{project['id']}/{name}" for name in LISTS.split()]
    for path in paths:  # which grow
        one = call(client, "GET", path)
        found[path] = sha256(one).hexdigest() if isinstance(one, bytes) else one
        if path.endswith("/documents"):
            paths += [f"/documents/{line['id']}" for line in one]
        elif path.startswith("/documents"):
            one["annotations"].sort(key=lambda each: (each["question"]["text"], each["author"]["name"]))
            parts = {"pages": ("/words", "/image", "/thumbnail"), "annotations": ("", "/revisions", "/reviews")}
            paths += [f"/{kind}/{each['id']}{part}" for kind in parts for each in one[kind] for part in parts[kind]]
    return found


def revise(client: Client, answer: str, base: int, page: str, add: list[int], action: str) -> Any:
    body = {"idempotency_key": f"{answer}-{base}", "base": base, "action": action, "seconds": 6.5}
    body["edits"] = [{"op": "words", "page": page, "add": add}]
    return call(client, "PUT", f"/annotations/{answer}/revisions", body)


def ask(client: Client, document: str, question: str, page: str | None = None) -> Any:
    return call(client, "POST", f"/documents/{document}/ask", {"question": question, "page_id": page})


def said(view: dict[str, Any]) -> str:
    return shown({**view["proposal"], "prediction_id": 0, "milliseconds": 0})  # the same whoever asks


def work(anna: Client, ben: Client, default: str, folder: Path, out: Path) -> list[Any]:
    """Upload and ask, import, correct and review; return what was asked of single pages."""
    asked, pages = [], [json.loads(line) for line in (folder / "pages.jsonl").read_text().splitlines()]
    for one in pages:
        file = folder / one["image"]
        sent = call(anna, "POST", f"/projects/{default}/documents", None, {"files": (file.name, file.read_bytes())})
        document = call(anna, "GET", f"/documents/{sent['documents'][0]['document_id']}")
        page = document["pages"][0]
        first, second = (question["question"] for question in one["questions"][:2])
        views = [ask(anna, document["id"], first, page["id"]), ask(anna, document["id"], second)]
        prompts = {"page_id": page["id"], "points": [[200, 250, True]], "box": [50, 100, 400, 300]}
        views.append(call(anna, "POST", f"/annotations/{views[0]['id']}/refine", prompts))
        write(out / f"answers/{file.stem}.json", [sent, document, *views])
        asked.append([document["id"], page["id"], first, said(views[0])])
    for line in call(anna, "GET", f"/projects/{default}/documents")[len(pages) :]:
        write(out / f"answers/{line['name']}.json", ask(anna, line["id"], "What is the date?"))
    for at, page in enumerate(pages):  # one question each: answers that are stored in one millisecond have no order
        kinds = [1 if one.get("masks") else 0 if one["answers"] else 2 for one in page["questions"]]
        page["questions"] = [page["questions"][kinds.index(at % 3) if at % 3 in kinds else 0]] if at else []
        page["document"] = {"sha256": str(at // 2), "page": 1 + at % 2, "name": "two pages"} if at < 2 else {}
    (folder / "pages.jsonl").write_text("\n".join(json.dumps(page) for page in pages[:13]))
    files = {"file": ("set.zip", Path(shutil.make_archive(str(folder), "zip", folder)).read_bytes())}
    write(out / "imports/set.json", call(anna, "POST", f"/projects/{PROOF}/import", None, files))
    lines = call(anna, "GET", f"/projects/{PROOF}/documents")
    for line, verdict in zip(lines, ("fixed", "accepted", "rejected"), strict=False):
        answer, page = ask(ben, line["id"], "What stands at the top?")["id"], line["cover_page_id"]
        revise(ben, answer, 0, page, [0, 1], "submit")
        body = {"idempotency_key": f"judged-{verdict}", "base": 1, "verdict": verdict, "reason": "One word more."}
        edits = [{"op": "words", "page": page, "add": [2]}] if verdict == "fixed" else []
        call(anna, "POST", f"/annotations/{answer}/reviews", {**body, "edits": edits})
    return asked


def flat(packed: bytes) -> str:
    """Return the texts of a zip file, and the SHA-256 of its other files. XLSX is unpacked, too."""
    text = ""
    archive = zipfile.ZipFile(io.BytesIO(packed))
    for name in sorted(archive.namelist()):
        content = archive.read(name)
        own = sha256(content).hexdigest() if b"\0" in content else content.decode()
        text += f"==== {name}\n{own}\n{flat(content) if name.endswith('.xlsx') else ''}"
    return text


def helps(data: Path, out: Path, *words: str) -> None:
    write(out / "help" / f"{'-'.join(('glossator', *words))}.txt", text := command(data, *words, "--help"))
    for below in re.findall(r"^│ ([a-z][\w-]*)  ", text.partition("─ Commands ─")[2], re.MULTILINE):
        helps(data, out, *words, below)


def record(out: Path) -> None:
    out.mkdir(parents=True)
    data, folder = out.absolute() / "data", out.absolute() / "set"
    helps(data, out)
    for name, role in (("anna", "admin"), ("ben", "annotator")):
        command(data, "users", "add", name, "--role", role, "--password", PASSWORDS[name])
    command(data, "projects", "create", "proof")
    with contextlib.closing(sqlite3.connect(data / "glossator.db", isolation_level=None)) as base:
        base.execute("UPDATE projects SET id = ? WHERE name = 'proof'", (PROOF,))
        base.execute("UPDATE audit_entries SET project_id = ? WHERE action = 'projects.create'", (PROOF,))
    kept: dict[str, Any] = {"token": command(data, "users", "token", "anna", "--scope", "read").split()[-1]}
    command(data, "synth", str(folder), "--pages", "20", "--seed", "5")
    with serving(data) as (anna, ben, _):
        write(out / "openapi.json", json.dumps(call(anna, "GET", "/openapi.json"), indent=1, sort_keys=True))
        users = {one["name"]: one["id"] for one in call(anna, "GET", "/users")}
        kept["projects"] = call(anna, "GET", "/projects")
        for one in kept["projects"]:
            call(anna, "PUT", f"/projects/{one['id']}/members/{users['ben']}", {"role": "annotator"})
        kept["asked"] = work(anna, ben, kept["projects"][0]["id"], folder, out)
        for form in (one["name"] for one in call(anna, "GET", f"/projects/{PROOF}/export-formats")):
            packed = call(anna, "GET", f"/projects/{PROOF}/export?format={form}")
            write(out / f"exports/{form}.txt", kept.setdefault(form, flat(packed)))
            if form not in (
                "yolo",
                "csv",
                "xlsx",
                "values",
                "values-csv",
                "values-xlsx",
                "marked-pdf",
                "qwen2.5-vl",
                "qwen3-vl",
                "ms-swift",
            ):  # nothing reads these back
                back, files = call(anna, "POST", "/projects", {"name": f"back-{form}"}), {"file": ("set.zip", packed)}
                took = call(anna, "POST", f"/projects/{back['id']}/import?ocr=false", None, files)
                write(out / f"imports/{form}.json", [took, read_all(anna, back)])
        kept["reads"] = [read_all(anna, one) for one in kept["projects"]]
        write(out / "reads/projects.json", kept["reads"])
    (out / "kept.json").write_text(json.dumps(kept))


def differs(what: str, before: str, after: str) -> bool:
    """Print how two texts differ, of much the beginning alone."""
    if before != after:
        lines = list(difflib.unified_diff(before.splitlines(), after.splitlines(), lineterm="", n=1))[2:]
        print(f"== {what}: {sum(one[0] in '+-' for one in lines)} lines", *(one[:300] for one in lines[:60]), sep="\n")
    return before != after


def compare(before: Path, after: Path) -> bool:
    found = [{str(path.relative_to(one)): path for path in one.rglob("*") if path.is_file()} for one in (before, after)]
    every = sorted({name for name in found[0] | found[1] if not name.startswith(("data/", "set", "kept"))})
    wrong = sum(differs(name, *(one[name].read_text() if name in one else "" for one in found)) for name in every)
    print(f"{wrong} of {len(every)} files differ.")
    return wrong > 0


def reopen(before: Path) -> bool:
    kept, wrong = json.loads((before / "kept.json").read_text()), 0
    data = shutil.copytree(before / "data", Path(tempfile.mkdtemp()) / "data")
    with serving(data) as (anna, ben, token):
        for project, found in zip(kept["projects"], kept["reads"], strict=True):
            there = read_all(anna, project)
            lasting = [path for path in found | there if not path.endswith("figures")]  # those follow the calendar
            wrong += sum(differs(path, shown(found.get(path)), shown(there.get(path))) for path in lasting)
        token.headers["authorization"] = f"Bearer {kept['token']}"
        for form in (one["name"] for one in call(token, "GET", f"/projects/{PROOF}/export-formats")):
            snapshot = re.findall(r'"snapshot_sha256": "(\w+)"', kept[form])[0]
            new = flat(call(token, "GET", f"/projects/{PROOF}/export?format={form}&snapshot={snapshot}"))
            wrong += differs(f"export {form}", *(re.sub('"code_version.*', "", one) for one in (kept[form], new)))
        for document, page, question, answer in kept["asked"]:
            asked = ask(ben, document, question, page)
            wrong += differs(question, answer, said(asked))
        saved = revise(ben, asked["id"], 0, page, [0, 2], "edit")["state"]
        wrong += differs("correction", shown(saved), shown(call(ben, "GET", f"/annotations/{asked['id']}")["state"]))
    shutil.rmtree(data.parent)
    print(f"Logged in, read everything, exported the snapshot, asked again, saved a correction: {wrong} things differ.")
    return wrong > 0


if __name__ == "__main__":
    steps: dict[str, Callable[..., Any]] = {"record": record, "compare": compare, "reopen": reopen}
    sys.exit(steps[sys.argv[1]](*map(Path, sys.argv[2:])) if sys.argv[1:2] and sys.argv[1] in steps else __doc__)
