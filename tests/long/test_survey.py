"""The survey, with the shipped model on rendered bills: what it asks, what it leaves alone, and that a kill costs it little."""

import os
import signal
import subprocess
import sys
import threading
import time
from datetime import timedelta

import pytest
from sqlalchemy import func, select, update

from db.base import now
from db.tables import (
    Annotation,
    DocumentSignature,
    Job,
    ModelVersion,
    Page,
    Prediction,
    Promotion,
    Revision,
    Task,
)
from engine.accounts.users import ensure_local_user
from engine.annotation.answer_service import AnswerService
from engine.annotation.page_prefilter import PAGES_ASKED
from engine.annotation.survey_answers import unpack_signature
from engine.commands.servers.background import run_worker
from engine.jobs import job_list, queue
from engine.jobs.cancellation import Stopped
from engine.projects.projects import change_settings
from engine.selection import stages, survey_trigger
from engine.selection import survey as surveying
from engine.tasks.standard_questions import replace_standard_questions
from engine.workspace import Workspace
from tests.support.factories import accept, bill, make_document
from tests.support.repository import ROOT
from tests.support.survey_shop import NUMBER, TOTAL, SurveyShop

ASIDE = "Who is the customer?"  # no standard question


@pytest.fixture
def shop(workspace: Workspace) -> SurveyShop:
    return SurveyShop(workspace)


def count(workspace: Workspace, table: type) -> int:
    with workspace.database.read() as session:
        return session.scalar(select(func.count()).select_from(table)) or 0


def test_every_task_is_answered_beforehand_and_no_annotation_is_touched(shop: SurveyShop) -> None:
    accept(shop.workspace, shop.documents[0], TOTAL, [4])
    before = [count(shop.workspace, table) for table in (Annotation, Revision, Prediction)]
    found = shop.survey()
    assert (found["questions"], found["documents"]) == (6, 3)
    said = shop.said()
    assert len(said) == 6
    for each in said.values():
        assert each.model_version_id == shop.version.id
        assert 0 <= each.uncertainty <= 1 and 0 <= each.confidence <= each.answered <= 1
        assert 0 <= each.disagreement <= 1
        assert each.answer["ranked"][0]["page_id"] == each.page_id
    assert [count(shop.workspace, table) for table in (Annotation, Revision, Prediction)] == before
    with shop.workspace.database.read() as session:
        vectors = [unpack_signature(each.vector) for each in session.scalars(select(DocumentSignature))]
    assert len(vectors) == 3 and all(len(each) == 96 and each.any() for each in vectors)


def test_the_survey_says_what_the_desk_would_say(shop: SurveyShop) -> None:
    """Answers are those of asking by hand: the same model, the same words, the same pages."""
    shop.survey()
    service, user = AnswerService(shop.workspace), ensure_local_user(shop.workspace)
    annotation_id, _ = service.ask(shop.documents[1].id, TOTAL, None, user.id)
    with shop.workspace.database.read() as session:
        asked = session.scalar(select(Prediction).where(Prediction.annotation_id == annotation_id))
        assert asked is not None
        said = shop.said()[shop.documents[1].id, asked.question_id]
    assert said.answer["words"] == asked.answer["words"]
    assert said.answer["mask"] == asked.answer["mask"]
    assert said.score == pytest.approx(asked.score, abs=1e-4)
    assert said.answered == pytest.approx(asked.answered, abs=1e-4)


def test_only_what_is_missing_is_asked_again(shop: SurveyShop) -> None:
    shop.survey()
    assert shop.survey()["questions"] == 0
    shop.bill(7)
    replace_standard_questions(shop.workspace, shop.project.id, [TOTAL, NUMBER], shop.rita.id)
    assert shop.survey()["questions"] == 2
    with shop.workspace.database.write() as session:  # somebody mended a word of the first bill
        session.execute(update(Page).where(Page.document_id == shop.documents[0].id).values(words_version=1))
    assert shop.survey()["questions"] == 2
    assert {each.words_version for key, each in shop.said().items() if key[0] == shop.documents[0].id} == {1}


def test_a_new_champion_answers_everything_anew_in_place_of_the_old_one(shop: SurveyShop) -> None:
    shop.survey()
    version = promoted(shop)
    assert shop.survey()["questions"] == 6
    assert {each.model_version_id for each in shop.said().values()} == {version.id}


