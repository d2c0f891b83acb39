"""Quotas bite where they say, and people are told before, on both databases."""

import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import func, select

from db.base import now
from db.tables import Job
from engine import audit, quotas
from engine.documents.ingest import ingest
from engine.errors import NotFound, OverQuota, Refused, TooMany
from engine.followers import catch_up
from engine.jobs.jobs_of_day import enqueue_of_day
from engine.lifecycle import bin as lifecycle
from engine.lifecycle import erasing
from engine.quotas import Space
from engine.workspace import Workspace
from tests.support.annotators import make_person
from tests.support.factories import make_project
from tests.support.made_papers import bill_pdf

LIMITS = {"quota_project_documents": 2, "quota_person_documents": 3}


@pytest.fixture
def limited(workspace: Workspace) -> Workspace:
    return replace(workspace, settings=workspace.settings.model_copy(update=LIMITS))


def test_a_project_and_a_person_upload_as_much_as_they_may(limited: Workspace, tmp_path: Path) -> None:
    bills, forms = make_project(limited, "bills").id, make_project(limited, "forms").id
    ann = make_person(limited, "Ann", bills).id
    first = _upload(limited, tmp_path, bills, ann, 1)
    assert _space(limited, bills).sentence() == ""
    _upload(limited, tmp_path, bills, ann, 2)
    assert _space(limited, bills).sentence() == "The project bills holds 2 of 2 documents."
    with pytest.raises(OverQuota, match=r"The project bills has reached its quota of 2 documents\. Remove"):
        _upload(limited, tmp_path, bills, ann, 3)
    assert _upload(limited, tmp_path, bills, ann, 1) == first  # it is there already, and takes no room
    lifecycle.remove(limited, bills, [first], ann)
    assert _space(limited, bills).documents == 1
    _upload(limited, tmp_path, bills, ann, 3)
    with pytest.raises(OverQuota, match="You have reached your quota of 3 documents"):  # the removed one counts
        _upload(limited, tmp_path, forms, ann, 4)
    quotas.set_quota(limited, "person", ann, 0, None, by=ann)
    _upload(limited, tmp_path, forms, ann, 4)
    assert _person(limited, ann).documents == 4
    assert _person(limited, ann).most_documents is None


def test_what_is_deleted_for_good_frees_the_quota_of_its_person(limited: Workspace, tmp_path: Path) -> None:
    project = make_project(limited, "bills").id
    ann = make_person(limited, "Ann", project).id
    removed = [_upload(limited, tmp_path, project, ann, number) for number in (1, 2)]
    lifecycle.remove(limited, project, removed, ann)
    assert _space(limited, project).documents == 0
    _upload(limited, tmp_path, project, ann, 3)
    assert _person(limited, ann).documents == 3
    assert len(erasing.mark(limited, project, None, ann).documents) == 2
    assert erasing.erase_marked(limited) == 2
    kept = _person(limited, ann)
    assert (kept.documents, kept.bytes) == (1, _file(tmp_path, 3).stat().st_size)
    _upload(limited, tmp_path, project, ann, 1)


def test_bytes_count_as_they_were_uploaded(limited: Workspace, tmp_path: Path) -> None:
    project = make_project(limited, "bills").id
    ann = make_person(limited, "Ann", project).id
    quotas.set_quota(limited, "project", project, None, 1, by=ann)
    _upload(limited, tmp_path, project, ann, 1)
    used = _space(limited, project).bytes
    assert used == _file(tmp_path, 1).stat().st_size == _person(limited, ann).bytes
    large = _file(tmp_path, 2)
    large.write_bytes(large.read_bytes() + bytes(1_000_000))
    with pytest.raises(OverQuota, match=r"bills would exceed its quota of 1\.0 MB: 0\.0 MB are used, and this"):
        _upload(limited, tmp_path, project, ann, 2)


