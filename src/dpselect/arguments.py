"""Each type of argument of a question, once: how it is written as text, how it is checked, and its one explanation.

A question declares its arguments as annotated fields, of which its method, command, form, plan and documents follow.
Loads nothing that answers. Lists and conditions, which need the table's columns, are read in `dpselect.public`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields, replace
from datetime import date
from decimal import Decimal, InvalidOperation
from enum import StrEnum
from fractions import Fraction
from functools import cache, partial
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

from dpselect.checks import boolean, positive_count, positive_epsilon
from dpselect.errors import InvalidParameterError, typed

REQUIRED = object()  # in place of a default

WrittenAs = str | tuple[str, ...] | type[StrEnum]
"""How a value is written: as "text", "any text" (it may begin with a dash), a "whole" number, a "number", an "exact"
number, nothing (a "flag"; "json" is the flag of that name), two numbers ("bounds"), two dates as text ("ends"),
"numbers or dates", several "levels", public "prices", "dates", "values" of the column, a "list" of candidates, or
conditions on rows ("where"). A tuple or an enumeration: as one of these words."""

Exact = float | Fraction  # a number that is taken exactly: a float stands for the shortest decimal that denotes it


class CandidateKind(StrEnum):
    """The kind of the candidates; it determines how the values of a column are compared with them."""

    INTEGER = "whole numbers"
    NUMBER = "numbers"
    TEXT = "text"
    DATE = "dates"
    BOOLEAN = "booleans"


@dataclass(frozen=True, slots=True)
class Argument:
    """One public argument."""

    kind: WrittenAs
    help: str = ""  # with other arguments as the command line writes them: ``--step``
    name: str = ""  # the same in Python, in plans, in certificates; with dashes on the command line
    default: object = REQUIRED
    check: Callable[[Any, str], Any] | None = None  # makes of a value the one that is meant, or refuses it
    is_list: bool = False  # Python may leave it out, to be refused with a hint of its own
    may_be_one: bool = False  # a public list of one leaves something to ask
    type: str = ""  # as a stub writes it

    @property
    def names_members(self) -> bool:
        """Whether it is a public list, which may also be a range or, but for forms, a file."""
        return self.kind in ("list", "values", "prices", "dates")


def words_of(kind: WrittenAs) -> int:
    """How many words a value is written in."""
    return 0 if kind in ("flag", "json") else 2 if kind in ("bounds", "ends", "numbers or dates") else 1


def read(kind: WrittenAs, name: str, *words: str) -> Any:
    """The value that is written in these public words, which errors quote. Lists and conditions remain texts."""
    if not isinstance(kind, str):
        values = words_for(kind)
        if words[0] not in values:
            raise InvalidParameterError(name, typed(words[0]), f"one of {', '.join(values)}")
        return values[words[0]]
    if kind in ("flag", "json"):
        return True
    if kind == "bounds":
        return tuple(read("exact", name, each) for each in words)
    if kind == "numbers or dates":
        others = [each for each in words if not DATE.fullmatch(each)]
        try:
            return read("bounds", name, *words) if others else words
        except InvalidParameterError as error:
            expected = "two numbers such as 0 120, or two dates such as 2026-12-01 2026-12-31"
            wrong = typed(others[0]) if len(others) == 1 else error.got  # beside a date it has to be another
            raise InvalidParameterError(name, wrong, expected) from None
    if kind in _NUMBERS:
        convert, expected = _NUMBERS[kind]
        try:
            return convert(words[0])
        except (ValueError, InvalidOperation):
            raise InvalidParameterError(name, typed(words[0]), expected) from None
    return words if kind == "ends" else words[0]


DATE = re.compile("[0-9]{4}-[0-9]{2}-[0-9]{2}")


def words_for(kind: tuple[str, ...] | type[StrEnum]) -> dict[str, str]:
    """What can be chosen, by the word for it."""
    if isinstance(kind, tuple):
        return {each: each for each in kind}
    return {each.name.lower().replace("_", "-"): each for each in kind}


def _whole(text: str) -> int:
    """The whole number that is written, also as 1e9."""
    number = Decimal(text)
    if not (number.is_finite() and number.adjusted() < 40 and number == number.to_integral_value()):
        raise ValueError
    return int(number)


_FRACTION = re.compile("[+-]?[0-9]{1,40}/(?=0*[1-9])[0-9]{1,40}")


def decimal(text: str) -> float | Fraction:
    """The number that is written, or a `ValueError`: as a double if one is written like it, otherwise as a fraction."""
    if _FRACTION.fullmatch(text):
        return Fraction(text)
    nearest = _double(text)
    if not math.isfinite(nearest):
        return nearest  # refused by the question
    number = Decimal(text)
    if number and not (number.adjusted() > -400 and len(text) <= 400):
        raise ValueError
    exact = Fraction(number)
    is_meant = nearest == exact if abs(exact) >= 2**52 else Fraction(repr(nearest)) == exact
    return nearest if is_meant else exact


def _double(text: str) -> float:
    """A decimal. A fraction would be rounded, and the cost of an answer has to be exactly what was typed."""
    if "_" in text:
        raise ValueError
    return float(text)


_NUMBERS: dict[str, tuple[Callable[[str], Any], str]] = {
    "whole": (_whole, "a whole number"),
    "number": (_double, "a decimal number such as 0.5"),
    "exact": (decimal, "a number such as 5, 0.25 or 1/3"),
    "levels": (
        lambda text: [_double(each) for each in text.split(",")],
        "numbers separated by commas, such as 0.25,0.5",
    ),
}


@cache
def arguments_of(question: type[Any]) -> tuple[Argument, ...]:
    """The arguments that a question declares, in their order.

    By an `Argument`, or by its kind and its help alone; without its help, the docstring explains it.
    """
    hints, found = get_type_hints(question, include_extras=True), list[Argument]()
    explained = explanations(question.__doc__ or "")
    for each in fields(question):
        if get_origin(hints[each.name]) is not Annotated:
            continue  # what a table tells
        type_, kind, *help = get_args(hints[each.name])
        said = kind if isinstance(kind, Argument) else Argument(kind, *help or [explained.get(each.name, "")])
        written = type_.__name__ if isinstance(type_, type) else _MODULES.sub("", str(type_))
        default = REQUIRED if each.default is MISSING or said.is_list else each.default
        check = boolean if said.kind == "flag" else said.check
        found.append(replace(said, name=each.name, default=default, check=check, type=written))
    return tuple(found)


def explanations(text: str) -> dict[str, str]:
    """What is said of each name by lines such as ``name: text``, which go on in lines that are indented further."""
    found = re.findall(r"^( *)(\w+): (.*(?:\n\1 +\S.*)*)", text, re.MULTILINE)
    return {name: " ".join(said.split()) for _, name, said in found}


_MODULES = re.compile(r"\b(typing|collections\.abc|fractions|datetime)\.")


_LIST = "1..100, red,green,blue, @file or @codes.csv:column"
_DATES = "a list 2026-12-01,2026-12-08, @file with one per line, or @codes.csv:column"
_PRICES = "a range 1..100, a list 4.99,9.99, @file with one per line, or @codes.csv:column"
_LEVELS = ", separated by commas"
IN_PYTHON = {  # how lists are typed in a shell, and what Python takes instead
    _LIST: "a range, a list, an array or a frame of one column",
    _DATES: "a list or an array",
    _PRICES: "a range, a list or an array",
    _LEVELS: "",
}

_OF_DATES = "Of dates: the first and the last date, such as 2026-01-01 2026-12-31; --step is in days, by default 1."
_CLAMPED = "Public, never taken from the column; values beyond a bound count as that bound."
_STEP = "Default: 1 if the column's type is an integer type (CSV has no types)"
_SAID = explanations(f"""
Candidates: Public values to choose from, whether or not they occur, never read from the column: {_LIST}. Without a list
    use values, or top-k with a --delta.