def promoted(shop: SurveyShop) -> ModelVersion:
    """The shipped weights once more, as a version of the project that was promoted."""
    with shop.workspace.database.write() as session:
        version = ModelVersion(
            project_id=shop.project.id,
            number=1,
            checkpoint_sha256=shop.version.checkpoint_sha256,
            code_version="test",
        )
        session.add(version)
        session.flush()
        session.add(Promotion(project_id=shop.project.id, sequence=1, version_id=version.id, kind="by_hand"))
        return version


def test_labels_are_asked_for_on_training_documents_and_never_on_holdouts(workspace: Workspace) -> None:
    """Of holdouts the standard questions are known, and not what people answered or asked there."""
    shop = SurveyShop(workspace, bills=0)
    train, recent, frozen = (shop.bill(at, split=split) for at, split in enumerate(("train", "recent", "frozen")))
    apart = shop.bill(4, quarantined=True)
    replace_standard_questions(workspace, shop.project.id, [TOTAL, NUMBER], shop.rita.id)
    for document in (train, recent, frozen, apart):
        accept(workspace, document, ASIDE, [6])
    shop.survey()
    asked: dict[str, int] = {}
    for document_id, _ in shop.said():
        asked[document_id] = asked.get(document_id, 0) + 1
    assert asked == {train.id: 3, recent.id: 2, frozen.id: 2, apart.id: 2}


def test_what_a_survey_finds_does_not_depend_on_the_answers_of_holdouts(workspace: Workspace) -> None:
    """The same documents with right, wrong and no answers on a holdout: the same order, the same label reviews."""
    shop = SurveyShop(workspace, bills=4)
    holdout = shop.bill(9, split="recent")
    replace_standard_questions(workspace, shop.project.id, [TOTAL, NUMBER], shop.rita.id)
    change_settings(workspace, shop.project.id, selection="model")

    def outcome() -> tuple[object, ...]:
        found = shop.survey()
        with workspace.database.read() as session:
            places = session.execute(
                select(Task.id, Task.priority, Task.chosen_by).where(Task.document_id != holdout.id).order_by(Task.id)
            ).all()
        return tuple(places), found["label_reviews"], found["ordered"]

    shop.survey()
    accept(workspace, holdout, TOTAL, [4])
    right = outcome()
    accept(workspace, holdout, TOTAL, [0], author="somebody else")
    accept(workspace, holdout, NUMBER, [], author="somebody else")
    assert outcome() == right


def test_a_survey_that_was_cancelled_keeps_what_it_has_and_goes_on_there(shop: SurveyShop) -> None:
    with pytest.raises(Stopped) as stopped:
        shop.survey(lambda: "cancel" if len(shop.said()) == 4 else None)
    assert stopped.value.reason == "cancel"
    assert len(shop.said()) == 4
    assert shop.survey()["documents"] == 1


