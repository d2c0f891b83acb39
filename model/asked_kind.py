"""Kind of value that the wording of a question asks for."""

from collections.abc import Sequence

from model.kinds import Kind
from model.vocabulary import bare

_AFTER_HOW = {"much": Kind.AMOUNT, "many": Kind.NUMBER, "old": Kind.NUMBER}
_ASKING = {"who": Kind.NAME, "whom": Kind.NAME, "whose": Kind.NAME, "when": Kind.DATE, "where": Kind.ADDRESS}


def asked_kind(tokens: Sequence[str]) -> Kind | None:
    """Return the kind that the question word of a question asks for: who, when, where, how much; None without one.

    Nouns as in "date of birth" tell nothing that the key beside the value does not tell (docs/LOG.md).

    Args:
        tokens: words of the question, as `model.vocabulary.words_of` splits them.
    """
    words = [bare(token) for token in tokens if any(c.isalnum() for c in token)]
    for place, word in enumerate(words):
        following = words[place + 1] if place + 1 < len(words) else ""
        if word == "how" and following in _AFTER_HOW:
            return _AFTER_HOW[following]
        if word == "what" and following == "time":
            return Kind.TIME
        if word in _ASKING and place < 2:  # "By when", "Since when"
            return _ASKING[word]
    return None
