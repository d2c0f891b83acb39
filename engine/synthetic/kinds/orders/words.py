"""Keys of business papers by trade, with phrasings of questions and kinds of values.

A kind that starts with "=" is a value itself: "=Cash" prints "Cash".
"""

from __future__ import annotations

from engine.synthetic.concepts import Concept, concepts_of

_COMMON = """
order no.; order #; order number; order no; our order|order number; Which order is it?; number of the order|code,ref
order date; date of order; ordered; date ordered|order date; When was it ordered?; day of the order|day
order type; type of order; ord type|order type; What type of order is it?; kind of order|=Normal,=NORMAL,=Regular,=REG,=GENERAL,=Standard,=Rush,=Blanket,=No/Normal,=Stock
original date; orig. date; first entered|original date; When was it first written?; date of the original|day
revision; revision no.; rev #; revision #; rev.|revision; Which revision is it?; revision number|number,=Original,=Rev 1,=A,=02
revision date; date revised; last modified; modified; changes as of|revision date; When was it last changed?; last change|day,stamp
status; order status; current status|status; What state is the order in?; state of the order|=Open,=Confirmed,=Accepted,=Pending,=Closed,=Invoiced,=Approved,=On Hold,=Partial
print date; printed on; date printed|print date; When was it printed?; date of printing|day,stamp
entered by; keyed by; input by; created by|entered by; Who entered it?; name of the clerk|person
date entered; entry date; created on; entered|date entered; When was it entered?; day of entry|day
approved by; authorized by; approver|approved by; Who approved it?; approver|person
approval date; date approved; approved on|approval date; When was it approved?; day of approval|day
contact; contact name; contact person; attn|contact person; Who can be asked?; name of the contact|person
contact phone; phone no.; telephone; phone|phone number; Which number can be called?; telephone number|phone
contact email; e-mail; email address|email; e-mail address; Where can an email be sent?|email
fax; fax no.; fax #; facsimile|fax number; number of the fax|phone
department; dept.; dept; division|department; Which department is it?; division|words,=Sales,=Purchasing,=Accounts Payable,=Operations
currency; curr.; currency code|currency; Which currency is it in?; money used|=USD,=US Dollar,=EUR,=GBP,=CAD,=U.S. Dollars
payment terms; terms; terms of payment; pay terms|payment terms; When must it be paid?; terms of payment|=Net 30 Days,=Net 30,=30 days net,=CIA,=Cash in Advance,=2% 10 Net 30,=Due on receipt,=COD,=Net 15,=45 Days EOM,=Prepaid
payment method; method of payment; paid by; pay method|payment method; How is it paid?; way of payment|=Check,=ACH,=Wire,=Credit Card,=VISA,=Direct Debit,=EFT,=Cash
tax id; fed. tax id; vat no.; tax no.; ein|tax id; tax number; number for the tax office|taxid,code
tax rate; sales tax %; vat rate; tax %|tax rate; How high is the tax rate?; percentage of tax|percent
tax exempt; taxable; exempt|tax exempt; Is it exempt from tax?; free of tax|yesno
customer no.; customer #; cust. id; customer id; customer number|customer number; Which number does the customer have?; id of the customer|code,ref
customer; customer name; client; client name; cust. name|customer; Who is the customer?; name of the client|company,person
account no.; account #; acct. no.; account number; acct #|account number; Which account is it?; number of the account|code,ref
reference; ref. no.; reference #; ref #; our ref.|reference; Which reference is given?; reference number|ref
your reference; your ref.; customer ref; client reference|your reference; reference of the customer; customer's reference|ref
project; project name; job name|project; What is the project called?; name of the project|words
project no.; project #; job no.; job #; job number|project number; job number; Which job is it?|ref,code
cost center; cost centre; cost code; gl code|cost center; Which cost center is charged?; accounting code|code,ref
remarks; comments; notes; special instructions; instructions|remarks; What is noted?; comments|note
page; page no.; pg.; sheet|page number; Which page is it?; page|pageno
version; version no.; ver.|version; Which version is it?; version number|=1,=2,=Original Order,=Current State Version 2,=Highlighting Revision 1,=3.1
valid until; expires; expiry date; expiration date; offer expires|expiration date; Until when is it valid?; end of validity|day
start date; from date; begin date; starts; effective date|start date; When does it start?; first day|day
end date; to date; ends; through date; completion date|end date; When does it end?; last day|day
priority; pri.; urgency; priority code|priority; How urgent is it?; degree of urgency|=High,=Low,=Normal,=P5,=99,=1,=Rush,=Medium
region; territory; sales region; area|region; Which region is it?; territory|=National,=Nat,=Local,=Northeast,=West,=Midwest,=Region 4,city
branch; office; location; site|branch; Which office is it?; location|city,office
"""

