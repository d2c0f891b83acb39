"""A response that tells a browser of changes as they come, as server-sent events.

Each event has the form of `ChangesView`, and its id is the cursor. One with nothing but the cursor comes every 15
seconds, so that proxies keep the connection and the browser knows that it stands. (Comments would do for proxies, but
scripts do not see them.)
"""

import asyncio
from collections.abc import Callable

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from annotator.change_streams import Subscription
from annotator.http_limits import AT_SHUTDOWN

ALIVE_SECONDS = 15.0
END = b"event: end\ndata: {}\n\n"  # the login has ended


class EventStream(Response):
    """Sends what a subscription notes, until the browser leaves, the login ends or the server stops.

    Args:
        stream: the subscription.
        woken: set when there is something to send.
        close: called at the end, in any case.
    """

    media_type = "text/event-stream"

    def __init__(self, stream: Subscription, woken: asyncio.Event, close: Callable[[], object]) -> None:
        super().__init__(headers={"x-accel-buffering": "no"})  # nginx would hold events back
        del self.headers["content-length"]
        self._stream, self._woken, self._close = stream, woken, close

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle an ASGI request."""
        scope.setdefault("state", {})[AT_SHUTDOWN] = self._stream.end
        gone = asyncio.ensure_future(_wait_for_disconnect(receive))
        try:
            await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
            while not gone.done() and not self._stream.ended:
                self._woken.clear()
                view = self._stream.take()
                event = f"id: {view.next}\ndata: {view.model_dump_json()}\n\n"
                await send({"type": "http.response.body", "body": event.encode(), "more_body": True})
                woken = asyncio.ensure_future(self._woken.wait())
                await asyncio.wait((gone, woken), timeout=ALIVE_SECONDS, return_when=asyncio.FIRST_COMPLETED)
                woken.cancel()
            await send({"type": "http.response.body", "body": END if self._stream.logged_out else b""})
        finally:
            gone.cancel()
            self._close()


async def _wait_for_disconnect(receive: Receive) -> None:
    """Wait until the browser has left."""
    while (await receive())["type"] != "http.disconnect":
        pass
