"""Texts of certificates and licences, and phrasings of questions about them."""

from __future__ import annotations

from dataclasses import dataclass

from engine.synthetic.concepts import concepts_of

_TABLE = """
certificate no.; certificate number; no.; serial no.; cert. no.; register no.|certificate number; serial number; number of the certificate; Which number does it bear?|code
date; date of issue; issued on; dated; given on|date of issue; When was it issued?; issue date; On what day was it given?|date
place of issue; issued at; place|place of issue; Where was it issued?; At which place was it given?|city
valid until; expiry date; expires; valid to; date of expiry|expiry date; Until when is it valid?; When does it expire?|date
issuing authority; issued by; authority; office|issuing authority; Who issued it?; Which office issued it?|company
exporter; consignor; shipper; producer|exporter; Who exports the goods?; consignor|party
consignee; importer; buyer|consignee; Who receives the goods?; importer|party
country of origin; origin; made in|country of origin; Where do the goods come from?; origin of the goods|country
country of destination; destination; exported to|country of destination; Where do the goods go?; destination|country
means of transport; transport; transport details; route|means of transport; How are the goods carried?; transport details|transport
invoice no.; number and date of invoice; commercial invoice|invoice number; Which invoice do the goods belong to?|code
insured; name of insured; policyholder; named insured|insured; Who is insured?; policyholder; name of the insured|party
insurer; insurance company; company affording coverage; underwriter|insurer; Who insures?; insurance company|company
policy no.; policy number; cover note no.|policy number; number of the policy; Which policy is it?|code
period of insurance; policy period; period of cover; effective dates|period of insurance; From when to when is it insured?; policy period|dates
sum insured; limit of liability; limit; amount of cover; coverage amount|sum insured; How much is covered?; limit of liability|money
premium; annual premium; premium paid|premium; How much does the insurance cost?; annual premium|money
deductible; excess|deductible; How much must the insured bear?; excess|money
type of insurance; type of cover; class of insurance|type of insurance; What is covered?; kind of cover|phrase
broker; agent; producer's name|broker; Who brokered the insurance?; insurance agent|company
product; product name; material; name of product|product; Which product was analysed?; name of the material|brand
batch no.; lot no.; lot number; batch|batch number; Which lot is it?; number of the batch|code
date of manufacture; mfg. date; manufactured|date of manufacture; When was it made?|date
retest date; best before; shelf life until|retest date; How long can it be used?; best before|date
quantity; batch size; net quantity|quantity; How much is in the batch?; batch size|measure
customer; client; supplied to|customer; To whom is it supplied?|company
name; full name; name and surname; name of child; given name and surname|name; Whose certificate is it?; name of the person; What is the person's full name?|person
date of birth; born on; birth date; when born|date of birth; When was the person born?; birthday|date
place of birth; born at; birthplace; where born|place of birth; Where was the person born?; birthplace|city
sex; gender|sex; Is it a boy or a girl?; gender|sex
father; name of father; father's name|father; Who is the father?; name of the father|person
mother; name of mother; mother's maiden name; mother's name|mother; Who is the mother?; maiden name of the mother|person
occupation of father; father's occupation|occupation of the father; What does the father do?|phrase
nationality; citizenship|nationality; Which nationality is it?|country
registrar; name of registrar; registered by; deputy registrar|registrar; Who registered it?; name of the registrar|person
date of registration; registered on; entered on|date of registration; When was it entered in the register?|date
registration district; district; registry office; sub-district|registration district; Which office keeps the register?; district|city
informant; reported by; signature of informant|informant; Who reported it?|person
licensee; licence holder; holder; registrant|licence holder; Who holds the licence?; holder; To whom was it granted?|party
licence no.; license number; permit no.; registration no.|licence number; permit number; number of the licence|code
class; category; class of licence; type of licence|class of the licence; What is allowed?; category|class
trade name; business name; doing business as|trade name; Under which name is the business run?; business name|company
address; business address; premises; location|address; Where are the premises?; business address|address
fee; fee paid; licence fee|fee; What did the licence cost?; fee paid|money
conditions; restrictions; subject to|conditions; Are there restrictions?; conditions of the licence|text
"""
CONCEPTS = {concept.printed[0]: concept for concept in concepts_of(_TABLE)}