_MEDIA = """
contract no.; contract #; contract number; contract|contract number; Which contract is it?; number of the contract|code
contract / revision; order / rev; contract / rev.; order/revision|contract and revision; number of the contract with its revision; contract number|coderev
alt order #; alt. order no.; alternate order; alternate order no.|alternate order number; other order number; Which other order number is given?|code,altcode
contract dates; schedule dates; contract period|contract dates; Which days does the contract cover?; period of the contract|days
flight dates; flight; order flight; flight period|flight dates; When does the campaign run?; dates of the flight|days
original date / revision; original date / rev; orig. date / rev. date|original date and revision; When was it written and when revised?; dates of the original and the revision|twodays
advertiser; advertiser name; adv. name; sponsor|advertiser; Who is the advertiser?; Who pays for the advertising?; name of the advertiser|advertiser
advertiser code; adv. code; advertiser #; adv #|advertiser code; code of the advertiser; number of the advertiser|code
advertiser ref; adv. ref; advertiser reference|advertiser reference; reference of the advertiser|code
advertiser external id; adv ext. id; external id|external id of the advertiser; outside id of the advertiser|code
agency; agency name; agy. name; buying agency|agency; Which agency is it?; Who is the agency?; name of the agency|agency
agency code; agy code; agy #; agency #|agency code; code of the agency; number of the agency|code
agency ref; agy. ref; agency reference|agency reference; reference of the agency|code
agency order #; agency order no.; agy order|agency order number; order number of the agency|code
agency commission; commission %; agency comm.; agy comm %|agency commission; How much does the agency keep?; percentage of the agency|percent
agency estimate; agency est #; est/external #|agency estimate; estimate number of the agency|code,cpe
product; product desc; product name; brand; order brand|product; What is advertised?; name of the product|advertiser,=Political,=Candidate,=TV,=Issue,=POLITICAL CANDIDATE
product code; prod. code; product codes; product 1/2; product 1|product code; code of the product; number of the product|code,=POLITICALS,=PL2
product 2; second product; prod 2|second product; product two|code
estimate #; estimate; est. #; est. no.; estimate number|estimate number; Which estimate is it?; number of the estimate|code,=TV
cpe; c/p/e; client/product/estimate|cpe; client product estimate|cpe
station; station name; call letters; property; channel|station; Which station is it?; call letters|station
station/market; station market; station / mkt|station and market; Where is the station?|stationmarket
market; tv market; mkt; dma|market; Which market is it?; market of the station|market
sales office; sls. office; rep office|sales office; Which office sold it?; office of the sale|office
salesperson; sales rep; salesman; sls. person; sales prsn; rep|salesperson; Who sold it?; name of the seller|person,office
account executive; acct. exec.; primary ae; a/e; ae|account executive; Who looks after the account?; executive of the account|person
assistant; sales assistant; asst.|assistant; Who assists?; name of the assistant|person,personphone
buyer; buyer name; buying contact; media buyer|buyer; Who buys?; name of the buyer|person,personrev
billing contact; bill contact; billing attn|billing contact; Who deals with the bills?; person for bills|person
billing type; bill type; bill. type|billing type; How is it billed?; type of billing|=Cash,=Standard,=Trade,=Weekly/Irregular,=EOM,=Broadcast
billing cycle; bill cycle; bill. cycle|billing cycle; How often is it billed?; cycle of the bills|=EOM/EOC,=EOM,=Weekly,=Monthly,=M (Broadcast Month),=EOC
billing calendar; bill calendar; calendar|billing calendar; Which calendar is used for billing?; calendar of the bills|=Broadcast,=Calendar,=Standard,=Gregorian
billing; billing instructions; bill plan|billing; billing instructions|=M (Broadcast Month Cycle 1),=Affidavit w/ times,=Co-op
special handling; special handling instr.; handling|special handling; What handling is needed?; way of handling|=None,=EDI,=E-mail invoices,=Notarize,=Mail copy to client,words
demographic; demo; primary demo; target demo|demographic; Which age group is the target?; target audience|demo
cash/trade; cash or trade; trade type|cash or trade; Is it paid in cash?; cash trade|=Cash,=Trade,=Barter
total ratings; total grp; ratings; grps|total ratings; How many rating points in all?; gross rating points|decimal
total cpp; cpp; cost per point|cost per point; What does a point cost?; total cpp|money
total spots; # of spots; tot spots; no. of spots|total spots; How many spots in all?; number of spots|number
separation; order separation; spot separation|separation; How far apart are the spots?; distance of spots|=00:15:00,=30,=20 min,=15
traffic #; trf #; traffic no.|traffic number; number for the traffic|code
headline #; rep headline; headline no.|headline number; number of the headline|code
external #; ext. #; external no.|external number; outside number|ext
deal #; deal no.; deal id|deal number; Which deal is it?|code
invoice month; billing month; broadcast month|invoice month; Which month is billed?; month of the bill|month
invoice period; billing period; inv. period; period|invoice period; Which days are billed?; period of the bill|days
co-op; co-op billing; coop; co-op/order type|co-op; Is it shared advertising?|yesno,=No/Normal
package; package deal; pkg|package; Is it a package?|=N,=Y,=Gold,=News Plus
account types; acct types; account type; class|account type; What type of account is it?; type of the account|=National/Agency Political,=National/Political Candidate Agency BRD,=Local Direct,=Natl.,=LOCAL,=National
con type; con. type; contract type|contract type; What type of contract is it?|=POLITICAL/VOTE,=ISSUE,=COMMERCIAL,=PAID PROGRAM
revenue code 1; rev code 1; revenue code|revenue code 1; first revenue code|=AGY,=DIR,=NTL,=LOC
revenue code 2; rev code 2|revenue code 2; second revenue code|=SPOT,=POL,=ISS,=DIG
revenue code 3; rev code 3|revenue code 3; third revenue code|=NONE,=POL-CAND,=ISS,=CAND
unit code; unit; inventory type|unit code; code of the unit|=General,=GEN,=SPOT
new business thru; new business through; new bus. thru|new business through; Until when is it new business?|day
service; rating service; survey|rating service; Who measures the ratings?|=Nielsen,=NSI,=Comscore,=Arbitron
package title; contract title; order title|contract title; title of the order|code,words
commission; commission amount; comm. amount|commission amount; How much commission in dollars?|money
net total; order net; net order|net of the order; How much is it after commission?|money
"""

