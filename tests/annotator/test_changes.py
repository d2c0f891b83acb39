"""The stream of changes over real HTTP: who hears what, how it ends, and the poll beside it."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from sqlalchemy import update

from annotator import change_streams, event_stream
from annotator.app import create_app
from db.base import now
from db.changes import publish
from db.ids import new_id
from db.tables import Change, Project, User
from engine import changes
from engine.accounts import change_rights, members, sessions
from engine.accounts.users import change_user, ensure_local_user
from engine.commands.servers.serve import server_options
from engine.settings import Settings
from engine.workspace import Workspace
from tests.conftest import KINDS, fresh_database
from tests.support.accounts import cookie_of, make_user
from tests.support.annotators import answer, judge
from tests.support.change_listener import Listener
from tests.support.factories import bill, make_document, make_project
from tests.support.office import Office
from tests.support.server_thread import served
from tests.support.waiting import wait_until


@dataclass
class Site:
    """A server where people log in."""

    address: str
    workspace: Workspace
    streams: change_streams.ChangeStreams


class House:
    """Two projects on a server, and an annotator in the first."""

    def __init__(self, site: Site) -> None:
        self.workspace, self.address, self.streams = site.workspace, site.address, site.streams
        self.project, self.other = (make_project(self.workspace, f"{name} {new_id()}") for name in ("mine", "another"))
        self.boss = ensure_local_user(self.workspace)
        self.ann = make_user(self.workspace, **{self.project.id: "annotator"})
        self.cookie = cookie_of(self.workspace, self.ann)
        with self.workspace.database.write() as session:  # all of this is some while ago
            session.execute(update(Change).values(created_at=now() - 2 * changes.LOADING))

    def listen(self, cookie: dict[str, str] | None = None, **more: Any) -> Listener:
        return Listener(self.address, self.cookie if cookie is None else cookie, **more)

    def tell(self, project: Project | None, topic: str = "jobs", subject: str | None = None) -> None:
        with self.workspace.database.write() as session:
            publish(session, topic, project.id if project else None, subject)  # type: ignore[arg-type]

    def get(self, path: str, cookie: dict[str, str] | None = None) -> Any:
        reply = httpx.get(f"{self.address}/api{path}", cookies=self.cookie if cookie is None else cookie)
        assert reply.status_code == 200, reply.text
        return reply.json()


@pytest.fixture(scope="module", params=KINDS)
def site(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """One server for all tests, for each kind of database: starting one takes seconds."""
    folder, address = tmp_path_factory.mktemp("changes"), ""
    if request.param == "postgresql":
        address = fresh_database(request.getfixturevalue("postgresql_address"))
    settings = Settings(data_dir=folder, database_url=address, auth="login", _env_file=None)
    app = create_app(settings)
    with served(app, **server_options(settings)) as at:
        yield Site(at, app.state.answer_service.workspace, app.state.change_streams)


@pytest.fixture
def house(site: Site) -> House:
    return House(site)


SQLITE = pytest.mark.parametrize("site", ["sqlite"], indirect=True)


def test_a_stream_tells_of_the_persons_projects_alone(house: House) -> None:
    owner = make_user(house.workspace, role="admin")
    with house.listen() as ann, house.listen(cookie_of(house.workspace, owner)) as olga:
        assert ann.response is not None and ann.response.headers["x-accel-buffering"] == "no"
        assert ann.response.headers["content-type"].startswith("text/event-stream")
        assert "content-length" not in ann.response.headers
        assert ann.views[0]["changes"] == []
        began = time.monotonic()
        house.tell(house.other)
        house.tell(house.project, "documents", "d1")
        house.tell(house.project, "documents", "d2")
        house.tell(None, "users", owner.id)
        house.tell(None)
        ann.hear("jobs", None)
        assert ann.heard_at[-1] - began < 2
        assert ann.topics == {(house.project.id, "documents"), (None, "jobs")}
        assert ann.subjects("documents") == ["d1", "d2"]
        olga.hear("jobs", None)
        assert olga.topics == {*ann.topics, (house.other.id, "jobs"), (None, "users")}
    view = house.get(f"/changes/since?since={ann.views[0]['next']}")
    assert {(each["project_id"], each["topic"]) for each in view["changes"]} == ann.topics
    assert house.get("/changes/since")["next"] == view["next"]


@SQLITE
def test_a_reader_works_only_while_somebody_listens(house: House) -> None:
    def reads() -> bool:
        return any(thread.name == "follow-changes" for thread in threading.enumerate())

    wait_until(lambda: not reads())
    with house.listen():
        assert reads()
    wait_until(lambda: not reads())
    with house.listen() as again:
        house.tell(house.project)
        again.hear("jobs", house.project.id)


@SQLITE
def test_a_stream_goes_on_where_the_one_before_was_cut(house: House) -> None:
    with house.listen() as first:
        cursor = first.views[0]["next"]
    house.tell(house.project, "runs")
    house.tell(house.other, "models")
    for more in ({"since": cursor}, {"headers": {"last-event-id": str(cursor)}}):
        with house.listen(**more) as again:
            assert again.topics == {(house.project.id, "runs")} and not again.views[0]["all"]
    with house.workspace.database.write() as session:
        for _ in range(3):
            publish(session, "runs", house.project.id)
    with house.listen(since=cursor + 1000) as elsewhere:
        assert elsewhere.views[0]["all"] and elsewhere.views[0]["changes"] == []
    assert house.get(f"/changes/since?since={cursor + 1000}")["all"]
    with house.listen(headers={"last-event-id": "nonsense"}) as confused:
        assert confused.response is not None and confused.response.status_code == 200


def test_rights_are_checked_again_when_memberships_change(house: House) -> None:
    with house.listen() as ann:
        members.put_member(house.workspace, house.other.id, house.ann.id, "annotator", by=house.boss)
        ann.hear("members", house.other.id)
        house.tell(house.other)
        ann.hear("jobs", house.other.id)
        members.remove_member(house.workspace, house.project.id, house.ann.id, by=house.boss)
        ann.hear("members", house.project.id)
        house.tell(house.project)
        house.tell(house.other, "runs")
        ann.hear("runs", house.other.id)
        assert (house.project.id, "jobs") not in ann.topics


@SQLITE
def test_rights_are_checked_again_once_in_a_while(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(change_streams, "RIGHTS_SECONDS", 0.0)
    with house.listen() as ann, house.workspace.database.engine.begin() as connection:
        ended = "update login_sessions set revoked_at = created_at where user_id = ?"
        connection.exec_driver_sql(ended, (house.ann.id,))  # published to nobody
        connection.commit()
        assert ann.ended.wait(60)
        assert ann.names == ["end"]


@SQLITE
@pytest.mark.parametrize(
    "end",
    [
        lambda house, token: sessions.log_out(house.workspace, token),
        lambda house, _: change_user(house.workspace, house.ann.id, by=house.boss, disabled=True),
    ],
    ids=["logout", "disabled"],
)
def test_a_stream_ends_with_the_login(house: House, end: Callable[[House, str], object]) -> None:
    another = cookie_of(house.workspace, make_user(house.workspace))
    with house.listen() as ann, house.listen(another) as ben:
        began = time.monotonic()
        end(house, next(iter(house.cookie.values())))
        assert ann.ended.wait(60) and time.monotonic() - began < 5
        assert ann.names == ["end"] and not ben.ended.is_set()
    reply = httpx.get(f"{house.address}/api/changes", cookies=house.cookie)
    assert reply.status_code == 401


@SQLITE
def test_a_person_has_so_many_streams_and_others_have_theirs(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(change_streams, "OF_ONE", 2)
    another = cookie_of(house.workspace, make_user(house.workspace))
    with ExitStack() as listening:
        first, _ = (listening.enter_context(house.listen()) for _ in range(2))
        refused = httpx.get(f"{house.address}/api/changes", cookies=house.cookie)
        assert refused.status_code == 429 and int(refused.headers["retry-after"]) > 0
        assert refused.json()["detail"] == "Glossator is open in too many windows. Close some of them."
        listening.enter_context(house.listen(another))
        first.leave()
        wait_until(lambda: house.streams._of[house.ann.id] == 1)
        assert "changes" in listening.enter_context(house.listen()).views[0]
        house.streams._most = 3
        assert httpx.get(f"{house.address}/api/changes", cookies=another).status_code == 429
    wait_until(lambda: not house.streams._streams)


@SQLITE
def test_a_quiet_stream_stays_alive_and_counts_nothing_foreign(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_stream, "ALIVE_SECONDS", 0.05)
    with house.listen() as ann:
        ann.wait(lambda: len(ann.views) > 5)
        first, views = ann.views[0]["next"], len(ann.views)
        house.tell(house.other)
        with house.workspace.database.read() as session:
            newest = changes.newest(session)
        wait_until(lambda: house.streams._cursor >= newest)
        ann.wait(lambda: len(ann.views) > views + 5)
        assert {view["next"] for view in ann.views} == {first}
        assert house.get(f"/changes/since?since={first}") == {"next": first, "all": False, "changes": []}
        monkeypatch.setattr(change_rights, "HELD", 0)  # as after hundreds of them: no long way back at a reconnect
        house.tell(house.other)
        ann.wait(lambda: ann.views[-1]["next"] > first)
        assert (house.other.id, "jobs") not in ann.topics


def test_the_server_stops_while_somebody_listens(tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path, auth="login", _env_file=None)
    app = create_app(settings)
    with ExitStack() as listening:
        with served(app, **server_options(settings)) as address:
            house = House(Site(address, app.state.answer_service.workspace, app.state.change_streams))
            ann = listening.enter_context(house.listen())
            began = time.monotonic()
        assert time.monotonic() - began < 4  # uvicorn cuts what is left after five seconds
        assert ann.ended.wait(60)
        assert ann.names == [], "the browser tries again; only the end of a login is for good"


def test_blind_work_tells_an_annotator_nothing_of_others(house: House) -> None:
    office = Office(house.workspace, questions=())
    office.set(overlap_share=1.0, overlap_people=2, review_required=True)
    office.ask("What is the total due?")
    blind, open_task = office.tasks()
    with house.workspace.database.write() as session:
        session.merge(open_task).wanted = 1

    def following(user: User) -> Listener:
        return house.listen(cookie_of(house.workspace, user))

    with following(office.ann) as ann, following(office.rita) as rita:
        for task in (blind, open_task):
            answer(house.workspace, task.id, office.ben)
        rita.wait(lambda: {blind.document_id, open_task.document_id} <= set(rita.subjects("answers")))
        ann.wait(lambda: open_task.document_id in ann.subjects("answers"))
        assert blind.document_id not in ann.subjects("answers")
        since = ann.views[0]["next"]
        view = house.get(f"/changes/since?since={since}", cookie_of(house.workspace, office.ann))
        subjects = [line["subjects"] for line in view["changes"] if line["topic"] == "answers"]
        assert subjects == [[open_task.document_id]]
        # Once she has answered it herself, she sees the others' answers, and hears of them.
        mine = answer(house.workspace, blind.id, office.ann)
        ann.wait(lambda: blind.document_id in ann.subjects("answers"))
        heard = ann.subjects("answers").count(blind.document_id)
        with house.workspace.database.write() as session:
            publish(
                session,
                "answers",
                office.project.id,
                blind.document_id,
                question_id=mine.question_id,
                author_id=office.ben.id,
            )
        ann.wait(lambda: ann.subjects("answers").count(blind.document_id) > heard)
        judge(house.workspace, mine.id, office.rita, "rejected", reason="Mark the amount.")
        ann.wait(lambda: ann.subjects("answers").count(blind.document_id) > heard + 1)


@SQLITE
def test_the_database_may_be_away_for_a_while(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    read, failed = changes.since, threading.Event()

    def broken(*_: object) -> Any:
        failed.set()
        raise RuntimeError("away")

    with house.listen() as ann:
        monkeypatch.setattr(changes, "since", broken)
        house.tell(house.project)
        assert failed.wait(60)
        monkeypatch.setattr(changes, "since", read)
        ann.hear("jobs", house.project.id)


@SQLITE
def test_the_list_of_documents_can_be_asked_for_some_of_them(house: House) -> None:
    pages = [bill(1)]
    first, last = (make_document(house.workspace, house.project.id, pages, name=f"{at}.png").id for at in range(2))
    elsewhere = make_document(house.workspace, house.other.id, pages).id
    path = f"/projects/{house.project.id}/documents"
    chosen = house.get(f"{path}?id={first}&id={last}&id={elsewhere}&id={'0' * 32}")
    assert [line["id"] for line in chosen] == [last, first], "newest first, as in the list"
    too_many = "&".join(f"id={at:032x}" for at in range(101))
    assert httpx.get(f"{house.address}/api{path}?{too_many}", cookies=house.cookie).status_code == 422
