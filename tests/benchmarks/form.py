"""Times of the form of a paper over REST: python -m tests.benchmarks.form [--fields 9 40 200] [--times 5].

Each size gets a fresh SQLite workspace with the invoice of the samples, which is read and asked in this process. "Fill"
asks all fields of one page; the page is encoded for the first and known for the others, as each time begins with the
answers of another person, and with a memory that holds none. "Fill, prepared" is the next person's, whose form was
answered in advance. Prints medians of the warm ones and statements of each request.
"""

import argparse
import statistics
import tempfile
import time
import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from starlette.testclient import TestClient

from annotator.app import create_app
from engine.commands.servers.samples import add_samples
from engine.fields.definition import FieldDefinition
from engine.fields.project_fields import replace_fields
from engine.fields.ready_sets import READY_SETS
from engine.settings import Settings
from engine.workspace import Workspace
from tests.benchmarks.markdown import table
from tests.support.accounts import Person, make_user, somebody
from tests.support.statements import heard

WHAT = ("fill, page not read yet", "fill, page read", "fill, prepared", "show", "accept all")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--fields", type=int, nargs="+", default=[9, 40, 200])
    parser.add_argument("--times", type=int, default=5)
    chosen = parser.parse_args()
    rows = []
    for number in chosen.fields:
        took = _measure(number, chosen.times)
        for what in WHAT:
            milliseconds, statements = took[what]
            rows.append([f"{number} fields: {what}", f"{milliseconds:,.0f}", str(statements)])
    print(table(["one page", "median ms", "statements"], rows))


def _measure(number: int, times: int) -> dict[str, tuple[float, int]]:
    with tempfile.TemporaryDirectory(prefix="glossator-form-") as folder:
        settings = Settings(data_dir=Path(folder), auth="login", _env_file=None)
        with TestClient(create_app(settings, with_page=False), base_url="http://127.0.0.1:7860") as client:
            workspace: Workspace = client.app.state.answer_service.workspace  # type: ignore[attr-defined]
            add_samples(workspace)
            owner = make_user(workspace, "olga", "admin")
            boss = somebody(client, workspace, owner)
            project = boss.get("/api/projects").json()[0]["id"]
            listed = boss.get(f"/api/projects/{project}/documents").json()
            document = next(each["id"] for each in listed if "invoice" in each["name"].lower())
            replace_fields(workspace, project, _fields(number), owner.id)
            found: dict[str, list[float]] = {what: [] for what in WHAT}
            statements: dict[str, int] = {}
            for turn in range(times + 1):
                people = [somebody(client, workspace, make_user(workspace, **{project: "annotator"})) for _ in range(2)]
                client.app.state.answer_service.answers.discard(lambda _: True)  # type: ignore[attr-defined]
                _round(workspace, people, document, number, turn, found, statements)
            return {what: (statistics.median(found[what]), statements[what]) for what in WHAT}


def _round(
    workspace: Workspace,
    people: Sequence[Person],
    document: str,
    number: int,
    turn: int,
    found: dict[str, list[float]],
    statements: dict[str, int],
) -> None:
    path = f"/api/documents/{document}/form"

    person, next_person = people

    def timed(what: str, method: str, place: str, body: Any = None, person: Person = person) -> Any:
        with heard(workspace) as said:
            began = time.perf_counter()
            answer = person.request(method, place, json=body)
            found[what].append((time.perf_counter() - began) * 1000)
        assert answer.status_code == 200, answer.text
        statements[what] = len(said)
        return answer.json()

    timed(WHAT[1] if turn else WHAT[0], "POST", path, {"most": number})
    timed("fill, prepared", "POST", path, {"most": number}, next_person)
    form = timed("show", "GET", path)
    marked = [field for field in form["fields"] if field["marks"]]
    answers = [{"annotation_id": field["annotation_id"], "base": 0} for field in marked]
    timed("accept all", "POST", f"{path}/accept", {"idempotency_key": uuid.uuid4().hex, "answers": answers})


def _fields(number: int) -> list[FieldDefinition]:
    """Fields of the ready sets, again under other names and questions until there are enough."""
    known = [field for ready in READY_SETS.values() for field in ready.fields if not field.rules and not field.columns]
    wanted = []
    for at in range(number):
        turn, field = at // len(known), known[at % len(known)]
        question = field.question if not turn else f"{field.question.rstrip('?')} on line {turn}?"
        wanted.append(field.model_copy(update={"name": f"field_{at}", "question": question, "issuer": False}))
    unique = {field.question: field for field in wanted}
    spare = (f"What stands on line {line}?" for line in range(number))
    while len(unique) < number:
        question = next(spare)
        unique[question] = FieldDefinition(name=f"spare_{len(unique)}", question=question)
    return list(unique.values())


if __name__ == "__main__":
    main()
