"""Printed texts as typed values: traps of the libraries, conventions, ambiguity, and what must hold of any text."""

import datetime
import os
import subprocess
import sys
from decimal import Decimal
from random import Random

import pytest
from babel.dates import format_date, format_time
from babel.numbers import format_currency, format_decimal

from engine.errors import Refused
from engine.fields.normalisation import LocaleContext, Normalised, normalise
from engine.fields.types import Choice, FieldOptions, FieldType
from tests.support.repository import ROOT

LOCALES = ("en-US", "en-GB", "de-DE", "de-CH", "fr-FR", "es-ES", "pt-BR", "ar-EG", "hi-IN", "ja-JP")
REGIONS = (
    "en_CA en_AU en_IN de_AT fr_CA fr_CH es_MX pt_PT it_IT nl_NL zh_CN zh_TW ko_KR ar_SA ar_MA pl_PL sv_SE da_DK nb_NO "
    "fi_FI cs_CZ sk_SK hu_HU ro_RO hr_HR sl_SI bg_BG sr_RS ru_RU uk_UA el_GR tr_TR he_IL vi_VN id_ID th_TH lt_LT lv_LV "
    "et_EE"
)
TITLES = FieldOptions(choices=(Choice("Mr", ("Herr",)), Choice("Mrs", ("Frau",)), Choice("A+"), Choice("A")))


def read(
    kind: str, text: str, locale: str | None = None, options: FieldOptions = TITLES, remembered=None, **conventions: str
):
    context = LocaleContext(locale=locale, conventions={**(remembered or {}), **conventions})
    return normalise(text, FieldType(kind), options, context)


def values(result: Normalised) -> list[object]:
    return [reading.value for reading in result.readings]


@pytest.mark.parametrize(
    ("text", "locale", "value"),
    [
        ("3.350", "de-DE", "3350"),
        ("3.350", "en-US", "3.35"),
        ("25.00", "de-DE", "25"),  # never 2500
        ("25,00", "en-US", "25"),
        ("1.234,56", "en-US", "1234.56"),
        ("(45.00)", None, "-45"),
        ("45.00-", None, "-45"),
        ("−45,5", None, "-45.5"),
        ("△1,250", "ja-JP", "-1250"),
        ("1’234.50", None, "1234.5"),
        ("1\u202f234,50", None, "1234.5"),
        ("1,23,456.00", None, "123456"),
        ("12,34,567", None, "1234567"),
        ("١٬٢٣٤٫٥٠", None, "1234.5"),
        ("१,२३,४५६.५", None, "123456.5"),
        ("１，２５０", "ja-JP", "1250"),
        ("0.125", None, "0.125"),
        ("12.5 %", None, "12.5"),
        ("5,–", None, "5"),
        ("1.250,–", None, "1250"),
    ],
)
def test_a_number_is_read(text: str, locale: str | None, value: str) -> None:
    assert read("number", text, locale).value == value


def test_one_group_of_three_digits_is_ambiguous_until_picked() -> None:
    result = read("number", "1.250")
    assert result.value is None
    assert values(result) == ["1250", "1.25"]
    assert [dict(reading.convention) for reading in result.readings] == [{"decimal": ","}, {"decimal": "."}]
    assert read("number", "3.350", decimal=",").value == "3350"
    assert read("number", "25.00", decimal=",").value == "25", "two decimal signs from one issuer"


@pytest.mark.parametrize("locale", ["es", "fr-FR", "de-CH"])
def test_a_locale_decides_only_by_signs_of_its_own(locale: str) -> None:
    text = {"es": "1.250", "fr-FR": "1.250", "de-CH": "1,250"}[locale]
    assert values(read("number", text, locale)) == ["1250", "1.25"]


@pytest.mark.parametrize("text", ["to", "12²", "1.250.00", "1,234,56", "--5", "(5)-", "1٢3", "12 kg", "", "½"])
def test_what_is_no_number_says_so(text: str) -> None:
    result = read("number", text)
    assert result.value is None
    assert not result.readings
    assert result.reason.endswith(".")


def test_letters_for_digits_are_offered_not_stored() -> None:
    result = read("number", "1O0")
    assert result.value is None
    assert values(result) == ["100"]
    assert not result.readings[0].convention