CandidatesToCount: Public values to count, whether or not they occur, never read from the column: {_LIST}. Or give
    --bins. Without a list use values, or top-k with a --delta.
CandidatesIfAny: Public values to choose from, never read from the column: {_LIST}. Without them, and with a --delta
    above 0, the values that enough units have.
WithCounts: Also release how many units have each answer, with noise. If the counts do not come at no cost, half of
    --epsilon selects and half counts.
MaxValues: Number of values for which one unit counts; if a unit has more, this many are chosen at random. If it is
    small, noise is added once to all counts: far less noise, and the counts come with the answer. Default: any number;
    for top-k without candidates, 1.
MaxValuesCounted: Number of values for which one unit counts. If a unit has more, this many are chosen at random. The
    larger it is, the more noise there is; without a list, values then need more units to be named.
Delta: Probability with which the guarantee may fail. Choose it far below one over the number of units, such as 1e-6 for
    up to about 10,000 units.
DeltaIfLess: Probability with which the guarantee may fail, such as 1e-6 for up to about 10,000 units. Above 0, the
    counts get Gaussian noise if its error is smaller, and selecting many values takes less noise.
Kind: How unknown values are read. Default: the column's type; in CSV and JSON lines, text.
ValuesIfAny: Count units with one of these values of COLUMN: {_LIST}.
Between: Count units with a number in COLUMN that is not below the first and not above the second.
Bounds: Smallest and largest possible value. {_CLAMPED} If none is known, ask for an upper bound first.
BoundsIfKnown: Smallest and largest possible answer. {_CLAMPED} {_OF_DATES} Without them, --lower is the smallest, and
    answers that grow apart are tested in order, with a larger error.
