"""The Python client against the real application over real HTTP."""

import doctest
import json
import re
import zipfile
from pathlib import Path
from typing import Any

import httpx
import pytest
from sqlalchemy import func, select

import engine.client
from db.base import now
from db.tables import Annotation, Prediction, Revision
from engine import audit
from engine.annotation.edits import EditWords
from engine.client import Glossator, ServerSaid, WordText
from engine.client.transport import Connection
from engine.jobs import queue
from tests.engine.client.test_logins import end_logins
from tests.support.client_house import PASSWORD, House, member
from tests.support.factories import bill, make_document, make_project


def test_the_example_in_the_docstring_runs(house: House, invoice: Path, tmp_path: Path) -> None:
    example = doctest.DocTestFinder().find(engine.client.Glossator, "Glossator", globs={})[0]
    example.globs = {
        "Glossator": Glossator,
        "address": house.address,
        "token": house.tokens["ada"],
        "path": invoice,
        "folder": tmp_path,
    }
    assert len(example.examples) == 1
    said: list[str] = []
    results = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(example, out=said.append)
    assert results.failed == 0, "".join(said)
    with zipfile.ZipFile(tmp_path / "invoices.zip") as archive:
        assert any(name.endswith(".json") for name in archive.namelist())


def test_fields_go_through_a_file(house: House, tmp_path: Path) -> None:
    with house.as_("ada") as ada:
        project = ada.create_project("typed").id
        [invoice] = [ready for ready in ada.field_sets() if ready.name == "invoice"]
        ada.set_fields(project, [field.model_dump(mode="json") for field in invoice.fields])
        file = ada.export_fields(project, tmp_path / "fields.yaml")
        assert [field.name for field in ada.read_fields_file(project, file)] == [each.name for each in invoice.fields]
        schema = json.loads(ada.export_fields(project, tmp_path / "schema.json", schema=True).read_text("utf-8"))
        assert schema["properties"]["total"]["title"] == "What is the total amount?"
        laughs = "a0: &a0 [ha, ha]\n" + "".join(f"a{n}: &a{n} [{f'*a{n - 1}, ' * 9}]\n" for n in range(1, 30))
        file.write_text(f"{laughs}fields: *a29\n", "utf-8")
        with pytest.raises(ServerSaid, match=r"fields.yaml, line 1: anchors .* are not read") as refused:
            ada.read_fields_file(project, file)
        assert refused.value.status == 422


def test_a_script_goes_through_the_queue_and_another_one_reviews(house: House, invoice: Path) -> None:
    with house.as_("ada") as ada, house.as_("ann") as ann, house.as_("rob") as rob:
        project = ada.create_project("queue")
        member(house, project.id, "ann", "annotator")
        member(house, project.id, "rob", "reviewer")
        assert ada.change_settings(project.id, review_required=True)["review_required"] is True
        assert [each.name for each in ann.projects()] == ["queue"] and ann.project("queue").id == project.id
        taken = ada.upload(project.id, invoice).documents[0]
        assert [line.id for line in ann.documents(project.id)] == [taken.document_id]
        assert [line.id for line in ann.documents(project.id, [taken.document_id])] == [taken.document_id]
        assert ann.documents(project.id, ["0" * 32]) == []
        cursor = ann.changed_since().next
        rob.set_standard_questions(project.id, ["What is the total due?"])
        told = {(each.project_id, each.topic) for each in ann.changed_since(cursor).changes}
        assert told - {(project.id, "figures")} == {(project.id, "questions"), (project.id, "tasks")}
        task = ann.next(project.id).task
        assert task is not None and task.document_id == taken.document_id
        ann.heartbeat(task.id)
        answer = ann.ask(task.document_id, task.question.text)
        page = ann.document(task.document_id).pages[0].id
        words = ann.words(page)
        amount = words.numbers[words.texts.index("2,987.88")]
        x0, y0, x1, y1 = words.boxes[words.texts.index("2,987.88")]
        assert amount in ann.refine(answer.id, page, points=[((x0 + x1) / 2, (y0 + y1) / 2, True)]).words
        assert ann.image(page).startswith(b"\x89PNG")
        edits: list[Any] = [{"op": "clear", "page": page}, EditWords(op="words", page=page, add=[amount])]
        saved = ann.save(answer.id, answer.head, edits, seconds=3)
        assert saved.text == "2,987.88"
        assert ann.accept(answer.id, saved.revision, seconds=2).status == "submitted"
        waiting = rob.next_review(project.id)
        assert waiting.annotation_id == answer.id
        with pytest.raises(ServerSaid, match=r"reason") as refused:
            rob.review(answer.id, 2, "rejected")
        assert refused.value.status == 422
        rob.review(answer.id, 2, "accepted", quality=True, completeness=True)
        assert [line.reviewer for line in ann.reviews(answer.id)] == ["rob"]
        assert [line.status for line in ann.history(answer.id)] == ["draft", "submitted", "accepted"]
        assert ann.annotation(answer.id).status == "accepted"
        assert ann.queue(project.id).done == 1 and ann.next(project.id).reason
        figures = rob.figures(project.id)
        # The server measured less than what was sent where the steps of this test took less.
        assert 0 < (figures.by_model[0].seconds_median or 0) <= 5 and figures.people[0].person == "ann"
        assert rob.agreement(project.id).model.questions == 1
        with pytest.raises(ServerSaid) as forbidden:
            ann.agreement(project.id)
        assert forbidden.value.status == 403


