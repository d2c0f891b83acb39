"""Concepts behind keys: printed variants, phrasings of questions, and kinds of values."""

from __future__ import annotations

from dataclasses import dataclass

# printed keys | phrasings (noun phrases or whole questions) | kinds of values
_TABLE = """
date; date of issue; issued on; issue date; document date; dated|date; When was it issued?; On what date was this issued?; issue date; What date is given?|date
invoice date; bill date; inv date; date of invoice|invoice date; When was the invoice issued?; billing date|date
due date; payment due; pay by; due on; payment due date|due date; When is payment due?; By when must it be paid?; deadline for payment|date
invoice no; invoice #; invoice number; inv. no.; bill no; tax invoice no|invoice number; What is the number of the invoice?; invoice no; invoice id|code
receipt no; receipt #; receipt number; slip no; trans no; transaction no|receipt number; transaction number; receipt id|code
order no; purchase order; p.o. number; po #; order number; order id; purchase order no.|order number; purchase order number; po number|code
account no; account number; acct #; a/c no; acct. no.|account number; Which account is it?; account no|code
customer no; customer number; customer id; client no; customer no.|customer number; Which number does the customer have?; id of the customer|code
customer; customer name; client; bill to; sold to; buyer|customer; Who is the customer?; customer name; Who is billed?; client name|person,company
vendor; supplier; seller; manufacturer; sold by; source; agency|vendor; Who is the supplier?; Who sells the goods?; seller; supplier|company
manufacturer; made by; mfr.; producer|manufacturer; Who makes it?; maker; producer|company
name; full name; applicant name; name of applicant; employee name; name (please print)|name; Who is the applicant?; person's name; What is the person called?|person
first name; given name; forename|first name; given name|word
last name; surname; family name|surname; last name; family name|word
address; street address; mailing address; home address; business address|address; Where do they live?; Where is it located?; street address; postal address|address
city; town|city; Which city?; town|city
state; province|state; Which state?|state
zip; zip code; postal code; postcode|zip code; postal code; postcode|postcode
country; country of origin|country; Which country?|country
phone; telephone; tel; phone no; tel. no.; telephone number; telephone no.; phone number|phone number; telephone; What number can be called?; contact number|phone
fax; fax no; fax number; facsimile; telefax|fax number; fax|phone
email; e-mail; email address; e-mail address|email; email address; Where can an email be sent?|email
website; web; internet; url|website; web address; Where is it on the web?|website
total; total amount; amount due; grand total; balance due; total due|total amount; How much is due?; total; What is the amount to pay?; grand total; How much in total?|money
subtotal; sub-total; net amount; sub total|subtotal; total before tax; net amount|money
tax; vat; sales tax; gst; gst 6%; tax amount|tax; tax amount; How much tax is charged?; sales tax|money
discount; less discount; rebate|discount; How much is taken off?; price reduction|money
shipping; freight; delivery charge; shipping & handling|shipping cost; freight; delivery charge|money
from; sender; sent by|from; sender; Who sent this?; Who is it from?; Who wrote this?|person,company
to; attention; attn; recipient; addressee; attn.|to; recipient; Who is it addressed to?; Who receives this?|person,company
subject; re; regarding; topic|subject; What is it about?; subject of the letter; topic|phrase,title,long
cc; copies to; copy to; distribution; copies|cc; Who gets a copy?; copies to|person,people
department; dept.; dept; division; section|department; Which department?; division|phrase
title; position; job title; occupation; designation|title; job title; position; What is their job?; occupation|phrase
birth date; date of birth; dob; born|date of birth; When were they born?; birthday; birth date|date
start date; effective date; commencement date; from date; date started|start date; When does it start?; effective date; When does it begin?|date
end date; expiry date; expiration date; expires; valid until; completion date|expiration date; When does it end?; When does it expire?; expiry date|date
date received; received; received on; date rec'd|date received; When was it received?|date
date sent; sent; mailed; date mailed|date sent; When was it sent?|date
date submitted; submission date; submitted|submission date; When was it submitted?|date
approved by; authorized by; approval; approved|approved by; Who approved it?; Who authorized this?; approver|person
prepared by; written by; author; completed by; authors; author(s)|prepared by; author; Who prepared this?; Who wrote it?|person,people
requested by; requester; requestor; originator|requested by; Who requested it?; Who asked for it?|person
reported by; submitted by; reporter|reported by; Who reported it?; Who submitted it?|person
reviewed by; checked by; verified by|reviewed by; Who checked it?; Who reviewed this?|person
contact; contact person; contact name|contact person; Who should be contacted?; contact|person
signature; signed; signed by|signature; Who signed it?|person
witness; witnessed by|witness; Who witnessed it?|person
brand; brand name; product; product name; brand(s)|brand; product; Which product is it?; brand name|brand
quantity; qty; no. of units; number of items; quantity ordered|quantity; How many?; number of units; qty|number,measure
unit price; price; rate; price each; list price|unit price; price; How much does one cost?|money
description; details; particulars; item description|description; details; What is described?|phrase,text,long
purpose; objective; reason; objectives|purpose; What is the purpose?; objective; Why was it done?|phrase,text,long
comments; remarks; notes; additional comments; special instructions|comments; remarks; notes; Any remarks?|text,long
project; project name; job; project title|project; project name; Which project?|title,phrase
project no; job no; project number; job #; project #|project number; job number|code
reference; ref no; reference number; our ref; your ref; ref.|reference number; reference; ref|code
weight; net weight; gross weight|weight; How heavy is it?|measure
size; dimensions; size or sizes|size; dimensions; How big is it?|measure
length; filter length; overall length|length; How long is it?|measure
cost; estimated cost; budget; total cost|cost; How much does it cost?; budget|money
salary; wage; annual salary|salary; How much do they earn?; pay|money
percentage; percent; share; % of total|percentage; share|percent
pages; no. of pages; number of pages; total pages; number of pages (including cover)|number of pages; How many pages are there?; pages|number
time; start time; time in|time; At what time?; What time was it?|time
cashier; clerk; served by; operator|cashier; Who served?; clerk|person,word
payment method; payment; terms; payment terms; paid by|payment method; How was it paid?; payment terms|phrase
bank; bank name|bank; Which bank?|company
company; company name; firm; organization; employer|company; company name; Which company?; Which firm is it?; employer|company
status; marital status; condition|status; condition|word
age; age in years|age; How old?|number
gender; sex|gender; sex|word
policy no; policy number; claim no|policy number; claim number|code
license no; registration no; reg no; license number; permit no|license number; registration number|code
serial no; serial number; s/n; model no|serial number; model number|code
method; procedure; test method; method of shipment|method; procedure; Which method was used?|phrase
results; result; findings; conclusion; conclusions|results; findings; What was found?|text,phrase
type; type of business; category; class; type of product|type; category; What kind is it?|phrase
location; place; site; venue; area|location; Where is it?; place; Where does it take place?|city,phrase
manager; supervisor; director; section manager|manager; supervisor; Who is in charge?|person
region; territory; district|region; territory; Which region?|phrase,word
code; product code; item code; cost code|code; product code|code
amount; sum; payment amount; amount paid|amount; How much?; sum|money
circulation; volume; sales; circulation quantity|circulation; volume; sales|number
compound; sample; sample no; sample id; specimen; compound code|sample; compound; Which sample?|code,phrase
investigator; study director; technician; analyst; investigator(s)|investigator; technician; Who did the test?|person
period; period covered; reporting period; year covered; promotional period|period; Which period is covered?|dates,date
temperature; temp.; storage temperature|temperature; How warm is it?|measure
response code; market; market area|market; Which market?|phrase,word
court; case; caption; case no.|court; case; Which case?|phrase,code
plaintiff; claimant; petitioner|plaintiff; Who sues?; claimant|person,company
defendant; respondent|defendant; Who is sued?|company,person
school; university; college; education|school; university; Where did they study?|company
nationality; citizenship|nationality; citizenship|country
""".strip()


@dataclass(frozen=True, slots=True)
class Concept:
    """Concept: `printed` keys, `asked` noun phrases and questions, `kinds` of its values.

    `reworded`: least share of its questions that take words of `asked` and not of the printed key.
    """

    printed: tuple[str, ...]
    asked: tuple[str, ...]
    kinds: tuple[str, ...]
    reworded: float = 0.0


def _concept(line: str) -> Concept:
    printed, asked, kinds = line.split("|")
    return Concept(
        tuple(part.strip() for part in printed.split(";")),
        tuple(part.strip() for part in asked.split(";")),
        tuple(part.strip() for part in kinds.split(",")),
    )


def concepts_of(table: str) -> tuple[Concept, ...]:
    """Parse concepts from lines of "printed; keys|phrasings; of questions|kinds, of values"."""
    return tuple(_concept(line) for line in table.strip().splitlines())


CONCEPTS = concepts_of(_TABLE)