_PURCHASE = """
purchase order; po #; po no.; p.o. number; purchase order no.|purchase order number; Which purchase order is it?; po number|code,ref
po date; p.o. date; date of po|po date; date of the purchase order|day
vendor; supplier; vendor name; supplier name|vendor; Who is the supplier?; Who delivers the goods?; name of the vendor|company
vendor no.; vendor id; supplier #; vendor #; supplier code|vendor number; number of the supplier; id of the vendor|code,ref
vendor contact; supplier contact; vendor rep|vendor contact; Who is to be asked at the supplier's?|person
vendor phone; supplier tel.; vendor tel.|phone of the vendor; How is the supplier reached?|phone
buyer; purchasing agent; purchaser; buyer name|buyer; Who buys?; name of the buyer|person
buyer phone; buyer tel.; buyer's phone|phone of the buyer; number of the buyer|phone
buyer email; buyer's e-mail; buyer mail|email of the buyer; Where can the buyer be written to?|email
requisition no.; req. #; requisition #; pr no.|requisition number; Which requisition is it?; number of the requisition|ref,code
requisitioner; requested by; requestor; ordered by|requisitioner; Who asked for it?; name of the requester|person
request date; date requested; requested on|request date; When was it asked for?|day
need by; required by; date required; needed by; required date|date required; By when is it needed?; deadline|day
promised date; promise date; confirmed date; date promised|promised date; When was delivery promised?|day
delivery date; deliver by; del. date|delivery date; When is it delivered?; day of delivery|day
ship date; shipped on; date shipped|ship date; When is it shipped?; day of shipment|day
ship via; shipped via; ship method; shipping method; via|ship via; How is it shipped?; Who carries it?|=UPS Ground,=FedEx,=Best Way,=Our Truck,=Common Carrier,=DHL Express,=USPS,=Will Call,=LTL
shipping terms; freight terms; frt terms; incoterms|shipping terms; Who pays the freight?; terms of freight|=FOB Origin,=FOB Destination,=Prepaid & Add,=EXW,=DAP,=CIF,=Collect,=FCA
fob point; f.o.b.; fob|fob point; Where does the risk pass over?; free on board|=Destination,=Origin,=Shipping Point,=Factory,city
blanket order; blanket po; blanket|blanket order; Is it a blanket order?|yesno
change order; change order #; co #; change no.|change order number; Which change is it?|number
quote no.; quote #; quotation no.; vendor quote|quote number; Which quote is it based on?; number of the quotation|ref
receiving hours; dock hours; delivery hours|receiving hours; When can goods be received?; hours of the dock|hours
confirm to; confirmed with; confirming to|confirmed with; With whom was it agreed?|person
tax code; tax type; tax group|tax code; Which tax applies?; type of tax|=EX,=S1,=NONTAX,=V20,=CA
warehouse; whse; ship from; stock location|warehouse; Which warehouse is it?; place of the stock|=01,=MAIN,=W12,city
commodity; commodity code; class code|commodity; Which kind of goods is it?|code,words
bill of lading; b/l no.; bol #|bill of lading number; number of the waybill|ref
fiscal year; fy; budget year|fiscal year; Which year's budget is it?|=2019,=FY20,=2021,=FY 2018
fund; fund code; funding source|fund; Where does the money come from?|code,=General Fund,=Grant
"""