def test_a_whole_number_rules_fractions_out() -> None:
    assert read("integer", "1.250").value == 1250
    assert read("integer", "1.000").value is None
    assert values(read("integer", "1.250", "en-US")) == [1250]
    assert read("integer", "1.250", "en-US", decimal=",").value == 1250
    assert read("integer", "12.5").reason


def test_credit_and_debit_are_ambiguous_until_picked() -> None:
    assert values(read("number", "45.00 CR")) == ["-45", "45"]
    assert read("number", "45.00 CR", credit_sign="-").value == "-45"
    assert read("number", "45.00 DR", credit_sign="-").value == "45"
    assert read("number", "45.00 DR", credit_sign="+").value == "-45"


@pytest.mark.parametrize(
    ("text", "locale", "amount", "currency"),
    [
        ("1.250,00 €", None, "1250.00", "EUR"),
        ("$1,250.00", "en-US", "1250.00", "USD"),
        ("$1,250.00", "en-CA", "1250.00", "CAD"),
        ("12,50 $", "de-DE", "12.50", "USD"),
        ("¥1,250", "ja-JP", "1250", "JPY"),
        ("1,250円", None, "1250", "JPY"),
        ("(€45.00)", None, "-45.00", "EUR"),
        ("€ 45,00-", None, "-45.00", "EUR"),
        ("-€45.00", None, "-45.00", "EUR"),
        ("$ 5.00 USD", None, "5.00", "USD"),
        ("Rs. 1,23,456/-", "hi-IN", "123456.00", "INR"),
        ("12€50", "fr-FR", "12.50", "EUR"),
        ("CHF 1’250.–", None, "1250.00", "CHF"),
        ("12,50 US-Dollar", "de-DE", "12.50", "USD"),
        ("0.0345 EUR", None, "0.0345", "EUR"),
        ("1.250,00", "de-DE", "1250.00", None),
        ("£5", None, "5.00", "GBP"),
        ("1,250.00 US Dollars", "en-US", "1250.00", "USD"),
        ("¥1,250-", "ja-JP", "1250", "JPY"),  # the dash closes the amount off
        ("金1,250円也", None, "1250", "JPY"),
        ("3万5千円", None, "35000", "JPY"),
        ("₹1.5 lakh", None, "150000.00", "INR"),
        ("2,5 Mio. €", None, "2500000.00", "EUR"),
    ],
)
def test_an_amount_has_its_currency(text: str, locale: str | None, amount: str, currency: str | None) -> None:
    assert read("currency", text, locale).value == {"amount": amount, "currency": currency}


def test_a_shared_sign_is_ambiguous_until_the_currency_is_known() -> None:
    result = read("currency", "$5.00")
    assert values(result)[0] == {"amount": "5.00", "currency": "USD"}
    assert dict(result.readings[0].convention) == {"currency:$": "USD"}
    assert read("currency", "$5.00", "en").readings, "English is written with many dollars"
    assert read("currency", "$5.00", options=FieldOptions(currency="AUD")).value == {
        "amount": "5.00",
        "currency": "AUD",
    }
    assert read("currency", "5.00", options=FieldOptions(currency="AUD")).value == {"amount": "5.00", "currency": "AUD"}
    assert read("currency", "5.00 € USD").reason, "two currencies"


def test_thousandths_of_a_cent_are_never_decided_by_a_locale_alone() -> None:
    assert len(read("currency", "1,250 €", "de-DE").readings) == 2
    assert read("currency", "1,250 €", "de-DE", decimal=",").value == {"amount": "1.25", "currency": "EUR"}
    assert read("currency", "1.250 €", "de-DE").value == {"amount": "1250.00", "currency": "EUR"}


