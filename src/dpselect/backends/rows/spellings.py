"""Ways to write a number, a date or a truth value that are not read as one, and what would read them.

For the holder of the data, in a check; a question never looks at them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from dpselect.summaries import CandidateKind

_SIGN = "[+-]?"
_DIGITS = "[0-9]+([.][0-9]*)?"
_COMMAS = "[0-9]{1,3}(,[0-9]{3})+([.][0-9]*)?"
_DOTS = "[0-9]{1,3}([.][0-9]{3})+,[0-9]*|[0-9]{1,3}([.][0-9]{3}){2,}"
_COMMA = "[0-9]+,[0-9]*"
_BLANK, _APOSTROPHE = "[ \u00a0\u202f]", "['\u2019]"
_GAP = f" ?{_BLANK}?"
_DAY, _MONTH = "(0?[1-9]|[12][0-9]|3[01])", "(0?[1-9]|1[0-2])"
_LATE_DAY = "(1[3-9]|2[0-9]|3[01])"
_CURRENCIES = ("$", "€", "£", "¥", "EUR", "USD", "GBP", "CHF", "kr", "zł")


@dataclass(frozen=True, slots=True)
class Spelling:
    """A way to write a value that is not read as it is.

    Attributes:
        called: what it is, in the words of a reader.
        example: one of them.
        pattern: what matches all of them, without the blanks around, in RE2.
        words: of `dpselect.Format`, with which it is read; empty: none helps.
        otherwise: what else helps, or what to know about the words.
    """

    called: str
    example: str
    pattern: str
    words: Mapping[str, Any] = field(default_factory=dict[str, Any])
    otherwise: str = ""

    @property
    def reason(self) -> str:
        """Why the value is not read."""
        return f"{self.called}, as in {self.example}"


THOUSANDS = Spelling("a comma between thousands", "1,234", f"{_SIGN}({_COMMAS})", {"thousands": ","})
DECIMALS = Spelling("a decimal comma", "1,5", f"{_SIGN}{_COMMA}", {"decimal": ","})
UNCLEAR = Spelling("a comma before three digits", "1,234", f"{_SIGN}[1-9][0-9]{{0,2}},[0-9]{{3}}")
"""Either of the two; which one, the other cells of the column say."""


def _currencies() -> Iterator[Spelling]:
    for each in _CURRENCIES:
        sign, strip = each.replace("$", "[$]"), {"strip": each}

        def beside(number: str, sign: str = sign) -> str:
            before = f"{_SIGN}{sign}{_GAP}{_SIGN}({number})"
            return f"{before}|{_SIGN}({number}){_GAP}{sign}"

        yield Spelling("a currency", f"{each}5" if len(each) == 1 else f"5 {each}", beside(_DIGITS), strip)
        with_thousands = f"{each}1,234" if len(each) == 1 else f"1,234 {each}"
        words = {"strip": each, "thousands": ","}
        yield Spelling("a currency and a comma between thousands", with_thousands, beside(_COMMAS), words)
        words = {"strip": each, "thousands": ".", "decimal": ","}
        yield Spelling("a currency and a decimal comma", f"1.234,5 {each}", beside(f"{_DOTS}|{_COMMA}"), words)


MISSING_WORD = Spelling(
    "a word for a missing value",
    "n/a",
    "(?i:n[./]?a[.]?|#n/a|nan|null|nil|none|missing|unknown|not available|undefined)|[-?.]+",
    otherwise="It does not count, like nothing at all.",
)
_NO_DIGIT = Spelling("text without a digit", "many", "[^0-9]+")

_WITH_MINUS = "No option reads them: write -5 in the file, or make a column of such numbers in a frame."

NUMBERS = (
    MISSING_WORD,
    UNCLEAR,
    THOUSANDS,
    Spelling(
        "a dot between thousands and a decimal comma",
        "1.234,5",
        f"{_SIGN}({_DOTS})",
        {"thousands": ".", "decimal": ","},
    ),
    DECIMALS,
    Spelling(
        "a blank between thousands and a decimal comma",
        "1 234,5",
        f"{_SIGN}[0-9]{{1,3}}({_BLANK}[0-9]{{3}})+,[0-9]*",
        {"thousands": " ", "decimal": ","},
    ),
    Spelling(
        "a blank between thousands",
        "1 234",
        f"{_SIGN}[0-9]{{1,3}}({_BLANK}[0-9]{{3}})+([.][0-9]*)?",
        {"thousands": " "},
    ),
    Spelling(
        "an apostrophe between thousands",
        "1'234",
        f"{_SIGN}[0-9]{{1,3}}({_APOSTROPHE}[0-9]{{3}})+([.][0-9]*)?",
        {"thousands": "'"},
    ),
    Spelling(
        "a low line between thousands", "1_234", f"{_SIGN}[0-9]{{1,3}}(_[0-9]{{3}})+([.][0-9]*)?", {"thousands": "_"}
    ),
    Spelling("groups of two digits", "12,34,567", f"{_SIGN}[0-9]{{1,2}}(,[0-9]{{2}})+,[0-9]{{3}}([.][0-9]*)?"),
    *_currencies(),
    Spelling("a percent sign", "5%", f"{_SIGN}({_DIGITS}){_GAP}%", {"strip": "%"}),
    Spelling("a percent sign and a decimal comma", "5,5%", f"{_SIGN}{_COMMA}{_GAP}%", {"strip": "%", "decimal": ","}),
    Spelling("parentheses", "(5) for -5", f"[(][$€£¥]? ?({_DIGITS}|{_COMMAS})[)]", otherwise=_WITH_MINUS),
    Spelling("a minus sign at the end", "5-", f"({_DIGITS}|{_COMMAS})-", otherwise=_WITH_MINUS),
    Spelling("a date", "2026-12-24", f"[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}.*|{_DAY}[/.]{_DAY}[/.][0-9]{{2,4}}.*"),
    Spelling("a unit of measurement", "5 kg", f"{_SIGN}({_DIGITS}) ?[a-zA-Zµ°]+"),
    _NO_DIGIT,
)
"""Instead of a number."""

_AS_NUMBERS = "Give the candidates as numbers: --candidates-as number."
INTEGERS = (
    *NUMBERS,
    Spelling("an exponent", "1e5", f"{_SIGN}({_DIGITS})[eE]{_SIGN}[0-9]+", otherwise=_AS_NUMBERS),
)
"""Instead of a whole number."""


_SERIAL = "In the spreadsheet, give the column the format yyyy-mm-dd, and save it again."
_EITHER_ORDER = "Or --date-format %d/%m/%Y: the table has no date that tells."
_BOTH_ORDERS = "Other dates of the table have the month first, and others the day: write them in one order first."
MONTH_FIRST = Spelling(
    "a date with slashes, the month first",
    "12/24/2026",
    f"{_MONTH}/{_LATE_DAY}/[0-9]{{4}}",
    {"date_format": "%m/%d/%Y"},
)
DAY_FIRST = Spelling(
    "a date with slashes, the day first", "24/12/2026", f"{_LATE_DAY}/{_MONTH}/[0-9]{{4}}", {"date_format": "%d/%m/%Y"}
)
EITHER_FIRST = Spelling(
    "a date with slashes", "3/4/2026", f"{_MONTH}/{_MONTH}/[0-9]{{4}}", {"date_format": "%m/%d/%Y"}, _EITHER_ORDER
)
"""In either order; which one, the other cells of the column say."""
IN_BOTH_ORDERS = Spelling("a date with slashes, in either order", "3/4/2026", "", otherwise=_BOTH_ORDERS)
DATES = (
    MISSING_WORD,
    Spelling(
        "a date with a time",
        "2026-12-24 13:45",
        "[0-9]{4}-[0-9]{2}-[0-9]{2}[ T][0-9]{1,2}:[0-9]{2}.*",
        {"as_date": True},
    ),
    MONTH_FIRST,
    DAY_FIRST,
    EITHER_FIRST,
    Spelling("a date with slashes", "12/24/26", f"{_MONTH}/{_DAY}/[0-9]{{2}}", {"date_format": "%m/%d/%y"}),
    Spelling("a date with slashes", "24/12/26", f"{_DAY}/{_MONTH}/[0-9]{{2}}", {"date_format": "%d/%m/%y"}),
    Spelling("a date with slashes", "2026/12/24", f"[0-9]{{4}}/{_MONTH}/{_DAY}", {"date_format": "%Y/%m/%d"}),
    Spelling("a date with dots", "24.12.2026", f"{_DAY}[.]{_MONTH}[.][0-9]{{4}}", {"date_format": "%d.%m.%Y"}),
    Spelling("a date with dots", "24.12.26", f"{_DAY}[.]{_MONTH}[.][0-9]{{2}}", {"date_format": "%d.%m.%y"}),
    Spelling("a date with the day first", "24-12-2026", f"{_DAY}-{_MONTH}-[0-9]{{4}}", {"date_format": "%d-%m-%Y"}),
    Spelling(
        "a date with a month in letters",
        "24-Dec-2026",
        f"{_DAY}-[A-Za-z]{{3}}-[0-9]{{4}}",
        {"date_format": "%d-%b-%Y"},
    ),
    Spelling(
        "a date with a month in letters",
        "24 Dec 2026",
        f"{_DAY} [A-Za-z]{{3}} [0-9]{{4}}",
        {"date_format": "%d %b %Y"},
    ),
    Spelling("a date without marks", "20261224", "(19|20)[0-9]{2}[01][0-9][0-3][0-9]", {"date_format": "%Y%m%d"}),
    Spelling("a spreadsheet's number for a date", "46380", "[2-7][0-9]{4}([.][0-9]+)?", otherwise=_SERIAL),
)
"""Instead of a date."""

BOOLEANS = (
    Spelling(
        "another word for true or false",
        "yes",
        "(?i:yes|no|y|n|t|f|on|off|0|1|0[.]0|1[.]0)",
        otherwise="Give the candidates as text: --candidates-as text.",
    ),
)
"""Instead of true or false."""

SPELLINGS: Mapping[CandidateKind, tuple[Spelling, ...]] = {
    CandidateKind.NUMBER: NUMBERS,
    CandidateKind.INTEGER: INTEGERS,
    CandidateKind.DATE: DATES,
    CandidateKind.BOOLEAN: BOOLEANS,
    CandidateKind.TEXT: (),
}
"""What may stand in place of each kind of value; the first that matches is meant."""
