"""Route for saving edits, which every annotator calls about once a second.

This router does not depend on `MEMBERS`: the statement that reads the annotation also checks its owner
(engine.annotation.revisions). This saves a database query and a thread switch before every save.
"""

from fastapi import APIRouter
from fastapi.responses import JSONResponse, Response

from annotator.deps import TheEditor, TheWorkspace
from annotator.scopes import needs_scope
from engine.annotation import views
from engine.annotation.revisions import RevisionConflict, RevisionRequest, Saved, append_revision

router = APIRouter(tags=["annotations"])


@router.put("/annotations/{annotation_id}/revisions", response_model=Saved)
@needs_scope("annotate")
def save(annotation_id: str, request: RevisionRequest, workspace: TheWorkspace, user: TheEditor) -> Response:
    """Append a revision. Repeating an idempotency key returns the same revision and stores nothing."""
    try:
        saved = append_revision(workspace, annotation_id, request, user.id)
    except RevisionConflict as conflict:
        current = views.annotation_view(workspace, annotation_id)
        content = {"detail": str(conflict), "current": current.model_dump(mode="json")}
        return JSONResponse(content, status_code=409)
    # Serialised here: FastAPI would validate and copy the masks once more.
    return Response(saved.model_dump_json(), media_type="application/json")