LowerIfUnbounded: Smallest possible answer where there are no --bounds. Public; smaller values count as this. Default:
    0.
Step: Distance between possible answers, starting at the lower bound, such as 1 for ages in years; it has to divide the
    distance between the bounds. {_STEP}.
FineStep: Values are rounded to multiples of this above the lower bound; it has to divide the distance between the
    bounds. {_STEP}, else a millionth of the distance.
SmallestStep: Smallest distance between possible answers, such as 1 for ages in years; far from --lower they are 1% of
    the distance from it apart. {_STEP}.
Continuous: Instead of --step: the answer is any number between the bounds. Only for values of which hardly any two are
    equal; there is no error bound.
MaxRows: Number of rows used per unit. If a unit has more, this many are chosen at random. The error grows with it.
Quantiles: joint draws all quantiles at once. halving draws the middle one first, then the others on each side; it is
    better for very many levels.
BinBounds: Start of the first bin and end of the last. Public, never taken from the column; values beyond belong to the
    outer bins. If no end is known, ask for an upper bound first.
EdgesIfAny: Where bins of a column of numbers begin, and the last one ends: public numbers{_LEVELS}.
Clip: Smallest and largest amount that one unit may add; public. The noise grows with it. If none is known, ask for an
    upper bound first.
Prices: Public prices to choose from: {_PRICES}. The error grows with the highest price.
UsableEpsilon: Epsilon for the number of units that could be used, with noise, on top of --epsilon: a warning if it is
    small.
Request: An id of your choice, with a ledger. Repeating the same question under the same id returns the same answer at
    no cost.
Where: Public condition on each row alone: age=18.., age=18..65 or region=north,south. Only rows that meet all are
    looked at. May be given several times.
