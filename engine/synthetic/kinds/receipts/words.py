"""Texts of receipts, and phrasings of questions about them."""

from __future__ import annotations

import random
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Meta:
    """Line below the head: printed keys, and its frequency."""

    keys: tuple[str, ...]
    share: float = 0.0


META = {
    "date": Meta(("Date", "Date", "Date", "Invoice Date", "Bill Date", "Doc Date", "Trans Date", "Printed", "Date/Time", "Inv Date")),
    "time": Meta(("Time", "Time", "Trans Time", "Print Time", "Order Time"), 0.3),
    "number": Meta(("Invoice No", "Receipt No", "Bill No", "Inv. No.", "Doc No.", "Receipt #", "Slip No.", "Trans", "Invoice #", "Inv No", "Tax Invoice No", "Chk", "Order", "Bill"), 0.6),
    "cashier": Meta(("Cashier", "Served by", "Sales Person", "Clerk", "Staff", "Operator", "Salesperson", "Waiter", "Server", "Host", "Your server"), 0.5),
    "table": Meta(("Table", "Table No", "Pax", "Tbl", "Queue No", "Covers"), 0.2),
    "customer": Meta(("Customer", "Bill To", "Cust", "Attn", "M/S", "Sold To"), 0.2),
    "terminal": Meta(("Terminal", "POS", "Counter", "Ref", "Till", "Reg", "POS No"), 0.3),
    "member": Meta(("Member", "Member ID", "Card No", "Loyalty No"), 0.1),
    "telephone": Meta(("Tel", "Phone"), 0.04),
}  # fmt: skip

TITLES = (
    "TAX INVOICE", "TAX INVOICE", "TAX INVOICE", "RECEIPT", "Invoice", "CASH BILL", "SIMPLIFIED TAX INVOICE", "Cash Sales",
    "Sales Receipt", "OFFICIAL RECEIPT", "Cash Receipt", "GUEST CHECK", "Take Away", "Original Receipt",
)  # fmt: skip

CLOSINGS = (
    "Thank you", "Thank you! Please come again", "Goods sold are not returnable", "Have a nice day", "No refund",
    "Exchange within 7 days with receipt", "Goods sold are not returnable or refundable", "Please keep this receipt",
    "THANK YOU FOR SHOPPING WITH US", "*** Thank You ***", "Price is inclusive of GST", "Like us on facebook",
    "Please retain the receipt for exchange", "Visit us at our web site", "Customer copy", "This is a computer generated invoice",
    "Powered by point of sale", "Opening hours 10 am - 10 pm", "Tell us about your visit",
)  # fmt: skip

_TAXES = (
    "GST", "GST", "Tax", "Tax", "Tax", "VAT", "VAT", "Sales Tax", "Total Tax", "State Tax", "Local Tax", "HST", "Service Tax", "TVA",
    "Total GST", "Food Tax", "Taxes", "MwSt", "IVA", "SST",
)  # fmt: skip
_RATES = ("6", "6", "7", "7.25", "8", "8.1", "8.25", "8.875", "9.5", "10", "10", "13", "15", "19", "20", "21")


def tax_key(rng: random.Random) -> str:
    """Return the key of a tax, half of the time with its rate."""
    name, rate = rng.choice(_TAXES), rng.choice(_RATES)
    if rng.random() < 0.5:
        return name
    shapes = (
        "{} {}%", "{} {}%", "{} {} %", "{} ({}%)", "{} @{}%", "{} @ {}%", "{}{}%", "{1}% {0}", "{1} % {0}", "Add {} {}%", "incl. {} {}%",
    )  # fmt: skip
    return rng.choice(shapes).format(name, rate)