def test_quotas_of_a_project_stand_before_those_of_the_settings_and_are_audited(limited: Workspace) -> None:
    project = make_project(limited, "bills").id
    ann = make_person(limited, "Ann", project).id
    assert (_space(limited, project).most_documents, _space(limited, project).own) == (2, False)
    set_to = quotas.set_quota(limited, "project", project, 500, 2000, by=ann)
    assert (set_to.most_documents, set_to.most_bytes, set_to.own) == (500, 2_000_000_000, True)
    assert audit.entries(limited)[0].what == "set the quota of the project bills to 500 documents and 2,000 MB"
    quotas.set_quota(limited, "project", project, None, None, by=ann)
    assert (_space(limited, project).most_documents, _space(limited, project).own) == (2, False)
    with pytest.raises(NotFound, match="There is no such project"):
        quotas.set_quota(limited, "project", ann, 1, None, by=ann)
    with pytest.raises(Refused, match="A quota is a number from 0"):
        quotas.set_quota(limited, "project", project, -1, None, by=ann)


def test_jobs_of_a_person_are_counted_for_a_day(limited: Workspace) -> None:
    project = make_project(limited, "bills").id
    ann, ben = (make_person(limited, name, project).id for name in ("Ann", "Ben"))
    with limited.database.write() as session:
        for hours, person in ((25, ann), (23, ann), (1, ann), (1, ben)):
            moment = now() - timedelta(hours=hours)
            session.add(
                Job(project_id=project, kind="export", payload={"user_id": person}, status="done", created_at=moment)
            )

    def start(kind: str, person: str, most: int) -> None:
        enqueue_of_day(limited, kind, project, {"user_id": person}, most=most)

    with pytest.raises(TooMany, match=r"Too many exports: 2 in 24 hours are allowed\. Try again in 1 hour\.") as error:
        start("export", ann, 2)
    assert 3000 < error.value.seconds <= 3600
    start("export", ann, 3)
    with pytest.raises(TooMany, match="3 in 24 hours"):
        start("export", ann, 3)
    start("export", ann, 0)
    start("import", ann, 1)
    start("export", ben, 2)


def test_imports_that_are_requested_at_once_are_counted_one_by_one(limited: Workspace) -> None:
    project = make_project(limited, "bills").id
    ann = make_person(limited, "Ann", project).id
    together = threading.Barrier(8)

    def start(_: int) -> bool:
        together.wait()
        try:
            enqueue_of_day(limited, "import", project, {"user_id": ann}, most=1)
        except TooMany:
            return False
        return True

    with ThreadPoolExecutor(8) as threads:
        assert list(threads.map(start, range(8))).count(True) == 1
    with limited.database.read() as session:
        assert session.scalar(select(func.count()).select_from(Job)) == 1


def test_no_quota_refuses_what_comes_back_from_the_bin(limited: Workspace, tmp_path: Path) -> None:
    project = make_project(limited, "bills").id
    ann = make_person(limited, "Ann", project).id
    first = _upload(limited, tmp_path, project, ann, 1)
    lifecycle.remove(limited, project, [first], ann)
    catch_up(limited)
    for number in (2, 3):
        _upload(limited, tmp_path, project, ann, number)
    assert lifecycle.restore(limited, project, [first], ann) == [first]
    assert _space(limited, project).documents == 3
    with pytest.raises(OverQuota, match="The project bills has reached its quota of 2 documents"):
        _upload(limited, tmp_path, project, ann, 4)


def _file(folder: Path, number: int) -> Path:
    path = folder / f"{number}.pdf"
    if not path.exists():
        path.write_bytes(bill_pdf(number))
    return path


def _upload(workspace: Workspace, folder: Path, project_id: str, user_id: str, number: int) -> str:
    """Take a file in, and let the figures follow; return the id of the document."""
    taken = ingest(workspace, _file(folder, number), name=f"{number}.pdf", project_id=project_id, user_id=user_id)
    catch_up(workspace)
    return taken.document_id


def _space(workspace: Workspace, project_id: str) -> Space:
    catch_up(workspace)
    with workspace.database.read() as session:
        return quotas.load_spaces(session, workspace.settings, project_id, None)[0]


def _person(workspace: Workspace, user_id: str) -> Space:
    catch_up(workspace)
    with workspace.database.read() as session:
        return quotas.load_spaces(session, workspace.settings, None, user_id)[0]