@pytest.mark.parametrize(
    ("text", "locale", "value"),
    [
        ("03/04/26", "en-GB", "2026-04-03"),
        ("03/04/26", "en-US", "2026-03-04"),
        ("31/12/2026", "en-US", "2026-12-31"),
        ("03.04.2026", None, "2026-04-03"),
        ("2026-04-03T14:30:00Z", None, "2026-04-03"),
        ("03.04.2026 14:30 Uhr", None, "2026-04-03"),
        ("20260403", None, "2026-04-03"),
        ("3. April 2026", None, "2026-04-03"),
        ("Freitag, den 3. April 2026", None, "2026-04-03"),
        ("April 3rd, 2026", None, "2026-04-03"),
        ("1er avril 2026", None, "2026-04-01"),
        ("3 de abril de 2026", None, "2026-04-03"),
        ("mar 3 mars 2026", "fr-FR", "2026-03-03"),
        ("12. Mär. 26", "de-DE", "2026-03-12"),
        ("٣ أبريل ٢٠٢٦", None, "2026-04-03"),
        ("3 अप्रैल 2026", None, "2026-04-03"),
        ("2026年4月3日(金)", None, "2026-04-03"),
        ("令和８年４月３日", None, "2026-04-03"),
        ("令和元年5月1日", None, "2019-05-01"),
        ("R8.4.3", "ja-JP", "2026-04-03"),
        ("昭和64年1月7日", None, "1989-01-07"),
        ("Mittwoch, 01.04.2026", "de-DE", "2026-04-01"),
        ("الجمعة ٠٣/٠٤/٢٠٢٦", "ar-EG", "2026-04-03"),
        ("26. 4. 3.", "ko-KR", "2026-04-03"),
        ("二〇二六年十二月三十一日", None, "2026-12-31"),
        ("3 เมษายน พ.ศ. 2569", None, "2026-04-03"),
        ("3 listopada 2026", "pl-PL", "2026-11-03"),
        ("3.IV.2026", None, "2026-04-03"),
    ],
)
def test_a_date_is_read(text: str, locale: str | None, value: str) -> None:
    assert read("date", text, locale).value == value


@pytest.mark.parametrize(
    ("text", "locale", "readings"),
    [
        ("03/04/26", None, ["2026-04-03", "2026-03-04", "2003-04-26"]),
        ("03/04/2026", "en", ["2026-04-03", "2026-03-04"]),
        ("03.04.2026", "en-US", ["2026-04-03", "2026-03-04"]),
        ("03.04.55", "de-DE", ["1955-04-03", "2055-04-03"]),
        ("3 เมษายน 2569", "th-TH", ["2026-04-03", "2569-04-03"]),
        ("31/12/26", "en-US", ["2026-12-31", "2031-12-26"]),  # not as the locale has it: what else could it be
        ("4/3/2O26", "en-US", ["2026-04-03"]),
        ("26年4月3日", "ja-JP", ["2026-04-03", "2044-04-03", "2014-04-03", "1951-04-03"]),
        ("3 listopada 2026", None, ["2026-10-03", "2026-11-03"]),
    ],
)
def test_an_ambiguous_date_lists_its_readings(text: str, locale: str | None, readings: list[str]) -> None:
    result = read("date", text, locale)
    assert result.value is None
    assert values(result) == readings


@pytest.mark.parametrize(
    "text",
    [
        "to",
        "12",
        "now",
        "heute",
        "April 2026",
        "3 April",
        "30.02.2026",
        "平成1年1月1日",
        "15/09/1447",
        "3-5 April 2026",
    ],
)
def test_what_is_no_whole_date_says_so(text: str) -> None:
    result = read("date", text)
    assert result.value is None
    assert not result.readings
    assert result.reason.endswith(".")


@pytest.mark.parametrize(
    ("text", "locale", "value"),
    [
        ("14h30", None, "14:30:00"),
        ("2:30 pm", None, "14:30:00"),
        ("2:30 p. m.", "es-ES", "14:30:00"),
        ("14:30 Uhr", None, "14:30:00"),
        ("14.30", None, "14:30:00"),
        ("12:00 am", None, "00:00:00"),
        ("午後2時30分", None, "14:30:00"),
        ("٢:٣٠ م", None, "14:30:00"),
        ("2:30", "de-DE", "02:30:00"),
        ("14:30:05+02:00", None, "14:30:05+02:00"),
    ],
)
def test_a_time_is_read(text: str, locale: str | None, value: str) -> None:
    assert read("time", text, locale).value == value


def test_an_hour_without_its_half_is_ambiguous_where_hours_run_to_twelve() -> None:
    for locale in (None, "en-US"):
        assert values(read("time", "2:30", locale)) == ["02:30:00", "14:30:00"]
    assert read("time", "2:30", "en-US", clock="24").value == "02:30:00"
    assert read("time", "25:00").reason
    assert read("time", "to").reason


