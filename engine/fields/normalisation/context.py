"""What is known about how a paper prints values: its locale, and conventions that a person has picked.

| convention | values | decides |
|---|---|---|
| `decimal` | `.` `,` | 1.250 and 1,250 |
| `date_order` | `DMY` `MDY` `YMD` | 03/04/26 |
| `two_digit_years` | first of the hundred years, as `1940` | 03.04.55 |
| `calendar` | `gregorian` `buddhist` `reiwa` `heisei` `showa` | years from 2400, and years of two digits before 年 |
| `clock` | `24` | 2:30 without am or pm |
| `credit_sign` | `-` `+` | 45.00 CR and 45.00 DR |
| `leading_dash` | `0` `-` | -.50 CHF |
| `currency:SIGN` | ISO 4217 code | a sign that several currencies share, as `currency:$` |
| `phone_country` | ISO 3166-1 alpha-2 code | phone numbers without a country |
| `country:NAME` | ISO 3166-1 alpha-2 code | a name that several countries share |
| `choice:TEXT` | a choice's value | a printed text that resembles choices |
| `tick:MARK` | `yes` `no` | a mark that ticks in some countries and crosses out in others |
| `month:NAME` | `1` to `12` | a name that is another month in another language, as listopad |
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from engine.errors import Refused
from engine.fields.normalisation import locales

DECIMAL = "decimal"
DATE_ORDER = "date_order"
TWO_DIGIT_YEARS = "two_digit_years"
CALENDAR = "calendar"
CLOCK = "clock"
CREDIT_SIGN = "credit_sign"
LEADING_DASH = "leading_dash"
PHONE_COUNTRY = "phone_country"
CURRENCY = "currency:"  # with the sign behind it
COUNTRY = "country:"  # with the folded name behind it
CHOICE = "choice:"  # with the folded text behind it
TICK = "tick:"  # with the mark behind it
MONTH = "month:"  # with the folded name behind it


@dataclass(frozen=True, kw_only=True, slots=True)
class LocaleContext:
    """Locale and remembered conventions.

    What the text itself decides goes before a convention, and that before the locale.

    Args:
        locale: BCP-47 tag, as "de-CH", or None. A language without a region, as "en", decides only what all of its
            regions agree on.
        conventions: remembered conventions of the project or issuer; keys and values as in the module's table.
            Unknown ones are ignored.

    Raises:
        Refused: the locale is unknown to CLDR.
    """

    locale: str | None = None
    conventions: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.locale is not None and not locales.is_known(self.locale):
            raise Refused(f'The locale "{self.locale}" is not known. Name a language and a region, such as "de-CH".')

    def remember(self, convention: Mapping[str, str]) -> LocaleContext:
        """Return this context with the convention of a picked reading added."""
        return replace(self, conventions={**self.conventions, **convention})

    @property
    def language(self) -> str | None:
        """Language of the locale, as "de"."""
        return locales.language_of(self.locale) if self.locale else None

    @property
    def region(self) -> str | None:
        """Region that the locale names, as "CH"; None where it names a language alone."""
        return locales.region_of(self.locale) if self.locale else None