def test_an_answer_that_got_lost_is_asked_for_again_and_stored_once(house: House, invoice: Path) -> None:
    with house.as_("ada") as ada:
        project = ada.create_project("lost")
        taken = ada.upload(project.id, invoice).documents[0]
        house.gateway.losing = 1
        answer = ada.ask(taken.document_id, "What is the total due?")
        page = ada.document(taken.document_id).pages[0].id
        house.gateway.losing = 2
        saved = ada.save(answer.id, 0, [{"op": "words", "page": page, "add": [1]}])
        assert saved.revision == 1 and house.gateway.losing == 0
        house.gateway.losing = 1
        again = ada.upload(project.id, invoice)
        assert [each.created for each in again.documents] == [False]
    with house.workspace.database.read() as session:
        for table in (Revision, Prediction):
            stored = session.scalar(select(func.count()).where(table.annotation_id == answer.id))
            assert stored == 1, table
        assert session.scalar(select(func.count()).where(Annotation.document_id == taken.document_id)) == 1


def test_what_is_not_to_be_done_twice_is_not_sent_twice(house: House) -> None:
    with house.as_("ada") as ada:
        house.gateway.losing = 1
        with pytest.raises(ServerSaid) as lost:
            ada.create_project("once")
        assert lost.value.status == 504 and house.gateway.losing == 0
        assert ada.project("once").name == "once"


def test_a_conflict_brings_the_newest_version_along(house: House, invoice: Path) -> None:
    with house.as_("ada") as ada:
        project = ada.create_project("conflict")
        taken = ada.upload(project.id, invoice).documents[0]
        answer = ada.ask(taken.document_id, "What?")
        page = ada.document(taken.document_id).pages[0].id
        ada.save(answer.id, 0, [{"op": "words", "page": page, "add": [1]}])
        with pytest.raises(ServerSaid, match="your change starts from revision 0") as conflict:
            ada.save(answer.id, 0, [{"op": "words", "page": page, "add": [2]}])
        assert conflict.value.status == 409 and conflict.value.body["current"]["head"] == 1
        with pytest.raises(ServerSaid, match=r"^base: ") as wrong:
            ada.save(answer.id, -1)
        assert wrong.value.status == 422
        assert ada.no_answer(answer.id, 1).state.no_answer is True
        with pytest.raises(ServerSaid, match="your change starts from revision 1") as conflict:
            ada.remove(answer.id, 1)
        assert conflict.value.status == 409 and conflict.value.body["current"]["head"] == 2


def test_the_original_of_a_document_is_downloaded(house: House, invoice: Path, tmp_path: Path) -> None:
    with house.as_("ada") as ada:
        document_id = ada.upload(ada.create_project("originals").id, invoice).documents[0].document_id
        assert ada.original(document_id, tmp_path / "copy.pdf").read_bytes() == invoice.read_bytes()