ASKED: dict[str, tuple[str, ...]] = {
    "total": (
        "What is the total amount?", "What is the total amount?", "What is the total amount?", "total", "How much was paid in total?",
        "What is the total?", "grand total", "How much is the bill?", "What is the total of the receipt?", "amount to pay",
        "total amount", "What did it cost altogether?", "Find the total.", "How much is the total?", "Which amount has to be paid?",
        "final total", "total due", "What is the sum to pay?", "How much does the customer owe?", "receipt total", "bill amount",
        "What was the final price?", "amount due",
    ),
    "date": (
        "What is the date of the receipt?", "What is the date of the receipt?", "What is the date of the receipt?", "date",
        "When was it issued?", "When was this purchased?", "What is the date?", "On which day was the receipt issued?", "receipt date",
        "date of purchase", "transaction date", "When did the purchase take place?", "What date is on the document?", "Find the date.",
        "invoice date", "purchase date", "When was the visit?", "Which day is printed?",
    ),
    "address": (
        "What is the address of the company?", "What is the address of the company?", "What is the address of the store?", "address",
        "What is the address of the store?", "Where is it?",
        "Where is the shop?", "Where is the company located?", "store address", "What is the address?", "Where is the store?",
        "address of the seller", "merchant address", "Find the address of the shop.", "What address is printed?", "shop location",
        "Where was this bought?", "company address", "Where does the seller reside?",
    ),
    "company": (
        "Which company issued this receipt?", "Which company issued this receipt?", "Which company issued this receipt?", "company",
        "Who issued this?", "What is the name of the store?", "What is the name of the store?", "store name",
        "What is the name of the shop?", "name of the store", "Who sold this?", "merchant", "Which shop is this from?", "seller name",
        "Who is the merchant?", "company name", "What is the name of the company?", "Which business issued the document?", "vendor",
        "What is the shop called?", "Who is the seller?", "name of the company", "Which store is it?", "vendor name",
    ),
    "brand": ("brand", "What is the brand of the shop?", "trading name", "Under which name does the shop trade?", "brand name"),
    "time": ("time", "At what time was it issued?", "What time was the purchase?", "What is the time?", "time of purchase", "print time"),
    "phone": ("telephone", "What is the phone number?", "phone number of the shop", "Which number can be called?", "tel", "phone"),
    "registration": ("company registration number", "What is the registration number of the company?", "reg no", "business registration"),
    "tax number": ("tax number", "gst number", "What is the GST ID?", "gst id", "vat number", "tax registration number"),
    "number": ("receipt number", "invoice number", "What is the receipt number?", "What is the invoice number?", "bill number", "document number"),
    "cashier": ("cashier", "Who was the cashier?", "Who served?", "name of the cashier", "staff", "clerk"),
    "customer": ("customer", "Who is the customer?", "Who bought it?", "name of the customer"),
    "table": ("table", "table number", "Which table is it?"),
    "terminal": ("terminal", "counter", "Which counter was it?", "terminal number"),
    "member": ("member number", "loyalty card number", "What is the member id?"),
    "subtotal": ("subtotal", "total before tax", "net amount before tax", "What is the subtotal?", "sub total"),
    "tax": ("tax", "How much tax is charged?", "gst", "tax amount", "What is the tax?", "How much is the GST?"),
    "cash": ("cash", "How much cash was handed over?", "amount tendered", "How much did the customer pay?", "cash paid"),
    "change": ("change", "How much change was given?", "change returned", "What is the change?", "change due"),
    "discount": ("discount", "How much discount was given?", "total discount"),
    "rounding": ("rounding", "rounding adjustment", "What is the rounding?"),
    "service": ("service charge", "How much is the service charge?"),
    "count": ("number of items", "How many items were bought?", "item count", "total quantity"),
}  # fmt: skip

ABSENT: dict[str, tuple[str, ...]] = {
    "cashier": ("cashier", "Who was the cashier?", "Who served?", "name of the cashier"),
    "customer": ("customer name", "Who is the customer?", "Who bought it?"),
    "table": ("table number", "Which table is it?"),
    "member": ("member number", "loyalty card number", "What is the member id?"),
    "phone": ("phone number of the shop", "What is the phone number?"),
    "tip": ("tip", "How much was tipped?", "gratuity"),
    "delivery": ("delivery address", "Where is it delivered?", "delivery charge", "shipping cost"),
    "iban": ("bank account", "What is the IBAN?", "account number"),
    "due": ("due date", "When is payment due?", "payment terms", "purchase order number"),
    "mail": ("email address", "What is the e-mail of the customer?", "fax number of the customer"),
    "guarantee": ("warranty period", "How long is the guarantee?", "serial number", "expiry date"),
    "birth": ("date of birth", "job title", "signature of the manager", "What is the subject?", "department"),
    "weight": ("net weight", "size of the parcel", "delivery date", "check-in date", "passport number"),
}  # fmt: skip
