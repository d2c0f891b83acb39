"""The page that shows what the REST interface can do."""

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from annotator.reference.page import page

router = APIRouter(include_in_schema=False)


@router.get("/docs", response_class=HTMLResponse)
def show_reference(request: Request) -> str:
    """Return the reference as a page."""
    return page(request.app.openapi(), str(request.base_url))
