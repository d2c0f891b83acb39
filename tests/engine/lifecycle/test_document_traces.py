"""What holds a document, or has learned from it, is told before it is deleted for good, on both databases."""

import pytest

from db.base import now
from db.tables import Job, ModelVersion, Run, TransferredDocument
from engine import audit
from engine.datasets import snapshots
from engine.errors import NotFound
from engine.lifecycle import bin as lifecycle
from engine.lifecycle.document_traces import document_traces
from engine.models import registry
from engine.training.retraining.trigger import RETRAIN
from engine.workspace import Workspace
from tests.support.factories import accept, bill, make_document, make_project
from tests.support.office import Office
from tests.support.survey_rows import make_version

pytestmark = pytest.mark.usefixtures("figures_at_once")


@pytest.fixture
def office(workspace: Workspace) -> Office:
    registry.ensure_shipped(workspace)
    return Office(workspace, bills=2, questions=())


def test_snapshots_exports_runs_and_models_that_have_a_document_are_named(office: Office) -> None:
    workspace, project = office.workspace, office.project.id
    held, other = office.documents
    accept(workspace, held, "Which words?", [2], author="Ann")
    snapshot = snapshots.freeze(workspace, project)
    version, child = make_version(workspace, project, 4), make_version(workspace, project, 5)
    with workspace.database.write() as session:
        job = Job(project_id=project, kind=RETRAIN, status="done")
        session.add(job)
        session.flush()
        session.get_one(ModelVersion, version.id).snapshot_id = snapshot.id
        session.get_one(ModelVersion, child.id).parent_id = version.id
        audit.record(session, office.rita.id, "exports.make", snapshot.sha256, project, answers=1, format="coco")
        session.add(
            Run(
                project_id=project,
                job_id=job.id,
                snapshot_id=snapshot.id,
                parent_id=version.id,
                challenger_id=version.id,
                seed=1,
                code_version="test",
            )
        )
        session.add(
            TransferredDocument(document_id=other.id, origin_id=held.id, batch="0" * 32, moved=False, created_at=now())
        )
    found = document_traces(workspace, project, held.id)
    name = f"snapshot {snapshot.sha256[:12]} of {snapshot.created_at:%Y-%m-%d}"
    said = {trace.sentence: (trace.kind, trace.learned) for trace in found.traces}
    run = next(sentence for sentence, (kind, _) in said.items() if kind == "run")
    assert run.endswith(f"UTC learned from the {name}.")
    assert said.keys() - {run} == {
        f"The {name} holds the document, in the split train.",
        f"Rita exported the {name} as coco. Copies of these files are not known here.",
        "The model v4 learned from it. Its weights are deleted.",
        "The model v5 is built on v4, which learned from it. It is the one in use.",
        "It was copied to another project, where the copy has traces of its own.",
    }
    assert [kind for kind, learned in said.values() if learned].count("model") == 2 and said[run] == ("run", True)
    part = document_traces(workspace, project, held.id, limit=2, offset=5)
    assert (part.total, part.traces) == (6, found.traces[5:])
    assert document_traces(workspace, project, other.id).traces == []


def test_traces_are_told_of_a_document_in_the_bin_and_of_no_other_project(office: Office) -> None:
    workspace, project, held = office.workspace, office.project.id, office.documents[0]
    accept(workspace, held, "Which words?", [2], author="Ann")
    snapshots.freeze(workspace, project)
    lifecycle.remove(workspace, project, [held.id], None)
    assert [trace.kind for trace in document_traces(workspace, project, held.id).traces] == ["snapshot"]
    foreign = make_document(workspace, make_project(workspace, "other").id, [bill(9)])
    for document_id in (foreign.id, "0" * 32):
        with pytest.raises(NotFound, match="neither in this project nor in its bin"):
            document_traces(workspace, project, document_id)