def test_a_removed_document_is_listed_and_restored(house: House, invoice: Path) -> None:
    with house.as_("ada") as ada:
        project = ada.create_project("removed documents").id
        document_id = ada.upload(project, invoice).documents[0].document_id
        assert ada.remove_documents(project, [document_id]) == [document_id]
        with pytest.raises(ServerSaid, match=r"^This document was removed and lies in the bin"):
            ada.document(document_id)
        assert [line.id for line in ada.bin(project)] == [document_id]
        assert ada.restore_documents(project, [document_id]) == [document_id]
        assert (ada.bin(project), ada.document(document_id).id) == ([], document_id)
        ada.remove_documents(project, [document_id])
        emptied = ada.empty_bin(project)
        assert (emptied.documents, emptied.stays, ada.bin(project)) == ([document_id], [], [])


def test_a_removed_answer_is_listed_and_restored(house: House, invoice: Path) -> None:
    with house.as_("ada") as ada:
        document_id = ada.upload(ada.create_project("removed").id, invoice).documents[0].document_id
        answer = ada.ask(document_id, "asdf")
        house.gateway.losing = 1
        ada.remove(answer.id, answer.head)
        assert house.gateway.losing == 0 and ada.document(document_id).annotations == []
        with pytest.raises(ServerSaid, match=r"^This answer was removed\.") as gone:
            ada.accept(answer.id, 0)
        assert gone.value.status == 404
        assert [each.question.text for each in ada.removed(document_id)] == ["asdf"]
        assert ada.restore(answer.id) == ada.annotation(answer.id) == answer


def test_failures_are_one_sentence(house: House, tmp_path: Path) -> None:
    with house.as_("ann") as ann:
        with pytest.raises(ServerSaid, match=r"There is no project 'nowhere'\. Projects: .+\.$"):
            ann.project("nowhere")
        with pytest.raises(ServerSaid) as missing:
            ann.document("nothing")
        assert missing.value.status == 404
    text = tmp_path / "a.txt"
    text.write_text("hello")
    with house.as_("ada") as ada, pytest.raises(ServerSaid, match=r"a\.txt"):
        ada.upload(ada.projects()[0].id, text)
    with pytest.raises(ServerSaid, match="The name or the password is wrong") as wrong:
        Glossator(house.address, name="ann", password="not it at all")
    assert wrong.value.status == 401
    with pytest.raises(ServerSaid, match="No Glossator answers at") as nobody:
        Connection(
            "http://127.0.0.1:9", token=None, name=None, password=None, timeout=1, pauses=(0.0,), sleep=lambda _s: None
        ).get(dict, "/me")
    assert nobody.value.status == 0


def test_a_script_mends_words_and_keeps_what_it_reviews(house: House, invoice: Path) -> None:
    with house.as_("ada") as ada, house.as_("ann") as ann, house.as_("rob") as rob:
        project = ada.create_project("editing")
        for name, role in (("ann", "annotator"), ("rob", "reviewer")):
            user = next(each for each in ada.users() if each.name == name)
            assert ada.put_member(project.id, user.id, role).role == role
        taken = ada.upload(project.id, invoice).documents[0]
        page = ann.document(taken.document_id).pages[0].id
        ann.encode(page)
        assert ann.thumbnail(page, 64).startswith(b"\xff\xd8")
        words = ann.words(page)
        amount = words.numbers[words.texts.index("2,987.88")]
        edit = WordText(op="text", number=amount, text="2,987.89")
        house.gateway.losing = 1
        edited = ann.edit_words(page, words.version, [edit])
        assert edited.saved_version == 1 and edited.texts[edited.numbers.index(amount)] == "2,987.89"
        with pytest.raises(ServerSaid) as conflict:
            ann.edit_words(page, words.version, [edit])
        assert conflict.value.status == 409 and conflict.value.body["current"]["version"] == 1
        rob.set_standard_questions(project.id, ["What is the total due?"])
        task = ann.next(project.id).task
        assert task is not None and ann.heartbeat(task.id) > now()
        ann.release(task.id)
        answer = ann.ask(taken.document_id, task.question.text)
        assert ann.next_answer(project.id).annotation_id == answer.id
        for more in (ann.ask_more(answer.id), ann.ask_more(answer.id, 1)):
            assert more.proposal is not None and len(more.proposal.ranked) == 1
        saved = ann.save(answer.id, answer.head, [{"op": "words", "page": page, "add": [amount]}])
        ann.submit(answer.id, saved.revision)
        assert rob.review_heartbeat(answer.id) > now()
        with pytest.raises(ServerSaid, match="reviewed by rob") as held:
            ada.review_heartbeat(answer.id)
        assert held.value.status == 409
        rob.release_review(answer.id)
        assert ada.review_heartbeat(answer.id) > now()
        rob.review(answer.id, 2, "accepted")
        assert rob.set_gold(task.id, answer.id).gold == answer.id == rob.tasks(project.id)[0].gold
        assert rob.tasks(project.id, offset=1) == []
        assert rob.gold(answer.id).annotation_id == answer.id
        assert rob.set_gold(task.id, None).gold is None


