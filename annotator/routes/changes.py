"""Routes for changes: a stream for open screens, and a poll for proxies that cut streams."""

import asyncio
import contextlib
from typing import Annotated, Any

from fastapi import APIRouter, Header, Query
from fastapi.concurrency import run_in_threadpool
from starlette.responses import Response

from annotator.deps import CurrentUser, TheCaller, TheChangeStreams, TheWorkspace
from annotator.event_stream import EventStream
from annotator.scopes import needs_scope
from engine.accounts.change_rights import ChangesView, changes_view

router = APIRouter(prefix="/changes", tags=["system"])
Cursor = Annotated[int | None, Query(ge=0, lt=2**63, description="Cursor: `next` of the answer or event before.")]


EVENT = f"id: 43\ndata: {ChangesView(next=43).model_dump_json()}\n\n"
EVENTS: dict[str, Any] = {
    "description": "Events, until the browser leaves, the login ends or the server stops.",
    "content": {EventStream.media_type: {"schema": {"type": "string"}, "example": EVENT}},
}


@router.get("", response_class=EventStream, status_code=200, responses={200: EVENTS})
@needs_scope("read")
async def follow(
    user: CurrentUser,
    caller: TheCaller,
    streams: TheChangeStreams,
    since: Cursor = None,
    last_event_id: Annotated[str | None, Header(description="Cursor, as browsers send it at a reconnect.")] = None,
) -> Response:
    """Tell of changes in the user's projects as they come, as server-sent events.

    The data of each event is JSON as `GET /api/changes/since` answers it, and its id is the cursor. The first event
    comes at once, with what changed since the cursor of the request, or in the last three seconds. An event without
    changes comes every 15 seconds. The event `end` comes when the login has ended.
    """
    if last_event_id is not None and last_event_id.isdecimal() and int(last_event_id) < 2**63:
        since = int(last_event_id)
    loop, woken = asyncio.get_running_loop(), asyncio.Event()

    def notify() -> None:
        with contextlib.suppress(RuntimeError):  # the server is about to end
            loop.call_soon_threadsafe(woken.set)

    stream = await run_in_threadpool(streams.open, user, caller.token, since, notify)
    return EventStream(stream, woken, lambda: streams.close(stream))


@router.get("/since")
@needs_scope("read")
def changed(workspace: TheWorkspace, user: CurrentUser, since: Cursor = None) -> ChangesView:
    """Return what changed in the user's projects since a cursor; without one, in the last three seconds.

    Ask every two seconds where a proxy cuts the stream.
    """
    return changes_view(workspace, user, since)