FORMAL = {
    "origin": ("exporter", "consignee", "country of origin", "country of destination", "means of transport", "invoice no.", "place of issue"),
    "insurance": ("insured", "insurer", "policy no.", "period of insurance", "sum insured", "premium", "deductible", "type of insurance", "broker"),
    "analysis": ("product", "batch no.", "date of manufacture", "retest date", "quantity", "customer", "date"),
    "birth": ("name", "date of birth", "place of birth", "sex", "father", "mother", "occupation of father", "nationality", "informant", "registrar",
              "date of registration", "registration district"),
    "licence": ("licensee", "licence no.", "class", "trade name", "address", "fee", "conditions", "valid until", "issuing authority"),
}  # fmt: skip
TITLES = {
    "award": ("Certificate of Completion", "Certificate of Achievement", "Certificate of Attendance", "Diploma", "Certificate of Merit",
              "Certificate of Training", "Award of Excellence", "Certificate of Participation", "Certificate of Appreciation"),
    "origin": ("Certificate of Origin", "Certificate of Origin", "Exporter's Certificate of Origin"),
    "insurance": ("Certificate of Insurance", "Insurance Certificate", "Certificate of Liability Insurance", "Evidence of Insurance"),
    "analysis": ("Certificate of Analysis", "Certificate of Quality", "Certificate of Conformity", "Inspection Certificate"),
    "birth": ("Certificate of Birth", "Birth Certificate", "Certified Copy of an Entry of Birth", "Extract from the Register of Births"),
    "licence": ("Licence", "Business License", "Trading Licence", "Certificate of Registration", "Permit", "Operating Permit"),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Wording:
    """Sentence of an award, split at its names: texts, and names of parts in braces."""

    parts: tuple[str, ...]


AWARDS = (
    Wording(
        ("This is to certify that", "{name}", "has successfully completed", "{course}", "held at {place} on {day}")
    ),
    Wording(("This certificate is presented to", "{name}", "for outstanding work in", "{course}", "on {day}")),
    Wording(("We hereby certify that", "{name}", "has attended", "{course}", "from {day} to {end}")),
    Wording(("Awarded to", "{name}", "in recognition of", "{course}", "{place}, {day}")),
    Wording(
        (
            "The council of {firm} certifies that",
            "{name}",
            "has passed the examination in",
            "{course}",
            "with the grade {grade} on {day}",
        )
    ),
    Wording(
        (
            "Be it known that",
            "{name}",
            "having fulfilled all requirements is granted the title of",
            "{course}",
            "at {place} this day, {day}",
        )
    ),
    Wording(("{firm}", "confers upon", "{name}", "the degree of", "{course}", "given at {place} on {day}")),
    Wording(("Proudly presented to", "{name}", "who has completed {hours} hours of", "{course}", "Date: {day}")),
)
ASKED = {
    "name": ("Who is certified?", "name", "To whom was the certificate given?", "recipient", "Who completed the course?", "name of the person",
             "Who receives the certificate?", "Whose certificate is it?", "What is the name of the holder?", "awarded to"),
    "course": ("course", "What was completed?", "For what was the certificate given?", "What is certified?", "subject of the certificate",
               "Which course was attended?", "name of the course", "qualification"),
    "day": ("date", "When was it issued?", "date of the certificate", "On which day was it given?", "What is the date?", "issue date"),
    "end": ("end date", "Until when did it last?", "When did the course end?", "last day of the course"),
    "place": ("place", "Where was it given?", "Where did it take place?", "place of issue"),
    "firm": ("issuer", "Who issued the certificate?", "Which institution is it from?", "awarding body", "organization", "Who certifies?"),
    "grade": ("grade", "With which grade?", "What grade was reached?", "result", "mark"),
    "hours": ("hours", "How many hours did it take?", "number of hours", "duration of the course"),
}  # fmt: skip
