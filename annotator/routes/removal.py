"""Routes for removing answers and restoring them."""

from typing import Annotated

from fastapi import APIRouter, Query, Response
from fastapi.responses import JSONResponse

from annotator.access import MEMBERS_AND_REMOVED
from annotator.deps import CurrentUser, TheEditor, TheWorkspace
from annotator.scopes import needs_scope
from engine.annotation import removal, views
from engine.annotation.revisions import RevisionConflict
from engine.annotation.views import AnnotationLine, AnnotationView

router = APIRouter(tags=["annotations"], dependencies=[MEMBERS_AND_REMOVED])


@router.delete("/annotations/{annotation_id}", status_code=204, response_class=Response)
@needs_scope("annotate")
def remove(
    annotation_id: str,
    workspace: TheWorkspace,
    user: TheEditor,
    base: Annotated[int, Query(ge=0, lt=2**31, description="Revision that the person saw; 0: the model's proposal.")],
) -> Response:
    """Remove an answer with its question from its document.

    It counts nowhere any more, and a task that it answered returns to the queue. Its history stays, and it can be
    restored at any time. Snapshots and exports made before stay as they are. Annotators remove their own answers,
    reviewers and admins any. Asking the same question again gives a new answer. Repeating the request changes nothing.
    """
    try:
        removal.remove(workspace, annotation_id, base, user.id)
    except RevisionConflict as conflict:
        current = views.annotation_view(workspace, annotation_id)
        content = {"detail": str(conflict), "current": current.model_dump(mode="json")}
        return JSONResponse(content, status_code=409)
    return Response(status_code=204)


@router.post("/annotations/{annotation_id}/restore")
@needs_scope("annotate")
def restore(annotation_id: str, workspace: TheWorkspace, user: TheEditor) -> AnnotationView:
    """Restore a removed answer as it was, with its status and its history.

    Annotators restore their own answers, reviewers and admins any. Repeating the request changes nothing.
    """
    removal.restore(workspace, annotation_id, user.id)
    return views.annotation_view(workspace, annotation_id)


@router.get("/documents/{document_id}/removed-answers")
@needs_scope("read")
def removed(document_id: str, workspace: TheWorkspace, user: CurrentUser) -> list[AnnotationLine]:
    """Return the removed answers of a document that the user can restore, newest first.

    `status` is the status that an answer gets back.
    """
    return views.removed_lines(workspace, document_id, user.id)
