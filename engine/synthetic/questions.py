"""Phrasing of questions: templates, bare keys, synonyms, typing errors."""

from __future__ import annotations

import random

from engine.synthetic.concepts import Concept

# The plain question is by far the most common one, above all on forms.
_TEMPLATES = (
    *["What is the {}?"] * 16, "{}", "{}", "{}", "{}?", "the {}", "What is {}?", "What's the {}?", "Find the {}.", "Where is the {}?",
    "What value is given for {}?", "Which {} is listed?", "Show me the {}", "What does the document say under {}?",
    "Tell me the {}.", "Extract {}", "Extract the {} from this document.", "Locate the {} field", "What is written for {}?",
    'What has been entered for "{}"?', "What is filled in at {}?", "Please give the {}.", "Can you read the {}?", "{} please",
    "{} =", "What is shown as {}?", "Highlight the {}.", "Mark the {}", "Value of {}", "What was recorded for {}?",
    "What is the value of the {} field?", "What does it say for {}?", "Which value belongs to {}?", "Give me the {}",
    "I need the {}", "What {} is stated?", "According to the document, what is the {}?",
)  # fmt: skip

_NEIGHBOURS = {
    "a": "sq", "b": "vn", "c": "xv", "d": "sf", "e": "wr", "f": "dg", "g": "fh", "h": "gj", "i": "uo", "j": "hk", "k": "jl",
    "l": "k", "m": "n", "n": "bm", "o": "ip", "p": "o", "q": "w", "r": "et", "s": "ad", "t": "ry", "u": "yi", "v": "cb", "w": "qe",
    "x": "zc", "y": "tu", "z": "x",
}  # fmt: skip


def about(rng: random.Random, key: str, concept: Concept | None = None, *, synonyms: float = 0.22) -> str:
    """Return a question for the value at `key` (as printed); `synonyms`: least share asked in other words."""
    if concept is not None and rng.random() < max(synonyms, concept.reworded):
        asked = rng.choice(concept.asked)
        return mistype(rng, asked if asked.endswith("?") else around(rng, asked))
    asked = key.strip(" :.…_-?") or key
    form = rng.random()
    if form < 0.3:
        asked = rng.choice((str.lower, str.lower, str.title, str.capitalize))(asked)
    parts = asked.split()
    if len(parts) >= 4 and rng.random() < 0.12:
        parts.pop(rng.randrange(len(parts)))
        asked = " ".join(parts)
    return mistype(rng, around(rng, asked))


def around(rng: random.Random, subject: str) -> str:
    """Return a question built from a noun phrase or a key."""
    return rng.choice(_TEMPLATES).format(subject)


def of(rng: random.Random, choices: tuple[str, ...]) -> str:
    """Return one of several phrasings: noun phrases get a template, whole questions stay unchanged."""
    asked = rng.choice(choices)
    return mistype(rng, asked if asked[-1] in "?." else around(rng, asked))


def mistype(rng: random.Random, question: str, share: float = 0.06) -> str:
    """Return the question, with a typing error in a share of cases."""
    if rng.random() >= share:
        return question
    places = [at for at, sign in enumerate(question) if sign.isalpha() and at > 0]
    if len(places) < 6:
        return question
    at = rng.choice(places)
    sign = question[at]
    form = rng.random()
    if form < 0.3:
        return question[:at] + question[at + 1 :]
    if form < 0.5:
        return question[:at] + sign + question[at:]
    if form < 0.75 and at + 1 < len(question):
        return question[:at] + question[at + 1] + sign + question[at + 2 :]
    return question[:at] + rng.choice(_NEIGHBOURS.get(sign.lower(), "e")) + question[at + 1 :]