_WORK = """
work order; work order no.; w.o. #; wo number; work order #|work order number; Which work order is it?; number of the job|code,ref
service date; date of service; svc date; visit date|service date; When was the service?; day of the work|day
service type; type of service; service code; work type|service type; What kind of work is it?; type of the work|=Repair,=Maintenance,=Install,=Inspection,=PM,=Emergency,=Warranty
service call; call no.; call #; ticket no.; ticket #|service call number; number of the ticket|code,ref
technician; tech; service tech; mechanic; assigned to|technician; Who does the work?; name of the technician|person
tech id; technician #; tech no.|technician id; number of the technician|code
time in; arrived; start time; arrival time|time in; When did the work begin?; arrival|time
time out; departed; finish time; departure time|time out; When did the work end?; departure|time
hours worked; labor hours; total hours; hours|hours worked; How many hours did it take?; length of the work|decimal
travel time; drive time; travel hours|travel time; How long was the way?|decimal
scheduled date; schedule date; date scheduled; sched. date|scheduled date; For when is it planned?; planned day|day
scheduled time; time window; appointment|scheduled time; At what hour is it planned?; time of the appointment|hours
completed date; date completed; completed on|completed date; When was it done?; day it was finished|day
equipment; equip. desc.; unit description|equipment; Which machine is it?; name of the machine|words
model no.; model; model #|model; Which model is it?; model number|ref
serial no.; serial #; s/n|serial number; number of the machine|ref
asset no.; asset tag; asset #; unit #|asset number; number of the asset|code
problem; problem reported; complaint; fault|problem; What is broken?; fault reported|words,note
warranty; under warranty; warranty work|warranty; Is it under warranty?|yesno
warranty expires; warranty end; warranty until|end of the warranty; Until when is it under warranty?|day
mileage; odometer; mileage in|mileage; How far has it gone?; reading of the odometer|number
vin; vehicle id no.; vehicle id|vehicle number; vin|vin
building; bldg; building no.|building; Which building is it?|=A,=12,=North Tower,=HQ,=Bldg 4
floor; room; floor/room; suite|floor; Which room is it?|=3rd Floor,=2/214,=Rm 118,=B1
labor rate; rate per hour; hourly rate|labor rate; What does an hour cost?|money
caller; called in by; reported by|caller; Who reported it?|person
crew; crew no.; team|crew; Which team does it?|=Crew 4,=B,=Night,=12
permit no.; permit #; permit|permit number; Which permit is it?|ref
"""

