"""Names of fields for programs, made from questions."""

import re
import unicodedata
from collections.abc import Container

from engine.fields.definition import LONGEST_NAME

# Words in front of what a question asks for.
_LEAD = re.compile(
    r"^(what|which|who|when|where|how)('s)?\s+((is|are|was|were|does|do|did)\s+)?((the|this|that|it|a|an)\s+)?",
    re.IGNORECASE,
)
_BESIDE = frozenset({"the", "a", "an", "of", "is", "are", "be", "to", "it", "this"})


def name_of_question(question: str, taken: Container[str]) -> str:
    """Return a name for the field of a question that is not among those taken.

    "What is the invoice number?" becomes invoice_number. A question without Latin letters becomes field_1, field_2, ...
    """
    asked = _LEAD.sub("", question.strip()) or question
    plain = unicodedata.normalize("NFKD", asked).encode("ascii", "ignore").decode().lower()
    words = re.findall(r"[a-z0-9]+", plain)
    words = [word for word in words if word not in _BESIDE] or words
    name = "_".join(words)[: LONGEST_NAME - 4].strip("_")
    if not name:
        return _free_name("field", taken, 1)
    if not name[0].isalpha():
        name = f"field_{name}"[: LONGEST_NAME - 4]
    return name if name not in taken else _free_name(name, taken, 2)


def _free_name(name: str, taken: Container[str], first: int) -> str:
    while f"{name}_{first}" in taken:
        first += 1
    return f"{name}_{first}"