MaxGroups: Groups per unit. A unit in more groups takes part in this many, chosen at random. The error grows with it.
""")
"""The explanations of more than a line, by the names of the types below."""

_PRIVACY = "Privacy loss of the whole answer. Smaller is more private and less accurate."
Epsilon = Annotated[float, Argument("number", _PRIVACY, check=positive_epsilon)]
Values = Annotated[str, "text", "Column with the values."]
Numbers = Annotated[str, "text", "Column of numbers."]
NumbersOrDates = Annotated[str, "text", "Column of numbers, or of dates."]
Dates = Annotated[str, "text", "Column of dates."]
Offers = Annotated[str, "text", "Column of numbers: the most that each unit would pay."]
ColumnIfAny = Annotated[str | None, "text", "Column of the condition. Without one, every unit is counted."]

Candidates = Annotated[object, Argument("list", _SAID["Candidates"], is_list=True)]
CandidatesToCount = Annotated[object, Argument("list", _SAID["CandidatesToCount"], may_be_one=True)]
CandidatesIfAny = Annotated[object, "list", _SAID["CandidatesIfAny"]]
WithCounts = Annotated[bool, "flag", _SAID["WithCounts"]]
MaxValues = Annotated[int | None, "whole", _SAID["MaxValues"]]
MaxValuesCounted = Annotated[int, "whole", _SAID["MaxValuesCounted"]]
K = Annotated[int, "whole", "Number of values to select."]
Delta = Annotated[float, "number", _SAID["Delta"]]
DeltaIfLess = Annotated[float, "number", _SAID["DeltaIfLess"]]
Kind = Annotated[str | None, tuple(each.name.lower() for each in CandidateKind), _SAID["Kind"]]
ValuesIfAny = Annotated[object, Argument("list", _SAID["ValuesIfAny"], may_be_one=True)]
Between = Annotated[tuple[float, float] | None, "bounds", _SAID["Between"]]

Bounds = Annotated[tuple[float, float], "bounds", _SAID["Bounds"]]
Ends = tuple[float, float] | tuple[date | str, date | str]
QuantileBounds = Annotated[Ends, "numbers or dates", f"Smallest and largest possible answer. {_CLAMPED} {_OF_DATES}"]
BoundsIfKnown = Annotated[Ends | None, "numbers or dates", _SAID["BoundsIfKnown"]]
Lower = Annotated[Exact, "exact", "Smallest possible answer. Public; smaller values count as this."]
LowerIfUnbounded = Annotated[Exact | None, "exact", _SAID["LowerIfUnbounded"]]
Step = Annotated[Exact | None, "exact", _SAID["Step"]]
FineStep = Annotated[Exact | None, "exact", _SAID["FineStep"]]
SmallestStep = Annotated[Exact | None, "exact", _SAID["SmallestStep"]]
Continuous = Annotated[bool, "flag", _SAID["Continuous"]]
MaxRows = Annotated[int, Argument("whole", _SAID["MaxRows"], check=partial(positive_count, at_most=10**9))]
Level = Annotated[float, "number", "Share of the values below the quantile, from 0 to 1."]
Levels = Annotated[Sequence[float], "levels", f"Different shares of the values, from 0 to 1{_LEVELS}."]
Quantiles = Annotated[Literal["joint", "halving"], ("joint", "halving"), _SAID["Quantiles"]]
BinBounds = Annotated[tuple[float, float], "bounds", _SAID["BinBounds"]]
Bins = Annotated[int, "whole", "Number of bins of equal width."]
EdgesIfAny = Annotated[Sequence[float] | None, "levels", _SAID["EdgesIfAny"]]

Summed = Annotated[str, "text", "Column of numbers to add up."]
Clip = Annotated[tuple[Exact, Exact], "bounds", _SAID["Clip"]]
Scale = Annotated[Exact, "number", "Multiply the numbers by this and round them to whole numbers: 100 counts cents."]

DatesToChoose = Annotated[object, "dates", f"Public dates to choose from: {_DATES}."]
DateBounds = Annotated[tuple[object, object] | None, "ends", "First and last date, instead of a list."]
DateStep = Annotated[int, "whole", "With --bounds, the number of days from one date to the next."]
Prices = Annotated[object, Argument("prices", _SAID["Prices"], is_list=True)]

UsableEpsilon = Annotated[float | None, "number", _SAID["UsableEpsilon"]]
Request = Annotated[str | None, "text", _SAID["Request"]]
Where = Annotated[Mapping[str, Any] | None, "where", _SAID["Where"]]
By = Annotated[str | None, "text", "Column with the group of each row, for one answer per group in --groups."]
Groups = Annotated[object, Argument("values", f"Public list of groups: {_LIST}.", may_be_one=True)]
MaxGroups = Annotated[int, "whole", _SAID["MaxGroups"]]


@dataclass(frozen=True, kw_only=True)
class _Besides:
    """What every question takes besides its own arguments; the last four, of which rows: see `dpselect.Dataset.by`."""

    usable_epsilon: UsableEpsilon = None
    request: Request = None
    where: Where = None
    by: By = None
    groups: Groups = None
    max_groups_per_unit: MaxGroups = 1


_BESIDES = arguments_of(_Besides)
OF_EVERY_QUESTION, OF_VIEWS = _BESIDES[:2], _BESIDES[2:]

TYPES = {  # beside a list that is written as a text
    name: Argument(
        CandidateKind,
        f"Type of the {name}. Default: the column's type; for CSV, integers if all look like it (007 does not).",
        f"{name}_as",
        None,
    )
    for name in ("candidates", "groups")
}