_DELIVERY = """
delivery note; delivery note no.; d/n no.; delivery no.; packing slip #|delivery note number; number of the delivery|code,ref
delivery terms; terms of delivery; del. terms|delivery terms; On what terms is it delivered?|=DAP,=EXW,=Free house,=FCA,=DDP,=CPT
delivery type; del. type; type of delivery|delivery type; What kind of delivery is it?|=Complete,=Partial,=Back Order,=Direct,=Sample
date shipped; despatch date; shipping date; dispatched|date shipped; When did it leave?; day of dispatch|day
carrier; carrier name; forwarder; haulier|carrier; Who carries it?; name of the carrier|company
carrier code; scac; carrier id|carrier code; code of the carrier|=UPSN,=FDEG,=ABFS,=YRCW
tracking no.; tracking #; pro no.; pro #|tracking number; How can it be followed?|code
no. of packages; packages; cartons; total cartons; pkgs|number of packages; How many boxes?|number
gross weight; total weight; weight; wgt.|gross weight; How heavy is it?|measure
net weight; net wt.; weight net|net weight; How heavy without boxes?|measure
pallets; no. of pallets; skids|pallets; How many pallets?|number
driver; driver name; driver's name|driver; Who drives?|person
vehicle no.; truck no.; trailer #; truck #|vehicle number; Which truck is it?|ref
route; route no.; route code; tour|route; Which tour is it?|=R12,=4B,=104,=North
stop; stop no.; stop #|stop number; Which stop of the tour is it?|number
picked by; picker; packed by|picked by; Who packed it?|person
dock; dock door; gate|dock; Which door is it?|=4,=12A,=D7
seal no.; seal #; seal|seal number; number of the seal|code
sales order; sales order no.; so #; s.o. no.|sales order number; Which sales order is it?|code,ref
received by; receiver; goods received by|received by; Who took the goods?|person
received date; date received; rec'd|received date; When was it received?|day
back order; back ordered; b/o|back order; Is anything still to come?|yesno
"""

