"""Errors shown to people, as one or two sentences.

The command line and REST map them to exit codes and statuses.
"""


class Refused(Exception):
    """The request is invalid. The message states the error and the action to take."""


class NotFound(Refused):
    """The resource does not exist, or is hidden from the user."""


class Forbidden(Refused):
    """The user's role does not allow the request."""


class Archived(Forbidden):
    """The project is archived, so nothing in it can be changed."""

    def __init__(self) -> None:
        super().__init__("This project is archived: nothing in it can be changed. An admin of it can unarchive it.")


class Conflict(Refused):
    """Another change came first, or the state is already set; nothing was changed."""


class TooMany(Refused):
    """Too many requests.

    Args:
        sentence: message for people.
        seconds: seconds to wait before the next request.
    """

    def __init__(self, sentence: str, seconds: int) -> None:
        super().__init__(sentence)
        self.seconds = seconds


class OverQuota(Refused):
    """The project or the person has as many documents as a quota allows."""