def test_ticks_and_words_say_yes_and_no() -> None:
    for text in ("X", "✓", "☒", "[x]", "yes", "ja", "oui", "Sí", "はい", "نعم", "हाँ"):
        assert read("boolean", text).value is True, text
    for text in ("☐", "[ ]", "no", "nein", "non", "NÃO", "いいえ", "لا", "नहीं"):
        assert read("boolean", text).value is False, text
    assert read("boolean", "☒ Yes ☐ No").value is True
    assert read("boolean", "☐ Yes ☒ No").value is False
    assert read("boolean", "☐ Yes").value is False
    assert read("boolean", "O", "fr-FR").value is True
    assert read("boolean", "O").reason, "a circle, or an initial"
    assert read("boolean", "×", "de-DE").value is True
    assert values(read("boolean", "×", "ja-JP")) == [True, False]
    assert read("boolean", "×", "ja-JP", remembered={"tick:×": "no"}).value is False
    assert read("boolean", "perhaps").reason


def test_a_choice_is_found_by_its_names_and_by_its_box() -> None:
    assert read("choice", "HERR.").value == "Mr"
    assert read("choice", "A+").value == "A+"
    assert read("choice", "☒ Mr ☐ Mrs").value == "Mr"
    assert read("choice", "Mr ☐ Mrs ☒").value == "Mrs"
    alike = read("choice", "Fraue")
    assert (alike.value, values(alike)) == (None, ["Mrs"])
    assert read("choice", "Fraue", remembered=alike.readings[0].convention).value == "Mrs"
    assert read("choice", "Dr").reason


def test_a_phone_number_has_its_country() -> None:
    assert read("phone", "+49 (0)30 12345678").value == "+493012345678"
    assert read("phone", "Tel.: 030/12345678", "de-DE").value == "+493012345678"
    assert read("phone", "٠١٠ ١٢٣٤ ٥٦٧٨", "ar-EG").value == "+201012345678"
    assert read("phone", "020 7946 0018", options=FieldOptions(country="GB")).value == "+442079460018"
    without = read("phone", "030 12345678")
    assert without.value is None
    assert "+493012345678" in values(without)
    assert read("phone", "030 12345678", phone_country="DE").value == "+493012345678"
    for text in ("12.03.2026", "12345", "to"):
        assert read("phone", text, "de-DE").reason, text


def test_a_country_is_read_in_many_languages() -> None:
    for text in ("DE", "DEU", "Germany", "Allemagne", "ドイツ", "ألمانيا", "जर्मनी", "ALEMANHA", "Germany (DE)"):
        assert read("country", text).value == "DE", text
    assert read("country", "UK").value == "GB"
    assert read("country", "U.S.A.").value == "US"
    assert read("country", "to").reason, "a word, not Tonga"
    assert values(read("country", "Korea")) == ["KR", "KP"]
    assert read("country", "Korea", remembered={"country:korea": "KR"}).value == "KR"


def test_texts_keep_what_is_printed() -> None:
    assert read("string", " Miller \n& Sons ").value == "Miller & Sons"
    assert read("address", "Main Street 5 \n\n 10115  Berlin").value == "Main Street 5\n10115 Berlin"
    for kind in ("signature", "region", "table"):
        assert read(kind, "x").reason


def test_an_unknown_locale_is_refused() -> None:
    with pytest.raises(Refused, match="xx-YY"):
        LocaleContext(locale="xx-YY")


AMBIGUOUS = (
    ("number", "1.250"), ("number", "45.00 CR"), ("integer", "1,000"), ("currency", "$1.250"), ("currency", "kr 5 CR"),
    ("date", "03/04/26"), ("date", "03.04.55"), ("date", "03/04/55"), ("date", "030426"), ("date", "26年4月3日"),
    ("date", "3 listopada 2026"), ("date", "03/04/2569"), ("boolean", "×"), ("boolean", "✗"),
    ("currency", "-.50 CHF"), ("phone", "030 12345678"),
    ("country", "Congo"), ("choice", "Fraue"),
)  # fmt: skip


@pytest.mark.parametrize(("kind", "text"), AMBIGUOUS)
def test_a_picked_reading_decides_the_same_text(kind: str, text: str) -> None:
    context = LocaleContext()
    result = normalise(text, FieldType(kind), TITLES, context)
    assert result.readings
    for reading in result.readings:
        again = normalise(text, FieldType(kind), TITLES, context.remember(reading.convention))
        assert again.value == reading.value, reading