_QUOTE = """
quote no.; quotation #; quote #; offer no.; proposal no.|quotation number; Which offer is it?; number of the quote|ref,code
quote date; date of quote; quotation date; offer date|quotation date; When was it offered?; day of the offer|day
quote valid; validity; valid for; quote expires|validity; How long is the offer good?|=30 Days,=60 days,=90 Days,day
quoted by; prepared by; estimator|quoted by; Who made the offer?; prepared by|person
quoted to; prepared for; offered to|quoted to; For whom is the offer?; prepared for|company,person
inquiry no.; rfq #; rfq no.; enquiry no.|inquiry number; Which request is answered?|ref
inquiry date; rfq date; date of enquiry|inquiry date; When was the offer asked for?|day
lead time; delivery time; est. lead time|lead time; How long does it take?; time until delivery|=4-6 weeks,=2 Weeks ARO,=10 days,=Stock,=6 to 8 Weeks
minimum order; min. order; min qty; moq|minimum order; How little can be ordered?|number,money
deposit; deposit required; down payment|deposit; How much is paid at first?|percent,money
discount %; discount; trade discount|discount; How much is taken off?|percent
warranty period; guarantee; warranty term|warranty period; How long is the guarantee?|=12 months,=1 Year,=24 Months,=90 days
opportunity; opportunity no.; opp. id|opportunity; number of the opportunity|ref
sales rep; sales representative; sales contact|sales representative; Who sells it?|person
rep phone; sales phone; rep tel.|phone of the representative; How is the seller reached?|phone
rep email; sales email; rep e-mail|email of the representative; Where can the seller be written to?|email
"""

_ACCOUNT = """
invoice no.; invoice #; invoice; inv. #; invoice number|invoice number; Which invoice is it?; number of the invoice|code,coderev,ref
invoice date; inv. date; date of invoice; bill date|invoice date; When was it billed?; day of the invoice|day
due date; payment due; pay by; due by|due date; By when must it be paid?; last day for payment|day
statement date; date of statement; statement as of|statement date; When was the statement made?|day
statement no.; statement #; stmt no.|statement number; number of the statement|code
bill to no.; bill-to #; bill to id|bill-to number; number of the one who pays|code
ship to no.; ship-to #; ship to id|ship-to number; number of the receiver|code
previous balance; balance forward; opening balance; prior balance|previous balance; What was owed before?; balance at the beginning|money
payments received; payments; less payments; credits|payments received; How much has been paid?|money
current charges; new charges; this period|current charges; What is new on the bill?|money
past due; overdue; amount past due; past due amount|past due; How much is late?|money
amount due; total due; balance due; please pay; pay this amount|amount due; How much must be paid?; sum to pay|money
amount enclosed; amount paid; amount remitted|amount enclosed; How much is sent?|blank
credit limit; credit line; limit|credit limit; How much may be owed?|money
finance charge; late charge; late fee; interest|finance charge; What does being late cost?|money
last payment; last payment date; date of last payment|last payment; When was the last payment?|day
last payment amount; last paid; amount of last payment|last payment amount; How much was paid last?|money
days past due; days late; days overdue|days past due; How many days is it late?|number
aging; account status; aging status|aging; state of the account|=Current,=30 Days,=Over 60,=90+
collector; credit contact; a/r contact|credit contact; Who deals with the debts?|person
a/r phone; credit phone; billing inquiries; billing questions|phone for bills; Which number is for billing questions?|phone
lockbox; lock box no.; remit id|lockbox; number of the lockbox|code
bank routing; routing no.; aba no.|routing number; number of the bank|code
bank account; bank acct #; iban|bank account; To which account is it paid?|code,ref
"""

