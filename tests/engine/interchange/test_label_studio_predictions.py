"""Predictions of a Label Studio export become proposals of their models, which people are shown; answers go before."""

import json
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from sqlalchemy import select

from db.tables import Annotation, Document, OutsideAnswer, Question
from engine.annotation.outside_answers import load_outside_answers
from engine.errors import Refused
from engine.workspace import Workspace
from tests.support.imported_sets import take_in


def region(label: str, x: float) -> dict[str, Any]:
    value = {"x": x, "y": 30, "width": 50, "height": 10, "rotation": 0, "rectanglelabels": [label]}
    size = {"original_width": 400, "original_height": 200, "image_rotation": 0}
    return {"type": "rectanglelabels", **size, "value": value}


def a_set(folder: Path, predictions: list[dict[str, Any]], annotations: list[dict[str, Any]]) -> Path:
    Image.new("RGB", (400, 200), "white").save(folder / "p.png")
    task = {"id": 1, "data": {"image": "p.png"}, "annotations": annotations, "predictions": predictions}
    (folder / "tasks.json").write_text(json.dumps([task]))
    return folder


def test_predictions_become_proposals_of_their_models(workspace: Workspace, tmp_path: Path) -> None:
    by_person = [{"result": [region("Who?", 0)]}]
    sure = {"model_version": "m2", "score": 0.8, "result": [region("What is the total?", 10), region("Who?", 10)]}
    unsure = {"model_version": "m1", "score": 0.2, "result": [region("What is the total?", 40)]}
    source = a_set(tmp_path, [sure, unsure], by_person)
    project, imported = take_in(workspace, "label-studio", source)
    assert (imported.proposals, imported.answers, imported.lost) == (2, 1, {})
    with workspace.database.read() as session:
        document = session.scalars(select(Document).where(Document.project_id == project)).one()
        total = session.scalars(select(Question.id).where(Question.text == "What is the total?")).one()
        who = session.scalars(select(Question.id).where(Question.text == "Who?")).one()
        proposals = load_outside_answers(session, document.id, [total, who])
        assert proposals.keys() == {total}  # a person has answered the other
        answer = proposals[total].answer
        assert (answer.proposer, answer.score, answer.mask.box) == ("m2", 0.8, (40, 60, 240, 80))
        assert session.scalars(select(OutsideAnswer.model).order_by(OutsideAnswer.model)).all() == ["m1", "m2"]
        assert [one.question_id for one in session.scalars(select(Annotation))] == [who]


def test_a_bad_region_of_a_prediction_refuses_the_set_as_one_of_a_person_does(
    workspace: Workspace, tmp_path: Path
) -> None:
    outside = region("What is the total?", 10)
    outside["original_width"] = 300
    with pytest.raises(Refused, match="prediction 0"):
        take_in(workspace, "label-studio", a_set(tmp_path, [{"result": [outside]}], []))