def test_a_script_looks_after_people(house: House) -> None:
    with house.as_("ada") as ada:
        project = ada.create_project("people")
        made = ada.invite(project.id, "reviewer", days=2)
        assert made.url.startswith(f"{house.address}/invite/") and ada.invitations(project.id)[0].state == "open"
        ada.withdraw(made.id)
        assert ada.invitations(project.id)[0].state == "withdrawn"
        new = ada.add_user("zed", PASSWORD)
        assert ada.put_member(project.id, new.id, "annotator").name == "zed"
        with Glossator(house.address, name="zed", password=PASSWORD) as zed:
            assert zed.set_preferences({"theme": "dark"}) == zed.preferences() == {"theme": "dark"}
            with Glossator(house.address, name="zed", password=PASSWORD) as elsewhere:
                assert elsewhere.me().id == new.id and len(zed.sessions()) == 2
            zed.end_session(next(each.id for each in zed.sessions() if not each.current))
            zed.change_password(PASSWORD, "another password")
            assert [each.client for each in zed.sessions()] == [each.client for each in ada.sessions_of(new.id)]
            zed.remove_member(project.id, new.id)
        assert [each.name for each in ada.members(project.id)] == ["ada"]
        ada.end_sessions_of(new.id)
        assert ada.sessions_of(new.id) == []
        ada.set_password(new.id, PASSWORD)
        assert ada.change_user(new.id, disabled=True).disabled is True
        said = [line.what for line in ada.audit(project.id, limit=3)]
        assert said == [
            "left the project",
            "added zed to the project as annotator",
            "withdrew an invitation with the role reviewer",
        ]
        last = ada.audit(limit=1)[0]
        assert last.what == "disabled the user zed" and ada.audit(before=last.id, limit=1)[0].id != last.id


def test_the_client_reaches_every_route(house: House) -> None:
    """The client promises all that people can do on the page.

    `/health` and below are for monitoring; `/changes` streams to browsers what `changed_since` asks for.
    """
    parts = [path for path in Path(str(engine.client.__file__)).parent.glob("*.py") if path.name != "transport.py"]
    source = "".join(path.read_text("utf-8") for path in parts)
    reached = {re.sub(r"{\w+}", "{}", path) for path in re.findall(r'f?"(/[a-z][^"]*)"', source)}
    routes = httpx.get(f"{house.address}/api/openapi.json", headers={"authorization": f"Bearer {house.tokens['ada']}"})
    known = {re.sub(r"{\w+}", "{}", path.removeprefix("/api")) for path in routes.json()["paths"]}
    assert known - reached == {"/health", "/health/live", "/health/ready", "/changes"} and reached - known == set()


def test_a_download_is_tried_again_and_logs_in_again(house: House, invoice: Path, tmp_path: Path) -> None:
    with Glossator(house.address, name="ada", password=PASSWORD) as ada:
        project = ada.create_project("download")
        taken = ada.upload(project.id, invoice).documents[0]
        ada.no_answer(ada.ask(taken.document_id, "Who?").id, 0)
        house.gateway.losing = 2
        assert zipfile.is_zipfile(ada.export(project.id, tmp_path / "first.zip")) and house.gateway.losing == 0
        end_logins(house, "ada")
        assert zipfile.is_zipfile(ada.export(project.id, tmp_path / "second.zip"))
        started = ada.start_export(project.id, "grounded", status=["accepted"])
        while (made := ada.exports(project.id)[0]).state != "done":
            assert made.id == started.id and made.state in ("waiting", "running"), made
        kept = ada.download_export(project.id, made.id, tmp_path / "kept.zip").read_bytes()
        assert len(kept) == made.bytes and made.answers == 1
        with pytest.raises(ServerSaid, match="It may have ended"):
            ada.stop_export(project.id, made.id)
        (tmp_path / "kept.zip").unlink()
        assert "grounded" in [each.name for each in ada.export_formats(project.id)]
        whole = ada.export(project.id, tmp_path / "grounded.zip", "grounded", status=["accepted"])
        assert whole.read_bytes() == kept
        ada.remove_export(project.id, made.id)
        assert ada.exports(project.id) == []
        frozen = ada.snapshots(project.id)
        ada.remove_snapshot(project.id, frozen[-1].sha256)
        assert ada.snapshots(project.id) == frozen[:-1]
        with pytest.raises(ServerSaid, match="nano is the model that all projects begin with; it stays"):
            ada.remove_model(project.id, ada.models(project.id)[0].id)
        taken_in = ada.import_set(ada.create_project("taken in").id, whole, "grounded")
        assert (taken_in.documents, taken_in.answers, taken_in.no_answer) == (1, 0, 1)
        with pytest.raises(ServerSaid, match="Nothing was imported"):
            ada.import_set(project.id, whole, "funsd")
        assert ada.imports(project.id) == []
        with pytest.raises(ServerSaid, match="It may have ended"):
            ada.stop_import(project.id, "0" * 32)
        whole.unlink()
        with pytest.raises(ServerSaid) as missing:
            ada.export("nothing", tmp_path / "third.zip")
        assert missing.value.status == 404
    assert {path.name for path in tmp_path.glob("*.zip*")} == {"first.zip", "second.zip"}


