"""Model versions: which one answers, promoting past the gate, going back."""

import threading
from pathlib import Path

import pytest
from sqlalchemy import select

from db.tables import AuditEntry, Job, Member, ModelVersion, Project, Promotion, Run, User
from engine.accounts.users import add_user
from engine.datasets import snapshots
from engine.errors import Conflict, Forbidden, NotFound, Refused
from engine.models import promotions, registry
from engine.workspace import Workspace
from tests.support.factories import make_bills, make_project

PASSED = {"passed": True, "sentence": "It got better."}
FAILED = {"passed": False, "sentence": "It got worse on the frozen holdout."}


@pytest.fixture
def shipping(workspace: Workspace, tmp_path: Path) -> Workspace:
    """A workspace whose settings name a checkpoint to begin with; the registry never looks inside."""
    path = tmp_path / "shipped.safetensors"
    path.write_bytes(b"the first weights")
    settings = workspace.settings.model_copy(update={"model_path": path})
    return Workspace(settings, workspace.database, workspace.blobs)


@pytest.fixture
def project(shipping: Workspace) -> Project:
    made = make_project(shipping)
    make_bills(shipping, made.id, {"train": 1})
    registry.ensure_shipped(shipping)
    return made


@pytest.fixture
def admin(shipping: Workspace) -> User:
    return add_user(shipping, "ada", "a long password", "admin")


def challenger(workspace: Workspace, project: Project, verdict: dict[str, object] | None) -> ModelVersion:
    """A version with the run that made it from the present champion."""
    snapshot = snapshots.freeze(workspace, project.id)
    with workspace.database.write() as session:
        parent = registry.champion(session, project.id)
        version = registry.register(
            session,
            project.id,
            checkpoint_sha256=workspace.blobs.put(f"weights {verdict} {parent.id}".encode()),
            fold_sha256s=[],
            parent_id=parent.id,
            snapshot_id=snapshot.id,
            seed=1,
            optimizer={"name": "NaturalGradient"},
        )
        if verdict is not None:
            job = Job(kind="retrain", project_id=project.id)
            session.add(job)
            session.flush()
            session.add(
                Run(
                    project_id=project.id,
                    job_id=job.id,
                    snapshot_id=snapshot.id,
                    parent_id=parent.id,
                    challenger_id=version.id,
                    seed=1,
                    code_version="0",
                    status="judged",
                    verdict=verdict,
                )
            )
        return version


def champion_label(workspace: Workspace, project: Project) -> str:
    with workspace.database.read() as session:
        return registry.label(registry.champion(session, project.id))


def test_processes_that_start_together_register_the_shipped_version_once(shipping: Workspace) -> None:
    found: list[str] = []
    starts = [threading.Thread(target=lambda: found.append(registry.ensure_shipped(shipping).id)) for _ in range(4)]
    for start in starts:
        start.start()
    for start in starts:
        start.join()
    assert len(found) == 4
    assert len(set(found)) == 1
    version = registry.ensure_shipped(shipping)
    assert shipping.blobs.read(version.checkpoint_sha256) == b"the first weights"
    assert (version.project_id, version.number, registry.label(version)) == (None, 0, "nano")


def test_an_absent_checkpoint_is_one_sentence(workspace: Workspace, tmp_path: Path) -> None:
    settings = workspace.settings.model_copy(update={"model_path": tmp_path / "none.safetensors"})
    with pytest.raises(Refused, match="There is no model at"):
        registry.ensure_shipped(Workspace(settings, workspace.database, workspace.blobs))


def test_a_project_that_promoted_nothing_follows_the_shipped_version(shipping: Workspace, project: Project) -> None:
    assert champion_label(shipping, project) == "nano"
    assert shipping.settings.model_path is not None
    shipping.settings.model_path.write_bytes(b"better weights of the next release")
    newer = registry.ensure_shipped(shipping)
    with shipping.database.read() as session:
        assert registry.champion(session, project.id).id == newer.id


def test_without_any_version_the_champion_is_not_found(workspace: Workspace) -> None:
    project = make_project(workspace)
    with workspace.database.read() as session, pytest.raises(NotFound):
        registry.champion(session, project.id)
    assert registry.versions(workspace, project.id) == []


def test_what_passed_the_gate_is_promoted_and_answers(shipping: Workspace, project: Project) -> None:
    version = challenger(shipping, project, PASSED)
    promotion = promotions.promote(shipping, project.id, version.id, by=None)
    assert (promotion.kind, promotion.sequence) == ("gate", 1)
    assert champion_label(shipping, project) == "v1"


def test_one_project_s_champion_is_not_another_s(shipping: Workspace, project: Project) -> None:
    other = make_project(shipping, "other")
    version = challenger(shipping, project, PASSED)
    promotions.promote(shipping, project.id, version.id, by=None)
    assert champion_label(shipping, other) == "nano"
    with pytest.raises(NotFound):
        promotions.promote(shipping, other.id, version.id, by=None)


