"""Keys of a page: all different, some with shared words, half of them invented."""

from __future__ import annotations

import random
from dataclasses import dataclass

from engine.synthetic.concepts import CONCEPTS, Concept
from engine.synthetic.families import EVENTS, PARTIES, family_of
from engine.synthetic.vocabulary import SMALL, coin_word, word, words

# Kinds of values for keys without a concept, by frequency in forms.
_LOOSE_KINDS = (
    "person", "person", "person", "company", "date", "date", "date", "number", "number", "money", "code", "code", "phone", "address", "phrase",
    "phrase", "phrase", "text", "mark", "percent", "measure", "word", "city", "decimal", "long", "title", "brand",
)  # fmt: skip
_QUALIFIERS = (
    "billing", "shipping", "previous", "current", "new", "old", "estimated", "actual", "original", "first", "second", "other",
    "home", "business", "local", "total", "net", "gross", "average", "annual", "monthly", "primary", "secondary", "requested",
    "approved", "proposed", "final", "initial", "planned", "main", "start", "end", "customer", "company", "test", "control",
)  # fmt: skip
_HEADS = (
    "date", "no.", "name", "amount", "code", "address", "number", "by", "type", "cost", "price", "time", "phone", "quantity",
    "rate", "manager", "date", "weight", "period", "volume", "office",
)  # fmt: skip
_HEAD_KINDS = {
    "date": "date", "no.": "code", "name": "person", "amount": "money", "code": "code", "address": "address", "number": "code",
    "by": "person", "type": "phrase", "cost": "money", "price": "money", "time": "time", "phone": "phone", "quantity": "number",
    "rate": "percent", "manager": "person", "weight": "measure", "period": "dates", "volume": "number", "office": "city",
}  # fmt: skip
_FAMILY_PAGES, _FAMILY_KEYS = 0.25, 0.4  # shares of the pages, and of their keys while the family lasts
_NUMBERING = (
    "1.",
    "2.",
    "3.",
    "4.",
    "5.",
    "(1)",
    "(2)",
    "(3)",
    "(a)",
    "(b)",
    "(c)",
    "A.",
    "B.",
    "C.",
    "I.",
    "II.",
    "2)",
    "9.",
)


@dataclass(frozen=True, slots=True)
class Key:
    """Key: `text` before its case is set, `concept` if any, `kind` of its value."""

    text: str
    kind: str
    concept: Concept | None = None


class KeySource:
    """Source of keys for one page, all different."""

    def __init__(self, rng: random.Random, *, meant: float = 0.5) -> None:
        self.rng = rng
        self.meant = meant  # share of keys with a concept
        self.used: set[str] = set()
        self.concepts: set[Concept] = set()
        # A head shared by many keys of the page ("start date", "end date", "order date"): similar, confusable keys.
        self.shared_head = rng.choice(_HEADS) if rng.random() < 0.35 else None
        # Or a noun: "customer" with its name, number and address, which only who, where and how much tell apart.
        self.noun = rng.choice(PARTIES + EVENTS) if rng.random() < _FAMILY_PAGES else None
        self.family = family_of(self.noun) if self.noun else []
        rng.shuffle(self.family)

    def next(self) -> Key:
        """Return the next key."""
        key = self._sample()
        for _ in range(20):
            if key.text not in self.used:
                break
            key = self._sample()
        self.used.add(key.text)
        if key.concept is not None:
            self.concepts.add(key.concept)
        return key

    def absent(self) -> Key:
        """Return a key whose text and concept the page does not have."""
        while True:
            key = _sample_key(self.rng, 0.6, self.shared_head)
            asked = key.concept.asked if key.concept else ()
            named = self.noun is not None and any(self.noun in text.lower() for text in (key.text, *asked))
            if key.text not in self.used and key.concept not in self.concepts and not named:
                return key

    def _sample(self) -> Key:
        if self.family and self.rng.random() < _FAMILY_KEYS:
            concept = self.family.pop()
            return Key(self.rng.choice(concept.printed), self.rng.choice(concept.kinds), concept)
        return _sample_key(self.rng, self.meant, self.shared_head)


def _sample_key(rng: random.Random, meant: float, shared_head: str | None) -> Key:
    if shared_head is not None and rng.random() < 0.25:
        return _qualify_head(rng, shared_head)
    if rng.random() < meant:
        return _sample_concept_key(rng)
    if rng.random() < 0.1:
        return _qualify_head(rng, rng.choice(_HEADS))
    return Key(_loose_text(rng), rng.choice(_LOOSE_KINDS))


def _sample_concept_key(rng: random.Random) -> Key:
    concept = rng.choice(CONCEPTS)
    text, kind = rng.choice(concept.printed), rng.choice(concept.kinds)
    form = rng.random()
    # A qualified key no longer answers its concept's questions: "supplier's fax" is not "fax".
    if form < 0.12:
        return Key(f"{rng.choice((rng.choice(_QUALIFIERS), word(rng)))} {text}", kind)
    if form < 0.17:
        return Key(f"{text} {rng.choice(('of', 'for', 'in', 'of the'))} {word(rng)}", kind)
    if form < 0.2:
        return Key(f"{rng.choice(_NUMBERING)} {text}", kind)
    return Key(text, kind, concept)


def _qualify_head(rng: random.Random, head: str) -> Key:
    qualifier = rng.choice((rng.choice(_QUALIFIERS), rng.choice(_QUALIFIERS), word(rng)))
    return Key(f"{qualifier} {head}", _HEAD_KINDS[head])


def _loose_text(rng: random.Random) -> str:
    count = rng.choice((1, 1, 2, 2, 2, 3, 3, 4, 5, 7, 10))
    parts = words(rng, count, count)
    if count > 2 and rng.random() < 0.6:
        parts[rng.randint(1, count - 2)] = rng.choice(SMALL)
    if count > 1 and rng.random() < 0.08:
        parts[-1] = f"({parts[-1]})"
    if rng.random() < 0.06:
        parts[rng.randrange(count)] = rng.choice(("%", "#", "no.", "$", "&", "/", "no.", "#"))
    if count > 1 and rng.random() < 0.06:
        parts[0:2] = [f"{parts[0]}/{parts[1]}"]
    if rng.random() < 0.07:
        parts.insert(0, rng.choice(_NUMBERING))
    if rng.random() < 0.04:
        parts = [coin_word(rng)[:3]]
    return " ".join(parts)
