"""Families of keys: one party or event with keys for who, where, when, how much and which number."""

from __future__ import annotations

from dataclasses import dataclass

from engine.synthetic.concepts import Concept

PARTIES = (
    "customer", "customer", "client", "supplier", "vendor", "applicant", "patient", "tenant", "employee", "owner", "driver",
    "contractor", "insured", "buyer", "seller", "student", "borrower", "guest", "member", "agent", "carrier", "sender", "receiver",
)  # fmt: skip
EVENTS = (
    "delivery", "delivery", "payment", "order", "inspection", "repair", "arrival", "departure", "shipment", "meeting", "training",
    "survey", "audit", "installation", "interview", "hearing", "appointment", "visit", "transfer",
)  # fmt: skip
_REWORDED = 0.6  # share of the questions that ask who, where, when or how much, and not for the printed key


@dataclass(frozen=True, slots=True)
class _Role:
    """What is asked of a party or an event; `{}` stands for its noun."""

    printed: tuple[str, ...]
    asked: tuple[str, ...]
    kinds: tuple[str, ...]


_NUMBER = _Role(
    ("{} no.", "{} number", "{} id", "{} #", "{} code"),
    ("{} number", "Which number does the {} have?", "What is the number of the {}?"),
    ("code",),
)
_OF_PARTY = (
    _Role(
        ("{}", "{} name", "name of {}"),
        ("Who is the {}?", "Who is the {}?", "name of the {}", "What is the name of the {}?", "Who is named as {}?"),
        ("person", "company"),
    ),
    _NUMBER,
    _Role(
        ("{} address", "{} location", "address of {}"),
        ("Where is the {}?", "Where does the {} live?", "address of the {}", "Where is the {} located?"),
        ("address", "city"),
    ),
    _Role(("{} since", "{} from"), ("Since when is there this {}?", "When did the {} begin?"), ("date",)),
    _Role(
        ("{} balance", "{} total", "due from {}"),
        ("How much does the {} owe?", "How much is due from the {}?"),
        ("money",),
    ),
)
_OF_EVENT = (
    _Role(
        ("{} by", "{} contact", "{} manager", "{} officer"),
        ("Who is in charge of the {}?", "Who is responsible for the {}?", "Who looks after the {}?"),
        ("person",),
    ),
    _NUMBER,
    _Role(
        ("{} address", "place of {}", "{} location", "{} place"),
        ("Where is the {}?", "Where does the {} take place?", "Where was the {}?"),
        ("address", "city"),
    ),
    _Role(
        ("{} date", "date of {}", "{} on"),
        ("When is the {}?", "When was the {}?", "On which day is the {}?"),
        ("date",),
    ),
    _Role(
        ("{} cost", "{} amount", "{} charge", "{} fee"),
        ("How much is the {}?", "What does the {} cost?", "How much was charged for the {}?"),
        ("money",),
    ),
)


def family_of(noun: str) -> list[Concept]:
    """Return the concepts of a noun of PARTIES or EVENTS: who, which number, where, when, how much."""
    roles = _OF_PARTY if noun in PARTIES else _OF_EVENT
    return [
        Concept(
            tuple(text.format(noun) for text in role.printed),
            tuple(text.format(noun) for text in role.asked),
            role.kinds,
            _REWORDED,
        )
        for role in roles
    ]