_INSURANCE = """
policy no.; policy #; policy number; policy|policy number; Which policy is it?; number of the policy|ref,code
policy period; policy term; coverage period; policy dates|policy period; Which days are covered?|days
policy type; type of policy; policy form; coverage type|policy type; What kind of policy is it?|=Homeowners,=Auto,=Commercial General Liability,=BOP,=Umbrella,=HO-3
effective date; policy effective; eff. date|effective date; When does the cover begin?|day
named insured; insured; insured name; policyholder|insured; Who is insured?; name of the insured|person,company
insured id; member id; member no.|member id; number of the member|ref
agent; agent name; producer; broker|agent; Who is the agent?; name of the agent|person,company
agent no.; agent code; producer code; agency no.|agent number; code of the agent|code
agent phone; producer phone; agent tel.|phone of the agent; How is the agent reached?|phone
premium; annual premium; total premium; policy premium|premium; What does the cover cost?|money
installment; installment amount; minimum due|installment; How much is one instalment?|money
payment plan; billing plan; bill plan; pay plan|payment plan; How is it paid over the year?|=Monthly,=Quarterly,=Full Pay,=EFT Monthly,=2-Pay,=Annual
deductible; policy deductible; ded.|deductible; How much does the insured pay?|money
limit of liability; coverage limit; liability limit|limit of liability; How much is covered?|money
claim no.; claim #; claim number|claim number; Which claim is it?|ref
date of loss; loss date; d.o.l.|date of loss; When did it happen?|day
adjuster; claim rep; claims adjuster|adjuster; Who handles the claim?|person
mortgagee; loss payee; lienholder|mortgagee; Who holds the mortgage?|company
loan no.; loan #; mortgage loan no.|loan number; number of the loan|code
group no.; group #; group number; plan no.|group number; Which group is it?|code
vehicle; vehicle description; year/make/model|vehicle; Which car is it?|words
property location; insured location; location of risk|property location; Where is the insured house?|address
"""

_UTILITY = """
account holder; customer of record; account name; service for|account holder; Whose account is it?|person,company
service address; service location; premises|service address; Where is it supplied?; place of the supply|address
service period; service from / to; read dates; usage period|service period; Which days are charged?|days
service class; rate class; rate schedule; rate code; tariff|rate schedule; Which tariff applies?|=RS-1,=GS,=Residential,=E-1,=A6,=R1,=Commercial
meter no.; meter #; meter number; meter id|meter number; Which meter is it?|code,ref
meter reading; present reading; current reading; this read|present reading; What does the meter show?|number
previous reading; prior reading; last read|previous reading; What did the meter show before?|number
meter multiplier; multiplier; constant|multiplier; constant of the meter|=1,=10,=40,=1.0
usage; kwh used; total usage; therms used; units used|usage; How much was used?|number,measure
days in period; billing days; no. of days; days|billing days; How many days are charged?|number
next read date; next reading; next meter read|next reading; When is the meter read again?|day
read type; reading type; type of read|type of reading; How was the meter read?|=Actual,=Estimated,=Remote,=Customer
deposit on file; deposit held; security deposit|deposit held; How much is kept as a deposit?|money
bill no.; bill #; bill number|bill number; Which bill is it?|code
bill type; type of bill|bill type; What kind of bill is it?|=Regular,=Final,=Budget,=Corrected
budget amount; budget billing; levelized amount|budget amount; What is paid each month?|money
auto pay; autopay; automatic payment|automatic payment; Is it paid automatically?|yesno,=Enrolled,=Not enrolled
mobile no.; wireless no.; phone number; line|mobile number; Which line is it?|phone
plan; plan name; rate plan; calling plan|plan; Which plan is it?|words,=Unlimited Plus,=Business 500,=Share 10GB
plan charge; monthly charge; access fee|monthly charge; What does the plan cost?|money
data used; data usage; gb used|data used; How much data was used?|measure
minutes used; voice minutes; airtime|minutes used; How long were the calls?|number
circuit id; circuit no.; circuit|circuit; number of the line|ref
contract end; contract term; term ends; commitment ends|contract end; Until when is one bound?|day,=24 months,=12 Months
imei; device id; sim no.|device number; number of the device|code
installation date; activation date; activated|activation date; When was it switched on?|day
surcharges; fees & surcharges; regulatory fees|surcharges; How much are the fees?|money
customer service; support; repair service; inquiries|customer service; Which number helps?|phone
"""


COMMON = concepts_of(_COMMON)
TRADES: dict[str, tuple[Concept, ...]] = {
    "media": concepts_of(_MEDIA),
    "purchase": concepts_of(_PURCHASE),
    "work": concepts_of(_WORK),
    "delivery": concepts_of(_DELIVERY),
    "quote": concepts_of(_QUOTE),
    "account": concepts_of(_ACCOUNT),
    "insurance": concepts_of(_INSURANCE),
    "utility": concepts_of(_UTILITY),
}
EVERY = tuple(dict.fromkeys((*COMMON, *(concept for concepts in TRADES.values() for concept in concepts))))

