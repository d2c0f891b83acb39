"""Refusals of the ground, each a sentence for the person."""


class DowngradeRefused(Exception):
    """Raised when the older schema cannot hold work that is not done yet; nothing was changed."""