@pytest.mark.parametrize("locale", LOCALES)
def test_formatted_numbers_and_dates_come_back(locale: str) -> None:
    draw, tag = Random(53), locale.replace("-", "_")
    for _ in range(150):
        number = Decimal(draw.randint(-(10**9), 10**9)) / Decimal(10 ** draw.randint(0, 3))
        printed = format_decimal(number, locale=tag, numbering_system=draw.choice(("default", "latn")))
        assert Decimal(str(read("number", printed, locale).value)) == number, printed
        day = datetime.date(1970, 1, 1) + datetime.timedelta(days=draw.randrange(25_000))
        for style in ("medium", "long", "full"):
            printed = format_date(day, style, locale=tag)
            assert read("date", printed, locale).value == day.isoformat(), printed


def test_what_cldr_formats_is_never_read_wrong() -> None:
    printed: list[tuple[str, str, object]]
    wrong, unread = [], 0
    for tag in REGIONS.split():
        context = LocaleContext(locale=tag.replace("_", "-"))
        printed = [
            ("number", format_decimal(Decimal(number), locale=tag), number)
            for number in ("1250", "-1234567.891", "0.125")
        ]
        printed += [
            ("date", format_date(day, style, locale=tag), day.isoformat())
            for day in (datetime.date(2026, 4, 3), datetime.date(1999, 12, 31))
            for style in ("short", "medium", "full")
        ]
        printed += [("time", format_time(datetime.time(14, 30), "short", locale=tag), "14:30:00")]
        printed += [
            ("currency", format_currency(Decimal("1250.5"), code, locale=tag), {"amount": "1250.50", "currency": code})
            for code in ("USD", "EUR", "GBP")
        ]
        for kind, text, value in printed:
            result = normalise(text, FieldType(kind), TITLES, context)
            unread += result.value is None
            if result.value not in (None, value):
                wrong.append((tag, text, result.value))
    assert not wrong
    assert unread <= 3


def test_no_text_raises_and_each_pick_decides() -> None:
    draw = Random(53)
    parts = [
        *"0123456789.,-/: '()+%$€£¥xXOo\n\t\x00",
        "CR",
        "April",
        "年",
        "月",
        "日",
        "令和",
        "元",
        "十",
        "pm",
        "Uhr",
        "٣",
        "१",
        "４",
    ]
    parts += [
        "\ud800",
        "\u200f",
        "̈",
        "🗹",
        "²",
        "½",
        "٫",
        "٬",
        "[x]",
        "☐",
        "+49",
        "99999999999",
        "พ.ศ.",
        "listopad",
        "de",
    ]
    texts = ["".join(draw.choices(parts, k=draw.randint(0, 12))) for _ in range(400)]
    texts += ["".join(chr(draw.randrange(0x110000)) for _ in range(6)) for _ in range(150)] + [
        "9" * 600,
        "(" * 400,
        "1," * 240,
    ]
    for number, text in enumerate(texts):
        context = LocaleContext(locale=(None, *LOCALES)[number % 11])
        for kind in FieldType:
            result = normalise(text, kind, TITLES, context)
            kinds = [result.value is not None, bool(result.readings), bool(result.reason)]
            assert kinds.count(True) == 1, (kind, ascii(text), result)
            for reading in result.readings:
                again = normalise(text, kind, TITLES, context.remember(reading.convention))
                assert again.value == reading.value or not reading.convention, (kind, ascii(text), reading)


_ELSEWHERE = """
import json, sys
from engine.fields.normalisation import LocaleContext, normalise
from engine.fields.types import FieldType
texts = [
    ("date", "03/04/26"), ("date", "03.04.55"), ("date", "to"), ("number", "1.250"), ("currency", "$5"),
    ("time", "2:30"),
]
print(json.dumps([normalise(text, FieldType(kind)).to_json() for kind, text in texts]))
print([name for name in ("babel", "phonenumbers", "pycountry") if name in sys.modules], file=sys.stderr)
"""


def test_results_do_not_depend_on_the_servers_locale_and_zone() -> None:
    results = set()
    for language, zone in (("C", "UTC"), ("de_DE.UTF-8", "Pacific/Kiritimati")):
        environment = {**os.environ, "LC_ALL": language, "LANG": language, "TZ": zone, "PYTHONPATH": str(ROOT)}
        process = subprocess.run(
            [sys.executable, "-c", _ELSEWHERE], env=environment, capture_output=True, text=True, check=True
        )
        results.add(process.stdout)
        assert "phonenumbers" not in process.stderr, "libraries are imported with the first value that needs them"
    assert len(results) == 1