TITLES = {
    "media": ("CONTRACT", "ORDER", "INVOICE", "Contract", "Broadcast Order", "CONFIRMATION CONTRACT", "Insertion Order",
              "ORDER WORKSHEET", "Official Billing Invoice", "ORDER CONFIRMATION", "Contract Revision"),
    "purchase": ("PURCHASE ORDER", "Purchase Order", "BLANKET PURCHASE ORDER", "Order Confirmation", "ORDER", "REQUISITION"),
    "work": ("WORK ORDER", "Work Order", "Service Ticket", "SERVICE REPORT", "Repair Order", "Job Ticket"),
    "delivery": ("DELIVERY NOTE", "Packing Slip", "Packing List", "DISPATCH NOTE", "Delivery Receipt"),
    "quote": ("QUOTATION", "Quote", "ESTIMATE", "Proposal", "PRICE QUOTATION", "Pro Forma Invoice"),
    "account": ("INVOICE", "Invoice", "STATEMENT OF ACCOUNT", "Statement", "CREDIT MEMO", "TAX INVOICE", "Remittance Advice"),
    "insurance": ("PREMIUM NOTICE", "Policy Declarations", "INSURANCE BILL", "Renewal Notice", "Certificate of Insurance"),
    "utility": ("Utility Bill", "STATEMENT OF SERVICE", "Electric Bill", "Monthly Statement", "WIRELESS BILL", "Account Summary"),
}  # fmt: skip

# Sums below the lines: printed keys and phrasings.
SUMS = {
    concept.printed[0]: concept
    for concept in concepts_of("""
gross amount; gross total; total gross; gross; contracted gross total; actual gross total|gross amount; How much before commission?; gross total|money
less commission; agency commission; agency comm.; commission due|agency commission; How much is the commission?; commission of the agency|money
net amount; net amount due; net due; net total due|net amount due; How much is owed after commission?; net amount; What is to be paid after commission?|money
total spots; spots total; number of spots|total spots; How many spots are there in all?; number of spots|number
subtotal; sub-total; merchandise total; net value; total before tax|subtotal; How much before tax?; sum of the lines|money
sales tax; tax; vat; tax amount; state tax|sales tax; How much tax is charged?; amount of tax|money
freight; shipping; shipping & handling; delivery|freight; What does the shipping cost?; shipping charge|money
discount; less discount; trade discount|discount; How much is taken off?; reduction|money
total; order total; grand total; amount due; total amount; invoice total; total due|total amount; How much is it in all?; grand total; What is the amount to pay?|money
""")
}
BILLED = ("Bill To", "Billing Address", "Sold To", "Invoice To", "Bill to", "Customer", "Mail Invoices To")
SHIPPED = ("Ship To", "Deliver To", "Delivery Address", "Ship to", "Job Site", "Service Location", "Consign To")
REMITTED = ("Send Payment To", "Remit To", "Remit Address", "Remit Payment To", "Make Checks Payable To", "REMIT TO")
FROM = ("Vendor", "Supplier", "From", "Seller", "Contract Agreement Between", "Issued By", "Contractor")
SECTIONS = {
    "media": ("Orders", "Agency", "Advertiser", "Station", "Billing"),
    "purchase": ("Order", "Vendor", "Buyer", "Delivery", "Invoice"),
    "work": ("Job", "Customer", "Equipment", "Site", "Technician"),
    "delivery": ("Shipment", "Consignee", "Carrier", "Shipper"),
    "quote": ("Quotation", "Customer", "Seller", "Project"),
    "account": ("Account", "Customer", "Payment", "Billing"),
    "insurance": ("Policy", "Insured", "Agent", "Billing"),
    "utility": ("Account", "Customer", "Service", "Meter"),
}
