"""Numbers of things as English writes them: "1 answer", "2 answers"."""

from gettext import ngettext


def count(number: int, one: str, several: str = "") -> str:
    """Return a number with its noun.

    Args:
        number: how many.
        one: the noun for one; an adjective may stand before it.
        several: the noun for several, where that is not the first with an "s".
    """
    return f"{number:,} {ngettext(one, several or f'{one}s', number)}"


def word(number: int, one: str, several: str) -> str:
    """Return the word that agrees with a number, such as "is" or "are"."""
    return ngettext(one, several, number)
