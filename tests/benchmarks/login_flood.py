"""How long others wait while 50 connections try wrong passwords: python -m tests.benchmarks.login_flood [--seconds 20].

Prints, for no flood, a flood in one name from one address, and one in many names from many addresses: the median and the
95 % of another person's saves, the answers that the flood got, and how long an honest login took from a new address and from
one that its person has logged in from before (a refused one is tried again after a second).
"""

from __future__ import annotations

import argparse
import asyncio
import multiprocessing
import random
import statistics
import tempfile
import time
import uuid
from collections import Counter
from pathlib import Path
from typing import Any

import httpx

from annotator.auth import COOKIE
from db.tables import Member
from engine.accounts import sessions, users
from engine.settings import Settings
from engine.workspace import open_workspace
from tests.benchmarks.markdown import table
from tests.support.factories import accept, bill, make_document, make_project, pages_of
from tests.support.server_process import Served

CONNECTIONS = 50
PASSWORD = "margins-and-glosses"
HONEST_HOME, HONEST_NEW = "192.0.2.10", "192.0.2.{}"


def flood(port: int, kind: str, begin: Any, end: Any, told: Any) -> None:
    """Try wrong passwords over 50 connections, each as fast as it is answered, until `end`."""
    counts: Counter[str] = Counter()

    async def connection(number: int) -> None:
        rng = random.Random(number)
        while not end.is_set():
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            try:
                while not end.is_set():
                    if kind == "one":
                        name, address = "victim", "203.0.113.5"
                    else:
                        name = rng.choice(["victim", "saver", f"nobody{rng.randrange(10**6)}"])
                        address = f"100.{rng.randrange(64, 128)}.{rng.randrange(256)}.{rng.randrange(256)}"
                    body = f"name={name}&password=wrong+password+{rng.randrange(10**6)}".encode()
                    writer.write(
                        f"POST /login HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\nx-forwarded-for: {address}\r\n"
                        f"content-type: application/x-www-form-urlencoded\r\ncontent-length: {len(body)}\r\n\r\n".encode()
                        + body
                    )
                    head = await reader.readuntil(b"\r\n\r\n")
                    lines = head.decode().split("\r\n")
                    length = next(int(line[15:]) for line in lines if line.lower().startswith("content-length:"))
                    await reader.readexactly(length)
                    counts[lines[0].split(" ")[1]] += 1
            except (asyncio.IncompleteReadError, ConnectionError):
                counts["broken"] += 1
            finally:
                writer.close()

    async def all_of_them() -> None:
        await asyncio.gather(*(connection(number) for number in range(CONNECTIONS)))

    begin.set()
    asyncio.run(all_of_them())
    told.put(dict(counts))


def saves(address: str, cookie: str, target: tuple[str, str], base: int, seconds: float) -> tuple[list[float], int]:
    """Save one edit after the other, ten a second at most; return the milliseconds of each, and the last revision."""
    annotation, page = target
    took, until = [], time.monotonic() + seconds
    with httpx.Client(base_url=address, cookies={COOKIE: cookie}, timeout=60) as client:
        while time.monotonic() < until:
            change = {"add": [1], "remove": []} if base % 2 else {"add": [], "remove": [1]}
            body = {
                "idempotency_key": uuid.uuid4().hex,
                "base": base,
                "edits": [{"op": "words", "page": page, **change}],
            }
            began = time.perf_counter()
            answer = client.put(f"/api/annotations/{annotation}/revisions", json=body)
            took.append(1000 * (time.perf_counter() - began))
            answer.raise_for_status()
            base = answer.json()["revision"]
            time.sleep(0.1)
    return took, base


def honest(port: int, known: bool, name: str, told: Any) -> None:
    """Log in as somebody who knows the password; tell the seconds until that went through, and the tries."""
    source = HONEST_HOME if known else HONEST_NEW.format(random.randrange(20, 250))
    began, tries = time.monotonic(), 0
    while time.monotonic() - began < 60:
        tries += 1
        answer = httpx.post(
            f"http://127.0.0.1:{port}/login",
            data={"name": name, "password": PASSWORD},
            headers={"x-forwarded-for": source},
            timeout=60,
        )
        if answer.status_code == 303:
            break
        time.sleep(1)
    told.put((known, time.monotonic() - began, tries))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--port", type=int)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        server = Served(Path(folder), {"GLOSSATOR_AUTH": "login", "OMP_NUM_THREADS": "1"})
        if given.port:
            server.port, server.address = given.port, f"http://127.0.0.1:{given.port}"
        cookie, target = prepared(server.data)
        server.start()
        try:
            rows, base = [], 1
            saves(server.address, cookie, target, base, 0.5)  # the first request of a process is no measure
            base = int(server.rows("select max(number) from revisions where annotation_id = ?", target[0])[0][0])
            for kind in ("none", "one", "many"):
                row, base = under(server, kind, cookie, target, base, given.seconds)
                rows.append(row)
        finally:
            server.stop()
    heads = ["flood", "saves", "median ms", "95 % ms", "flood was told", "honest, new address", "honest, known address"]
    print(table(heads, rows))


def prepared(data: Path) -> tuple[str, tuple[str, str]]:
    """An annotation of somebody who is logged in, and two more people; their cookie, and the ids to save to."""
    workspace = open_workspace(Settings(data_dir=data, auth="login", _env_file=None))
    project = make_project(workspace)
    document = make_document(workspace, project.id, [bill(1)])
    saver = users.add_user(workspace, "saver", PASSWORD, "annotator")
    users.add_user(workspace, "victim", PASSWORD, "annotator")
    for name in ("honest", "honest too"):
        users.add_user(workspace, name, PASSWORD, "annotator")
        sessions.log_in(workspace, name, PASSWORD, client="Firefox", address=HONEST_HOME)
    with workspace.database.write() as session:
        session.add(Member(project_id=project.id, user_id=saver.id, role="reviewer"))
        cookie = sessions.begin(workspace, session, saver.id, client="Firefox", address="192.0.2.1")
    annotation = accept(workspace, document, "What is the total due?", [4], author="saver")
    page = pages_of(workspace, document.id)[0].id
    workspace.close()
    return cookie, (annotation.id, page)


def under(
    server: Served, kind: str, cookie: str, target: tuple[str, str], base: int, seconds: float
) -> tuple[list[str], int]:
    """Measure saves, and one honest login from each kind of address, under one kind of flood."""
    spawning = multiprocessing.get_context("spawn")
    begin, end, told, logged_in = spawning.Event(), spawning.Event(), spawning.Queue(), spawning.Queue()
    others = []
    if kind != "none":
        others.append(spawning.Process(target=flood, args=(server.port, kind, begin, end, told)))
        others[0].start()
        begin.wait(60)
        time.sleep(2)
    took, base = saves(server.address, cookie, target, base, seconds)
    for known, name in ((False, "honest"), (True, "honest too")):
        others.append(spawning.Process(target=honest, args=(server.port, known, name, logged_in)))
        others[-1].start()
    found = {}
    for known, spent, tries in (logged_in.get() for _ in range(2)):
        found[known] = f"{spent:.1f} s, {tries} {'try' if tries == 1 else 'tries'}"
    end.set()
    counts = told.get() if kind != "none" else {}
    for other in others:
        other.join()
    ordered = sorted(took)
    said = ", ".join(f"{status}: {count}" for status, count in sorted(counts.items()))
    p95 = ordered[int(0.95 * (len(ordered) - 1))]
    row = [kind, str(len(took)), f"{statistics.median(took):.0f}", f"{p95:.0f}", said, found[False], found[True]]
    return row, base


if __name__ == "__main__":
    main()
