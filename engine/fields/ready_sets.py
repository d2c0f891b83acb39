"""Ready sets of fields: lists to begin with, for kinds of papers that many people have.

The questions are worded as those that the shipped model was trained and measured on (engine.synthetic.concepts).
"""

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass

from engine.fields.definition import ColumnDefinition, FieldDefinition, NotBeforeRule
from engine.fields.types import FieldType

_TEXT, _DATE, _MONEY = FieldType.STRING, FieldType.DATE, FieldType.CURRENCY


@dataclass(frozen=True, slots=True)
class ReadySet:
    """A list of fields for a kind of paper."""

    name: str
    title: str
    about: str
    fields: tuple[FieldDefinition, ...]


def _field(name: str, question: str, kind: FieldType = _TEXT, **options: object) -> FieldDefinition:
    return FieldDefinition.model_validate({"name": name, "question": question, "type": kind, **options})


def _column(name: str, heading: str, kind: FieldType = _TEXT, *, required: bool = False) -> ColumnDefinition:
    return ColumnDefinition(name=name, question=heading, type=kind, required=required)


_SETS = (
    ReadySet(
        "invoice",
        "Invoice",
        "Number, dates, supplier, customer and amounts of an invoice.",
        (
            _field("invoice_number", "What is the invoice number?", required=True, examples=("2026-0417", "RE 40718")),
            _field("invoice_date", "What is the invoice date?", _DATE, required=True),
            _field(
                "due_date",
                "What is the due date?",
                _DATE,
                rules=(NotBeforeRule(rule="not_before", field="invoice_date"),),
            ),
            _field("supplier", "Who is the supplier?", required=True, issuer=True),
            _field("customer", "Who is the customer?"),
            _field("order_number", "What is the order number?"),
            _field("subtotal", "What is the subtotal?", _MONEY),
            _field("tax", "What is the tax amount?", _MONEY),
            _field("total", "What is the total amount?", _MONEY, required=True),
        ),
    ),
    ReadySet(
        "line_items",
        "Line items",
        "The lines of an invoice, an order or a receipt, as a table.",
        (
            _field(
                "line_items",
                "What are the line items?",
                FieldType.TABLE,
                columns=(
                    _column("description", "Description", required=True),
                    _column("article", "Article number"),
                    _column("quantity", "Quantity", FieldType.NUMBER),
                    _column("unit_price", "Unit price", _MONEY),
                    _column("amount", "Amount", _MONEY),
                ),
            ),
        ),
    ),
    ReadySet(
        "receipt",
        "Receipt",
        "Shop, date and amounts of a receipt.",
        (
            _field("company", "What is the company name?", required=True, issuer=True),
            _field("address", "What is the address?", FieldType.ADDRESS),
            _field("date", "What is the date?", _DATE, required=True),
            _field("time", "What is the time?", FieldType.TIME),
            _field("receipt_number", "What is the receipt number?"),
            _field("tax", "What is the tax amount?", _MONEY),
            _field("total", "What is the total amount?", _MONEY, required=True),
            _field("payment_method", "What is the payment method?"),
        ),
    ),
    ReadySet(
        "purchase_order",
        "Purchase order",
        "Number, dates, parties and amounts of a purchase order.",
        (
            _field("order_number", "What is the order number?", required=True),
            _field("order_date", "What is the date?", _DATE, required=True),
            _field("supplier", "Who is the supplier?", required=True),
            _field("customer", "Who is the customer?", issuer=True),
            _field("delivery_address", "What is the delivery address?", FieldType.ADDRESS),
            _field("contact", "Who is the contact person?"),
            _field("phone", "What is the phone number?", FieldType.PHONE),
            _field("payment_terms", "What are the payment terms?"),
            _field("total", "What is the total amount?", _MONEY, required=True),
        ),
    ),
    ReadySet(
        "contract",
        "Contract",
        "Parties, dates and signature of a contract.",
        (
            _field("title", "What is the title?"),
            _field("party", "Which company?", several=True, required=True),
            _field("start_date", "What is the start date?", _DATE),
            _field(
                "end_date",
                "What is the end date?",
                _DATE,
                rules=(NotBeforeRule(rule="not_before", field="start_date"),),
            ),
            _field("amount", "What is the amount?", _MONEY),
            _field("signed_by", "Who signed it?", several=True),
            _field("signature", "Where is the signature?", FieldType.SIGNATURE),
        ),
    ),
    ReadySet(
        "registration_form",
        "Registration form",
        "Person, address and contact of a registration form.",
        (
            _field("last_name", "What is the last name?", required=True),
            _field("first_name", "What is the first name?", required=True),
            _field("date_of_birth", "What is the date of birth?", _DATE),
            _field("address", "What is the address?", FieldType.ADDRESS),
            _field("city", "What is the city?"),
            _field("zip_code", "What is the zip code?"),
            _field("country", "What is the country?", FieldType.COUNTRY),
            _field("phone", "What is the phone number?", FieldType.PHONE),
            _field("email", "What is the email address?"),
            _field("date", "What is the date?", _DATE),
            _field("signature", "Where is the signature?", FieldType.SIGNATURE),
        ),
    ),
)


def add_ready_set(present: Sequence[FieldDefinition], ready: ReadySet) -> list[FieldDefinition]:
    """Return the fields of a list, then those of a set whose question or name the list does not have.

    A field that a rule names may be left out so; the rule then goes too. A list has one issuer: its own stays.
    """
    names = {field.name for field in present}
    questions = {field.question for field in present}
    further = [field for field in ready.fields if field.name not in names and field.question not in questions]
    names |= {field.name for field in further}
    if any(field.issuer for field in present):
        further = [field.model_copy(update={"issuer": False}) for field in further]
    return [*present, *(_without_lost_rules(field, names) for field in further)]


def _without_lost_rules(field: FieldDefinition, names: Container[str]) -> FieldDefinition:
    rules = tuple(rule for rule in field.rules if not isinstance(rule, NotBeforeRule) or rule.field in names)
    return field.model_copy(update={"rules": rules})


READY_SETS: Mapping[str, ReadySet] = {ready.name: ready for ready in _SETS}
