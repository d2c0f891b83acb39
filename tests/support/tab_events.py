"""Events of the Gradio tabs, fired as a browser fires them."""

from typing import Any, cast

from starlette.routing import Mount

from db.ids import new_id
from tests.support.accounts import Person


def event(person: Person, tab: str, name: str, *given: Any) -> str:
    """Fire the event `name` of a tab as a browser does; return everything that the server says to it."""
    mounted: Any = next(
        route.app for route in cast(Any, person.client.app).routes if isinstance(route, Mount) and route.path == "/app"
    )  # type: ignore[attr-defined]
    index = next(
        number
        for number, function in mounted.blocks.fns.items()
        if function.fn is not None and function.fn.__name__ == name and function.fn.__module__ == f"annotator.ui.{tab}"
    )
    session = new_id()
    body = {"data": list(given), "fn_index": index, "session_hash": session}
    joined = person.post("/app/gradio_api/queue/join", json=body)
    if joined.status_code != 200:
        return str(joined.status_code)
    return person.get(f"/app/gradio_api/queue/data?session_hash={session}").text
