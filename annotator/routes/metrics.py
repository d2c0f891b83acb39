"""Route for the metrics on the web port, where they have no port of their own."""

from fastapi import APIRouter, HTTPException, Request, Response
from fastapi.concurrency import run_in_threadpool

from annotator.auth import has_metrics_token
from annotator.deps import required_admin, workspace_of
from engine.metrics import Gatherer, NoAnswer
from engine.metrics.port import CONTENT_TYPE

router = APIRouter(include_in_schema=False)


@router.get("/metrics")
async def show_metrics(request: Request) -> Response:
    """Return the metrics of all processes, for Prometheus: for admins, and for the token of the metrics."""
    if not has_metrics_token(request, workspace_of(request).settings):
        await run_in_threadpool(required_admin, request)
    gatherer: Gatherer = request.app.state.gatherer
    try:
        text = await run_in_threadpool(gatherer.text)
    except NoAnswer:
        raise HTTPException(503, "The metrics cannot be gathered: the server is ending.") from None
    return Response(text, media_type=CONTENT_TYPE)
