"""Texts of shipping papers, and phrasings of questions about them."""

from __future__ import annotations

from engine.synthetic.concepts import concepts_of

_TABLE = """
shipper; consignor; exporter; sender; shipper/exporter; shipper's name and address|shipper; Who ships the goods?; Who sends it?; sender; name and address of the shipper|party
consignee; receiver; ship to; deliver to; consignee's name and address; recipient|consignee; Who receives the goods?; To whom is it sent?; receiver; name and address of the consignee|party
notify party; notify; also notify; notify address|notify party; Who is to be notified?; party to be notified|party
invoice to; bill to; sold to; buyer (if not consignee)|invoice address; Who pays for the goods?; To whom is the invoice sent?|party
carrier; carrier name; issuing carrier; forwarder; shipped via|carrier; Who carries the goods?; name of the carrier; Which forwarder is it?|company
agent; issuing carrier's agent; delivery agent; forwarding agent|agent; Who is the agent?; agent of the carrier|company
b/l no.; bill of lading no.; b/l number; bill of lading number|bill of lading number; Which number does the bill of lading have?; b/l number|code
air waybill no.; awb no.; waybill number; air waybill number|air waybill number; Which number does the waybill have?; awb|awb
delivery note no.; delivery no.; note no.; despatch no.; d/n no.|delivery note number; number of the delivery note; delivery number|code
packing list no.; list no.; packing slip no.|packing list number; number of the packing list|code
order no.; your order; purchase order no.; p.o. no.; customer order|order number; Which order is it for?; purchase order number|code
invoice no.; invoice number; commercial invoice no.|invoice number; Which invoice belongs to it?; number of the invoice|code
booking no.; booking number; booking ref.|booking number; booking reference|code
export references; shipper's reference; our reference; reference no.|reference; export references; reference of the shipper|code
customer no.; customer number; account no.; debtor no.|customer number; number of the customer; account|code
date; delivery date; date of despatch; shipping date; ship date; date shipped|date of despatch; When was it shipped?; shipping date; When did the goods leave?|day
order date; ordered on; date of order|order date; When was it ordered?; day of the order|day
vessel; ocean vessel; vessel name; ship|vessel; Which ship carries the goods?; name of the vessel|vessel
voyage no.; voy. no.; voyage|voyage number; Which voyage is it?; voyage|voyage
flight/date; flight no.; requested flight|flight; Which flight is booked?; flight number|flight
port of loading; loading port; port of lading; from port|port of loading; Where are the goods loaded?; port where it is loaded|city
port of discharge; discharge port; unloading port; to port|port of discharge; Where are the goods unloaded?; port where it is unloaded|city
place of receipt; pre-carriage from; place of acceptance|place of receipt; Where were the goods taken over?|city
place of delivery; final destination; destination|place of delivery; What is the final destination?; destination of the goods|city
airport of departure; departure airport; from airport|airport of departure; From which airport does it leave?; departure|airport
airport of destination; destination airport; to airport|airport of destination; At which airport does it arrive?; arrival airport|airport
terms of delivery; incoterms; delivery terms; terms|terms of delivery; Which incoterm applies?; delivery terms|terms
country of origin; origin; country of manufacture|country of origin; Where were the goods made?; origin|country
declared value; value for customs; customs value; declared value for carriage|declared value; What are the goods worth?; value for customs|money
total gross weight; gross weight total; total weight; weight (gross)|total gross weight; How heavy is the shipment?; weight of all goods; total weight|kilos
total net weight; net weight total; weight (net)|total net weight; How heavy are the goods without packing?; net weight of all|kilos
total packages; number of packages; total number of packages; no. of pieces; total cartons|number of packages; How many packages are there?; total number of pieces|count
total quantity; total units; quantity total; total pieces|total quantity; How many units are shipped?; sum of the quantities|count
total volume; measurement total; total cbm|total volume; How much room does it take?; volume of the shipment|volume
freight charges; freight; freight amount; carriage|freight charges; How much is the freight?; cost of carriage|money
container no.; container number; container/seal no.|container number; Which container is it in?; number of the container|container
seal no.; seal number|seal number; number of the seal|code
driver; driver's name; name of driver|driver; Who drives the truck?; name of the driver|person
vehicle no.; truck no.; licence plate; registration of vehicle|vehicle number; Which truck brings it?; licence plate|plate
tracking no.; tracking number; consignment no.; parcel no.|tracking number; How can it be tracked?; consignment number|code
contents; description of contents; detailed description; nature of goods|contents; What is in the parcel?; description of the contents|phrase
special instructions; remarks; delivery instructions; handling information; instructions|special instructions; handling information; What must be observed?; remarks|text
hs code; tariff no.; hs tariff number; commodity code|hs code; tariff number; commodity code|hs
postage; postal charges; postage paid|postage; What did the postage cost?; postal charges|money
contact; contact person; attention; attn.|contact; Who can be asked?; contact person|person
telephone; phone; tel. no.; contact number|telephone; Which number can be called?; phone number|phone
"""
CONCEPTS = {concept.printed[0]: concept for concept in concepts_of(_TABLE)}

TITLES = {
    "delivery": (
        "Delivery note",
        "Delivery note",
        "Despatch note",
        "Delivery order",
        "Goods delivery note",
        "Delivery receipt",
    ),
    "packing": ("Packing list", "Packing list", "Packing slip", "Packing note", "Detailed packing list"),
    "lading": (
        "Bill of lading",
        "Ocean bill of lading",
        "Straight bill of lading",
        "Sea waybill",
        "Multimodal transport document",
    ),
    "air": ("Air waybill", "House air waybill", "Air consignment note"),
    "customs": (
        "Customs declaration",
        "Customs declaration CN 23",
        "Declaration of goods",
        "Export declaration",
        "Customs form",
    ),
}
KEYS = {
    "delivery": ("delivery note no.", "date", "order no.", "order date", "customer no.", "driver", "vehicle no.", "terms of delivery", "contact", "invoice no.", "tracking no."),
    "packing": ("packing list no.", "invoice no.", "date", "order no.", "country of origin", "terms of delivery", "container no.", "carrier", "contact"),
}  # fmt: skip
