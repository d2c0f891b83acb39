"""The error of a device that is not there; it imports no torch, whose own import may be what failed."""


class DeviceMissing(ValueError):
    """A device that was asked for is not there. The message is one sentence."""
