"""Texts of statements, and phrasings of questions about them."""

from __future__ import annotations

from engine.synthetic.concepts import concepts_of

_TABLE = """
account number; account no.; a/c number; acct no; account|account number; Which account is it?; number of the account; account no|account
sort code; bank code; branch code; routing no.|sort code; bank code; routing number|code
iban|iban; What is the IBAN?; international account number|iban
branch; branch name|branch; Which branch keeps the account?; branch name|city
account type; type of account; product|account type; What type of account is it?; kind of account|account type
account holder; account name; holder; name of account|account holder; Who holds the account?; Whose account is it?; name of the holder|person
statement no.; statement number; sheet no.; statement #|statement number; number of the statement; sheet number|code
statement date; date of statement; closing date; issued|statement date; When was the statement issued?; date of the statement|day
statement period; period; from - to; period covered|statement period; Which period is covered?; What time does the statement cover?|span
currency; account currency|currency; Which currency is used?|currency
opening balance; balance brought forward; beginning balance; balance b/f; previous statement balance|opening balance; What was the balance at the start?; starting balance; balance at the beginning of the period|sum
closing balance; balance carried forward; ending balance; balance c/f; new statement balance|closing balance; What is the balance at the end?; final balance; balance at the end of the period|sum
total debits; total withdrawals; money out; total paid out; sum of debits|total debits; How much was withdrawn in total?; total money out; sum of all withdrawals|sum
total credits; total deposits; money in; total paid in; sum of credits|total credits; How much was deposited in total?; total money in; sum of all deposits|sum
overdraft limit; arranged overdraft|overdraft limit; How far may the account be overdrawn?; arranged overdraft|sum
card number; card no.; card ending in|card number; Which card is it?; number of the card|account
cardholder; cardmember; name on card|cardholder; Whose card is it?; Who holds the card?|person
previous balance; balance of last statement; last balance|previous balance; What was owed last time?; balance of the last statement|sum
payments received; payments and credits; payments - thank you|payments received; How much was paid since the last statement?; payments and credits|sum
purchases; new purchases; purchases and debits; new transactions|purchases; How much was spent?; total of the purchases|sum
interest charged; finance charge; interest|interest charged; How much interest is charged?; finance charge|sum
new balance; total balance; balance now due|new balance; What is owed now?; balance of this statement|sum
minimum payment; minimum payment due; least amount to pay|minimum payment; How little may be paid?; smallest payment|sum
payment due date; pay by; payment due by; due date|payment due date; When must it be paid?; By when is payment due?; due date|day
credit limit; credit line; spending limit|credit limit; What is the credit limit?; How much may be spent at most?|sum
available credit; credit available; left to spend|available credit; How much credit is left?; credit still available|sum
amount enclosed; amount paid; enclosed payment|amount enclosed; How much is enclosed?; payment enclosed|sum
customer number; customer no.; customer id; client no.|customer number; What is the number of the customer?; customer id|code
customer name; name of customer; bill to; consumer|customer name; Who is the customer?; Who is billed?|person
bill number; invoice number; bill no.; invoice no.|bill number; number of the bill; What is the invoice number?|code
bill date; invoice date; date of bill; billing date|bill date; When was the bill issued?; date of the bill|day
billing period; supply period; bill for; service period|billing period; Which months are billed?; For which time is the bill?|span
meter number; meter no.; meter serial no.; meter id|meter number; Which meter is it?; number of the meter|code
service address; supply address; premises; point of delivery|service address; Where is it supplied?; address of the supply|address
tariff; rate plan; rate schedule; price plan|tariff; Which tariff applies?; price plan; rate plan|plan
next reading date; next meter reading; next reading|next reading date; When is the meter read next?|day
amount due; total amount due; please pay; amount payable; total due|amount due; How much must be paid?; What is the amount to pay?; total due|sum
current charges; new charges; charges this period; total current charges|current charges; How much is charged for this period?; charges of this bill|sum
balance brought forward; unpaid balance; arrears; past due amount|unpaid balance; How much is left unpaid from before?; arrears|sum
telephone number; phone number; service number; mobile no.|telephone number; Which number is billed?; number of the line|phone
total calls; number of calls; calls made|number of calls; How many calls were made?; total calls|count
total duration; total time; total minutes|total duration; How long were all calls?; total time|duration
employee; employee name; name; name of employee|employee; Who is paid?; name of the employee; Whose pay slip is it?|person
employee no.; employee number; staff no.; payroll no.; personnel no.|employee number; payroll number; staff number|code
employer; company; company name|employer; Who pays the salary?; Which company employs?|company
department; dept.; cost centre; division|department; In which department?; cost centre|phrase
job title; position; designation; occupation|job title; What is the employee's position?; occupation|phrase
pay period; period; pay month; salary month|pay period; Which month is paid?; For which period is the pay?|span
pay date; payment date; date paid; credited on|pay date; When was it paid?; On what date is the salary paid?|day
tax code; tax class; tax status|tax code; tax class; Which tax code applies?|code
social security no.; ni number; ssn; insurance no.|social security number; insurance number|code
bank account; paid to account; account credited|bank account; Into which account is it paid?; account credited|account
payment method; paid by; method of payment|payment method; How is it paid?|method
hours worked; total hours; hours; days worked|hours worked; How many hours were worked?|count
hourly rate; rate of pay; pay rate; basic rate|hourly rate; What is paid an hour?; rate of pay|sum
annual salary; salary per annum; yearly salary|annual salary; What is the salary of a year?|sum
gross pay; total earnings; gross salary; total gross pay; total payments|gross pay; How much was earned before deductions?; total earnings; gross salary|sum
total deductions; deductions total; less deductions|total deductions; How much was deducted in all?; sum of the deductions|sum
net pay; take home pay; net salary; amount paid out; net payment|net pay; How much is paid out?; take home pay; net salary|sum
taxable gross; taxable pay; taxable income|taxable pay; How much of the pay is taxable?|sum
leave balance; leave days left; holiday balance|leave balance; How many days of leave are left?|count
"""

# By the first printed variant.
CONCEPTS = {concept.printed[0]: concept for concept in concepts_of(_TABLE)}