def test_a_survey_gives_way_to_work_that_waits_and_is_not_lost(
    shop: SurveyShop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(surveying, "GIVE_WAY_SECONDS", 0.0)
    job = survey_trigger.request(shop.workspace, shop.project.id)
    queue.enqueue(shop.workspace, "retrain", shop.project.id)
    with pytest.raises(Stopped) as stopped:
        surveying.survey(shop.workspace, job, on_progress=lambda *_: None, should_stop=lambda: None)
    assert stopped.value.reason == "end"  # the worker gives such a job back, and it counts as no attempt


def test_a_document_that_cannot_be_read_does_not_stop_the_others(shop: SurveyShop) -> None:
    with shop.workspace.database.write() as session:
        missing = update(Page).where(Page.document_id == shop.documents[0].id).values(image_sha256="0" * 64)
        session.execute(missing)
    found = shop.survey()
    assert found["unread"] == [shop.documents[0].id]
    assert len(shop.said()) == 4
    assert "1 document could not be read" in str(found["sentence"])


def test_of_a_long_document_the_likeliest_pages_are_asked(workspace: Workspace) -> None:
    shop = SurveyShop(workspace, bills=0)
    make_document(workspace, shop.project.id, [bill(at) for at in range(PAGES_ASKED + 3)])
    replace_standard_questions(workspace, shop.project.id, [TOTAL], shop.rita.id)
    shop.survey()
    [said] = shop.said().values()
    assert len(said.answer["ranked"]) == PAGES_ASKED


def test_in_the_semi_automatic_stage_the_answer_is_there_before_it_is_asked_for(shop: SurveyShop) -> None:
    """The stored answer is the proposal, and no page is read for it; in the assisted stage a page is."""
    shop.survey()
    user = ensure_local_user(shop.workspace)
    service = AnswerService(shop.workspace)
    with shop.workspace.database.read() as session:
        pages = {page.document_id: page.id for page in session.scalars(select(Page))}
    service.ask(shop.documents[0].id, TOTAL, None, user.id)
    assert service.encoding_status(pages[shop.documents[0].id]) == "encoded"
    stages.set_stage(shop.workspace, shop.project.id, "semi_automatic", by=user)
    annotation_id, existing = service.ask(shop.documents[1].id, TOTAL, None, user.id)
    assert not existing
    assert service.encoding_status(pages[shop.documents[1].id]) == "encoding"
    with shop.workspace.database.read() as session:
        proposal = session.scalar(select(Prediction).where(Prediction.annotation_id == annotation_id))
        assert proposal is not None
        said = shop.said()[shop.documents[1].id, proposal.question_id]
    assert proposal.answer["mask"] == said.answer["mask"]
    assert proposal.model_version_id == shop.version.id
    with shop.workspace.database.write() as session:  # mended words want a new answer
        session.execute(update(Page).where(Page.document_id == shop.documents[2].id).values(words_version=1))
    service.ask(shop.documents[2].id, TOTAL, None, user.id)
    assert service.encoding_status(pages[shop.documents[2].id]) == "encoded"


def test_a_survey_is_asked_for_by_itself_where_a_project_lives_by_it(shop: SurveyShop) -> None:
    assert survey_trigger.check(shop.workspace) == []  # the order of arrival needs none
    change_settings(shop.workspace, shop.project.id, selection="model")
    [job] = survey_trigger.check(shop.workspace)
    assert job.kind == "survey" and job.payload["ask"]
    assert survey_trigger.check(shop.workspace) == []  # asked for once
    run_worker(shop.workspace, once=True)
    assert queue.job_by_id(shop.workspace, job.id).status == "done"
    assert survey_trigger.check(shop.workspace) == []
    promoted(shop)
    [after] = survey_trigger.check(shop.workspace)
    assert after.id != job.id
    queue.cancel(shop.workspace, after.id)
    assert survey_trigger.check(shop.workspace) == []  # who stopped it does not get it again until something changes
    shop.bill(8)
    replace_standard_questions(shop.workspace, shop.project.id, [TOTAL, NUMBER], shop.rita.id)
    assert len(survey_trigger.check(shop.workspace)) == 1


def test_a_drawn_order_needs_no_model(shop: SurveyShop) -> None:
    change_settings(shop.workspace, shop.project.id, selection="random")
    run_worker(shop.workspace, once=True)
    assert shop.said() == {}
    with shop.workspace.database.read() as session:
        assert set(session.scalars(select(Task.chosen_by))) == {"random"}


def test_a_survey_that_was_killed_goes_on_where_it_was(sqlite_workspace: Workspace) -> None:
    """A real process, killed as it can be at any moment; what it had stored is not asked again."""
    shop = SurveyShop(sqlite_workspace, bills=40)
    data = sqlite_workspace.settings.data_dir
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "GLOSSATOR_DATA_DIR": str(data)}
    command = [sys.executable, "-m", "engine.cli", "survey", "--project", shop.project.name]
    process = subprocess.Popen(command, env=environment, cwd=data, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    latest = time.monotonic() + 120
    while len(shop.said()) < 6:
        assert time.monotonic() < latest and process.poll() is None, "the survey did not get anywhere"
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.wait()
    kept = {key: each.created_at for key, each in shop.said().items()}
    assert 6 <= len(kept) < 80
    with sqlite_workspace.database.write() as session:  # its lease would run out by itself, in a minute
        session.execute(update(Job).values(lease_until=now() - timedelta(seconds=1)))
    run_worker(sqlite_workspace, once=True, stop=threading.Event())
    said = shop.said()
    assert len(said) == 80
    assert {key: said[key].created_at for key in kept} == kept
    [job] = [each for each in job_list.list_jobs(sqlite_workspace) if each.kind == "survey"]
    assert (job.status, job.attempts) == ("done", 2)