def test_jobs_and_what_starts_them_from_python(house: House) -> None:
    with house.as_("ada") as glossator:
        project = glossator.create_project("of jobs")
        job = glossator.retrain(project.id)
        triggers = glossator.triggers(project.id)
        assert (triggers.job_id, triggers.accepted, triggers.wanted) == (job.id, 0, 20)
        with pytest.raises(ServerSaid, match="this one is waiting"):
            glossator.retry(job.id)
        leased = queue.lease(house.workspace, "a worker", ["retrain"], job_id=job.id)
        assert leased is not None
        queue.fail(house.workspace, job.id, "a worker", "There is nothing to learn from.", retry=False)
        [failed] = glossator.jobs(project.id)
        assert (failed.status, failed.failure) == ("failed", "There is nothing to learn from.")
        assert glossator.retry(job.id).status == "waiting"
        assert glossator.cancel(job.id).status == "cancelled"


def test_a_list_of_documents_is_fetched_to_its_last_page(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    project = make_project(house.workspace, "long").id
    for number in range(5):
        make_document(house.workspace, project, [bill(number)], name=f"bill {number}.png")
    member(house, project, "ann", "annotator")
    client = house.as_("ann")
    asked: list[Any] = []
    send = Connection.send

    def in_pages_of_two(connection: Connection, method: str, path: str, **more: Any) -> httpx.Response:
        asked.append(dict(more["params"]))
        more["params"]["limit"] = 2
        return send(connection, method, path, **more)

    monkeypatch.setattr(Connection, "send", in_pages_of_two)
    names = [line.name for line in client.documents(project, query="BILL", sort="name")]
    assert names == [f"bill {number}.png" for number in range(5)]
    assert len(asked) == 3 and [each["q"] for each in asked] == ["BILL"] * 3
    first = next(client.each_document(project))
    assert first.name == "bill 4.png" and len(asked) == 4


def test_lists_are_fetched_to_their_end_or_to_a_limit(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    project = make_project(house.workspace, "many jobs").id
    for _ in range(5):
        queue.enqueue(house.workspace, "survey", project)
        audit.note(house.workspace, None, "members.leave", "x", project)
    client = house.as_("ada")
    asked: list[Any] = []
    send = Connection.send

    def small(connection: Connection, method: str, path: str, **more: Any) -> httpx.Response:
        asked.append(more["params"]["limit"])
        more["params"] = {**more["params"], "limit": min(more["params"]["limit"], 2)}
        return send(connection, method, path, **more)

    monkeypatch.setattr(Connection, "send", small)
    jobs = [each.id for each in client.jobs(project, limit=None)]
    assert len(jobs) == len(set(jobs)) == 5 and asked == [1000] * 3
    asked.clear()
    assert [each.id for each in client.jobs(project, limit=3)] == jobs[:3] and asked == [3] * 2
    asked.clear()
    trail = client.audit(project, limit=None)
    assert len(trail) == 6 and set(asked) == {500}  # with the entry of the project itself
    assert client.audit(project, before=trail[1].id, limit=2) == trail[2:4]
