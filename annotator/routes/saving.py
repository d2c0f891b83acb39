"""Saving what people make of the answers: what every person at work sends once a second.

This router does not depend on `MEMBERS`: whose answer it is, is asked by the statement that reads what is to be changed
(engine.annotation.revisions). One journey to the database and one change of threads less stand before every save.
"""

from fastapi import APIRouter
from fastapi.responses import JSONResponse, Response

from annotator.deps import TheEditor, TheWorkspace
from engine.annotation import views
from engine.annotation.revisions import RevisionConflict, RevisionRequest, Saved, append_revision

router = APIRouter(tags=["annotations"])


@router.put("/annotations/{annotation_id}/revisions", response_model=Saved)
def save(annotation_id: str, request: RevisionRequest, workspace: TheWorkspace, user: TheEditor) -> Response:
    """Append a revision. The same idempotency key again returns the same revision and stores nothing."""
    try:
        saved = append_revision(workspace, annotation_id, request, user.id)
    except RevisionConflict as conflict:
        current = views.annotation_view(workspace, annotation_id)
        content = {"detail": str(conflict), "current": current.model_dump(mode="json")}
        return JSONResponse(content, status_code=409)
    # Written out here: FastAPI would check and copy the masks once more.
    return Response(saved.model_dump_json(), media_type="application/json")