@pytest.mark.parametrize("verdict", [FAILED, None, {}])
def test_what_did_not_pass_is_promoted_only_by_force_of_an_admin_and_audited(
    shipping: Workspace, project: Project, admin: User, verdict: dict[str, object] | None
) -> None:
    version = challenger(shipping, project, verdict)
    reviewer = add_user(shipping, "rita", "a long password", "reviewer")
    with pytest.raises(Refused, match="gate"):
        promotions.promote(shipping, project.id, version.id, by=admin)
    with pytest.raises(Refused):
        promotions.promote(shipping, project.id, version.id, by=None)
    with pytest.raises(Forbidden):
        promotions.promote(shipping, project.id, version.id, by=reviewer, force=True)
    with pytest.raises(Forbidden):
        promotions.promote(shipping, project.id, version.id, by=None, force=True)
    assert champion_label(shipping, project) == "nano"
    promotions.promote(shipping, project.id, version.id, by=admin, force=True, reason="A better look at the pages.")
    assert champion_label(shipping, project) == "v1"
    with shipping.database.read() as session:
        entry = session.scalars(select(AuditEntry).where(AuditEntry.action.startswith("models."))).one()
    assert (entry.action, entry.actor_id, entry.subject) == ("models.promote.forced", admin.id, version.id)
    assert entry.details["reason"] == "A better look at the pages."
    assert "gate" in entry.details["objection"]


def test_only_an_admin_of_the_project_promotes(shipping: Workspace, project: Project) -> None:
    version = challenger(shipping, project, PASSED)
    anna = add_user(shipping, "anna", "a long password", "annotator")
    with pytest.raises(Forbidden):
        promotions.promote(shipping, project.id, version.id, by=anna)
    with shipping.database.write() as session:
        session.add(Member(project_id=project.id, user_id=anna.id, role="reviewer"))
    with pytest.raises(Forbidden):
        promotions.promote(shipping, project.id, version.id, by=anna)
    with shipping.database.write() as session:
        session.get_one(Member, (project.id, anna.id)).role = "admin"
    assert promotions.promote(shipping, project.id, version.id, by=anna).kind == "by_hand"


def test_a_version_judged_against_an_earlier_champion_is_a_conflict(
    shipping: Workspace, project: Project, admin: User
) -> None:
    first, second = challenger(shipping, project, PASSED), challenger(shipping, project, PASSED)
    promotions.promote(shipping, project.id, first.id, by=admin)
    with pytest.raises(Conflict, match="v2 was judged against nano, but the model in use is now v1"):
        promotions.promote(shipping, project.id, second.id, by=admin)
    with pytest.raises(Conflict, match="already"):
        promotions.promote(shipping, project.id, first.id, by=admin)


def test_two_promotions_at_once_leave_one_champion(shipping: Workspace, project: Project, admin: User) -> None:
    rivals = [challenger(shipping, project, PASSED) for _ in range(3)]
    outcomes: list[str] = []

    def promote(version: ModelVersion) -> None:
        try:
            promotions.promote(shipping, project.id, version.id, by=admin)
            outcomes.append("promoted")
        except Conflict:
            outcomes.append("conflict")

    at_once = [threading.Thread(target=promote, args=(rival,)) for rival in rivals]
    for one in at_once:
        one.start()
    for one in at_once:
        one.join()
    assert sorted(outcomes) == ["conflict", "conflict", "promoted"]
    with shipping.database.read() as session:
        assert [row.sequence for row in session.scalars(select(Promotion))] == [1]


def test_rolling_back_walks_back_champion_by_champion(shipping: Workspace, project: Project, admin: User) -> None:
    for _ in range(2):
        version = challenger(shipping, project, PASSED)
        promotions.promote(shipping, project.id, version.id, by=admin)
    assert champion_label(shipping, project) == "v2"
    promotions.rollback(shipping, project.id, by=admin)
    assert champion_label(shipping, project) == "v1"
    promotions.rollback(shipping, project.id, by=admin, reason="Worse in practice.")
    assert champion_label(shipping, project) == "nano"
    with pytest.raises(Refused, match="no previous model"):
        promotions.rollback(shipping, project.id, by=admin)
    promotions.promote(
        shipping, project.id, _numbered(shipping, project, 1), by=admin
    )  # judged against nano: it may come back
    assert champion_label(shipping, project) == "v1"
    promotions.rollback(shipping, project.id, by=admin)
    assert champion_label(shipping, project) == "nano"
    with shipping.database.read() as session:
        kinds = [row.kind for row in session.scalars(select(Promotion).order_by(Promotion.sequence))]
    assert kinds == ["by_hand", "by_hand", "rollback", "rollback", "by_hand", "rollback"]


def test_a_project_that_promoted_nothing_has_nothing_to_roll_back(shipping: Workspace, project: Project) -> None:
    with pytest.raises(Refused):
        promotions.rollback(shipping, project.id, by=None)


def test_versions_name_their_parent_and_their_snapshot(shipping: Workspace, project: Project, admin: User) -> None:
    first = challenger(shipping, project, PASSED)
    promotions.promote(shipping, project.id, first.id, by=admin)
    second = challenger(shipping, project, FAILED)
    listed = registry.versions(shipping, project.id)
    assert [(one.label, one.number, one.champion) for one in listed] == [
        ("v2", 2, False),
        ("v1", 1, True),
        ("nano", 0, False),
    ]
    assert (listed[0].id, listed[0].parent_id) == (second.id, first.id)
    assert listed[1].snapshot_sha256 == snapshots.freeze(shipping, project.id).sha256
    assert listed[1].optimizer == {"name": "NaturalGradient"}
    assert listed[2].snapshot_sha256 is None


def _numbered(workspace: Workspace, project: Project, number: int) -> str:
    return next(one.id for one in registry.versions(workspace, project.id) if one.number == number)
