"""What can go wrong for a person, as one sentence each. The command line and REST turn them into exit codes and statuses."""


class Refused(Exception):
    """The request cannot be done as it was put. The sentence says why and what to do."""


class NotFound(Refused):
    """There is no such thing, or not for this person."""


class Forbidden(Refused):
    """The person's role does not allow it."""


class Conflict(Refused):
    """Somebody else was faster; nothing was changed."""


class TooMany(Refused):
    """Asked too often. `seconds` says how long to wait before the next time."""

    def __init__(self, sentence: str, seconds: int) -> None:
        super().__init__(sentence)
        self.seconds = seconds
