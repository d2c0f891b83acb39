"""Lists in pages over REST: the parameter `cursor`, and the headers that name the next page."""

from typing import Annotated, Any, TypeVar
from urllib.parse import urlencode

from fastapi import Depends, Query, Request, Response

from engine.paging import Page

_Line = TypeVar("_Line")
_LINK = {
    "description": 'Address of the next page with rel="next" (RFC 8288); missing on the last page.',
    "schema": {"type": "string"},
}


class Paging:
    """The page that a request asks for, and how its answer names the next one."""

    def __init__(
        self,
        request: Request,
        response: Response,
        cursor: Annotated[
            str | None,
            Query(
                max_length=4000,
                description="Position of the page; take it from the header `Link` of the previous page.",
            ),
        ] = None,
    ) -> None:
        self._request, self._response = request, response
        self.cursor = cursor

    def send(self, page: Page[_Line], total: int | None = None) -> list[_Line]:
        """Return a page as the answer, whose headers name the next page.

        Args:
            page: the page.
            total: number of the lines on all pages, if it is known.
        """
        self.names(page.next, total)
        return page

    def names(self, following: str | None, total: int | None = None) -> None:
        """Set the headers: `Link` where there is a next page, and `X-Total-Count`."""
        if total is not None:
            self._response.headers["X-Total-Count"] = str(total)
        if following is not None:
            asked = [
                parameter
                for parameter in self._request.query_params.multi_items()
                if parameter[0] not in ("cursor", "offset")
            ]
            address = f"{self._request.url.path}?{urlencode([*asked, ('cursor', following)])}"
            self._response.headers["Link"] = f'<{address}>; rel="next"'


ThePaging = Annotated[Paging, Depends()]


def pages(counted: str = "") -> dict[int | str, dict[str, Any]]:
    """Return the documentation of the headers of a list. `counted`: description of `X-Total-Count`, if it has one."""
    total = {"X-Total-Count": {"description": counted, "schema": {"type": "integer"}}} if counted else {}
    return {200: {"headers": {"Link": _LINK, **total}}}
