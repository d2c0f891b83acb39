"""What a survey would have found, for tests of what follows from it: answers of a model version, made directly."""

from collections.abc import Sequence

import numpy as np
from sqlalchemy import delete, select, update

from db.tables import (
    Annotation,
    Document,
    DocumentSignature,
    ModelVersion,
    PageWord,
    Prediction,
    Promotion,
    Question,
    SurveyAnswer,
    Task,
)
from engine.annotation.proposal import StoredAnswer
from engine.annotation.state import to_patch
from engine.annotation.survey_answers import pack_signature
from engine.selection.uncertainty import confidence, uncertainty
from engine.workspace import Workspace
from model.masks import rasterise
from tests.support.factories import boxes_of, pages_of


def make_version(workspace: Workspace, project_id: str | None, number: int = 0) -> ModelVersion:
    """A model version that is never loaded; of a project, it becomes the champion."""
    with workspace.database.write() as session:
        version = ModelVersion(project_id=project_id, number=number, checkpoint_sha256="0" * 64, code_version="test")
        session.add(version)
        session.flush()
        if project_id is not None:
            promoted = len(session.scalars(select(Promotion).where(Promotion.project_id == project_id)).all())
            session.add(Promotion(project_id=project_id, sequence=promoted + 1, version_id=version.id, kind="by_hand"))
        return version


def say(
    workspace: Workspace,
    version: ModelVersion,
    document: Document,
    question: str,
    words: Sequence[int] = (4,),
    *,
    answered: float = 0.99,
    score: float = 1.0,
    apart: float = 0.0,
    page: int = 1,
) -> None:
    """What the version answers to a question of a document: these words, in place of what it said before."""
    on = pages_of(workspace, document.id)[page - 1]
    boxes = boxes_of(workspace, on.id)
    mask = rasterise([boxes[at] for at in words], (on.height, on.width))
    answer = StoredAnswer(words=list(words), mask=to_patch(mask), text=_text(workspace, on.id, words), score=score)
    with workspace.database.write() as session:
        asked = session.scalar(
            select(Question).where(Question.project_id == document.project_id, Question.text == question)
        )
        assert asked is not None
        signs = (answered, score, apart, 0.0)
        here = (SurveyAnswer.document_id == document.id, SurveyAnswer.question_id == asked.id)
        session.execute(delete(SurveyAnswer).where(*here))
        session.add(
            SurveyAnswer(
                project_id=document.project_id,
                document_id=document.id,
                question_id=asked.id,
                model_version_id=version.id,
                page_id=on.id,
                words_version=0,
                answer=answer.model_dump(mode="json"),
                score=score,
                answered=answered,
                disagreement=apart,
                confidence=confidence(*signs),
                uncertainty=uncertainty(*signs),
                milliseconds=20,
            )
        )


def propose(workspace: Workspace, annotation: Annotation, version: ModelVersion, words: Sequence[int]) -> None:
    """What the version had answered when a person opened the question."""
    page = pages_of(workspace, annotation.document_id)[0]
    boxes = boxes_of(workspace, page.id)
    mask = to_patch(rasterise([boxes[at] for at in words], (page.height, page.width)))
    with workspace.database.write() as session:
        session.add(
            Prediction(
                annotation_id=annotation.id,
                page_id=page.id,
                question_id=annotation.question_id,
                model_version_id=version.id,
                answer=StoredAnswer(words=list(words), mask=mask, text="", score=1).model_dump(mode="json"),
                score=1,
                answered=1,
                milliseconds=1,
            )
        )


def look_like(workspace: Workspace, version: ModelVersion, document: Document, vector: Sequence[float]) -> None:
    """What a document looks like to the version."""
    with workspace.database.write() as session:
        session.execute(delete(DocumentSignature).where(DocumentSignature.document_id == document.id))
        session.add(
            DocumentSignature(
                document_id=document.id,
                model_version_id=version.id,
                vector=pack_signature(np.array(vector, np.float32)),
            )
        )


def choose(workspace: Workspace, document: Document, chosen_by: str | None) -> None:
    """Say what chose the tasks of a document."""
    with workspace.database.write() as session:
        session.execute(update(Task).where(Task.document_id == document.id).values(chosen_by=chosen_by))


def _text(workspace: Workspace, page_id: str, words: Sequence[int]) -> str:
    with workspace.database.read() as session:
        printed = session.execute(select(PageWord.number, PageWord.text).where(PageWord.page_id == page_id))
        texts = dict(printed.tuples().all())
    return " ".join(texts[number] for number in words)
