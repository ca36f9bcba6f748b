"""The result of a question: the value with its certificate, its table and its picture. It holds no score or row."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime
from functools import cache
from importlib import import_module, metadata
from typing import TYPE_CHECKING, Any, Generic, cast

from dpselect.accounting.events import encode
from dpselect.errors import InvalidParameterError, Shown, wrong
from dpselect.privacy import as_text
from dpselect.questions import wording
from dpselect.questions.question import QUESTIONS
from dpselect.questions.records import CERTIFICATE, SEEDED, Answered, Drawn, Planned, Words

if TYPE_CHECKING:
    from altair import LayerChart
    from typing_extensions import TypeVar  # a release of an unknown kind may be written without brackets

    Answer = TypeVar("Answer", covariant=True, default=Answered)
else:
    from typing import TypeVar

    Answer = TypeVar("Answer", covariant=True)

_MOST_SHOWN, _MOST_BARS = 50, 100


@cache  # reading what is installed takes longer than planning an answer
def _installed_version() -> str:
    try:
        return metadata.version("dpselect")
    except metadata.PackageNotFoundError:  # run from a source tree
        return "not installed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Release(wording.Worded, Generic[Answer]):
    """One private answer and everything needed to judge its guarantee.

    Its cost, its error bound, the question and the sentences about it are what forecasts have, too: see
    `dpselect.questions.records.Planned` and `dpselect.questions.wording.Worded`.

    Attributes:
        value: the selected candidate; for ``top_k`` and ``best_features`` a list of them, best first; for
            ``quantiles`` a list with one number per level, for ``density`` a list with one share per bin. With groups,
            a dictionary with such an answer for each group.
        time: the start, in UTC, of the day of the request; with ``Dataset(times="hour")`` of the hour.
        receipt: receipt of the charge to a ledger, with a hash of everything here but the value. None: nothing was
            charged, and the caller has to add up costs.
        version: version of dpselect.
        format: the words of the declared `dpselect.Format` that differ from the default, if any do.
        source: what was opened, without folders; a hash of the columns' names and types; and the name that the caller
            gave it. None: there is no table.
        seeded: drawn in a block of `dpselect.testing.seeded`, and so not private at all, whatever the rest says.

    >>> import dpselect as dps
    >>> visits = dps.Dataset("examples/data/clicks.parquet", unit="session")
    >>> release = visits.most_common("page", candidates=range(1, 41271), epsilon=1.0)
    >>> release
    Release(value=6, epsilon=1.0, delta=0.0, unit='session', usable=None)
    >>> print(release)
    6
    Differentially private: epsilon = 1, when one session is added or removed.
    With 99% confidence the count of the released page is within 14 of the best.
    How many units (session) had usable rows was not released: usable_epsilon=0.05 would tell.
    """

    value: Answer
    time: datetime
    receipt: Mapping[str, Any] | None = None
    version: str = field(default_factory=_installed_version)
    format: Mapping[str, Any] | None = None
    source: Mapping[str, Any] | None = None
    seeded: bool = False

    @property
    def opened(self) -> str:
        """What the table is called, and what was opened: files without folders, a table on a server, or a frame."""
        held = dict(self.source or {})
        listed: list[str] = held.get("files") or [held.get("table") or held.get("frame") or "a table"]
        found = ", ".join(listed)
        return f"{held['name']} ({found})" if "name" in held else found

    @property
    def counts(self) -> Any:
        """The noisy number of units with each selected candidate, in the shape of `value`; None if none was released.

        >>> import dpselect as dps
        >>> people = dps.Dataset("examples/data/adult.csv", unit="person_id")
        >>> release = people.top_k("education_num", 3, candidates=range(1, 17), epsilon=1.0, max_values_per_unit=1)
        >>> release.value, len(release.counts), abs(release.counts[0] - 10501) < 50  # 10501 in truth
        ([9, 10, 13], 3, True)
        """
        return None if self.counted is None else self.counted.count

    @property
    def interval(self) -> Any:
        """Where the true number lies with `confidence`: its two ends, for each released number in the shape of `value`.

        Of `counts`, if there are any. None without an error bound of the number itself. The ends go no further than the
        question's public arguments allow: no count is below 0.

        >>> import dpselect as dps
        >>> people = dps.Dataset("examples/data/adult.csv", unit="person_id")
        >>> lower, upper = people.mean("age", bounds=(0, 120), epsilon=1.0).interval
        >>> lower < 38.58 < upper < lower + 0.1  # 38.58 in truth
        True
        """
        table = columns(self)
        if "lower" not in table:
            return None
        ends, is_list = zip(table["lower"], table["upper"], strict=True), QUESTIONS[self.task].gives_list
        parts: dict[Any, Any] = {None: self.value} if self.groups is None else cast("Any", self.value)
        found = {group: [next(ends) for _ in part] if is_list else next(ends) for group, part in parts.items()}
        return found[None] if self.groups is None else found

    def answered(self, drawn: Drawn) -> Release[Any]:
        """With what was drawn: the answer, and the noisy numbers of units that belong to it."""
        usable = None if self.usable is None else replace(self.usable, count=drawn.usable)
        counted = None if self.counted is None else replace(self.counted, count=drawn.counted)
        return replace(self, value=drawn.answer, usable=usable, counted=counted)

    def to_dict(self) -> dict[str, Any]:
        """The certificate as plain Python values: what `to_json` writes."""
        held: dict[str, Any] = {
            **claims(self),
            "certificate": CERTIFICATE,
            "value": _plain(self.value),
            "receipt": None if self.receipt is None else dict(self.receipt),
            "proofs": list(self.proofs),
            "version": self.version,
            "time": self.time.astimezone(UTC).isoformat(timespec="seconds"),
        }
        held |= {name: dict(about) for name, about in (("format", self.format), ("source", self.source)) if about}
        for name, numbers in (("usable", self.usable), ("counts", self.counted)):
            if numbers is not None:
                held[name]["count"] = _plain(numbers.count)
        return held | {"seeded": SEEDED} if self.seeded else held

    def question_hash(self) -> str:
        """See `question_hash`; names a field that cannot be written, before anything is charged or drawn."""
        held = self.to_dict()
        for name, value in held.items():
            try:
                json.dumps(value, allow_nan=False, ensure_ascii=False).encode()
            except ValueError:  # what is no number, or what UTF-8 cannot hold
                raise wrong(name, "what a certificate can hold: finite numbers, and text in UTF-8") from None
        return question_hash(held)

    def table(self) -> tuple[list[str], list[tuple[str, ...]]]:
        """The answer as people read it: the headings, and a row of texts for each value, with its count and interval.

        >>> import dpselect as dps
        >>> people = dps.Dataset("examples/data/adult.csv", unit="person_id")
        >>> people.histogram("education_num", candidates=[9, 10], epsilon=1000.0).table()[1]
        [('9', '10,501', '10,501 to 10,501'), ('10', '7,291', '7,291 to 7,291')]
        """
        kind, ((*by, label), held, values) = QUESTIONS[self.task], _tabled(self)
        heads, listed = [*by], [[*map(_shown, held[name])] for name in by]
        groups = cast("Any", self.value) if by else ()
        is_one_each = bool(by) and len(values) == len(groups)  # whose rank, level or number says nothing
        if kind.label != "answer" and not (is_one_each and kind.label in ("rank", "level", "number")):
            heads.append(label)
            listed.append([*map(_shown, held[label])])
        what = "" if kind.label != "answer" or not held[label] else f"{held[label][0]} of "  # "best price of"
        measured = kind.measure.format(unit=self.unit, column=self.column)
        heads.append(measured or f"{what}{self.column}")
        listed.append([_shown(each, is_amount=kind.is_amount) for each in values])
        if "units" in held:
            heads.append(f"units ({self.unit})")
            listed.append([_shown(each, is_amount=True) for each in held["units"]])
        if held.get("lower"):
            heads.append(f"{self.confidence:.0%} interval")
            ends = zip(held["lower"], held["upper"], strict=True)
            listed.append([" to ".join(wording.ends_shown(*each, is_amount=kind.is_amount)) for each in ends])
        return heads, [*zip(*listed, strict=True)]

    def to_pandas(self) -> Any:
        """The answer as a pandas frame with one row for each value.

        Its columns: those of the groups; the column of the table for its values and bins, else ``level``, ``rank``,
        ``number`` or ``answer``; ``released``; ``units``, if counts were released; and ``lower`` and ``upper``, the
        ends of `interval`, if there is one.

        >>> import dpselect as dps
        >>> people = dps.Dataset("examples/data/adult.csv", unit="person_id")
        >>> people.histogram("education_num", candidates=[9, 10, 13], epsilon=1.0).to_pandas().columns.tolist()
        ['education_num', 'released', 'lower', 'upper']
        """
        return _frame("pandas", columns(self))

    def to_polars(self) -> Any:
        """The answer as a Polars frame: see `to_pandas`."""
        return _frame("polars", columns(self))

    def plot(self) -> LayerChart:
        """A chart of the released numbers: a bar for each, with an error bar where the bound is about the value.

        Places on the scale of the column, such as quantiles, are points; one number for each pair of two columns of
        groups is a heat map.

        Raises:
            InvalidParameterError: the values are candidates, not measured numbers, or there are more than 100.
            MissingExtraError: the extra ``plots`` is not installed.

        >>> import dpselect as dps
        >>> people = dps.Dataset("examples/data/adult.csv", unit="person_id")
        >>> chart = people.histogram("education_num", candidates=[9, 10, 13], epsilon=1.0).plot()
        >>> chart.to_dict()["title"]["text"]
        ['Histogram of education_num']
        """
        kind, ((*by, label), table, _) = QUESTIONS[self.task], _tabled(self)
        values: list[Any] = table.get("units", table["released"])
        of_dates = any(isinstance(each, date) for each in values)
        if of_dates or (not kind.measure and "units" not in table):
            hint = "" if of_dates else "Ask with_counts=True for the number of units with each answer."
            expected = "a release of numbers, such as a histogram"
            raise InvalidParameterError("release", Shown(f"<{self.task}>"), expected, hint)
        if len(values) > _MOST_BARS:
            raise InvalidParameterError("release", Shown(f"<{len(values):,} numbers>"), f"at most {_MOST_BARS} numbers")
        labels = [as_text(key) for key in table["released" if "units" in table else label]]
        if by:
            several = len(labels) > len(cast("dict[Any, Any]", self.value))
            groups = [as_text(group) for group in zip(*(table[name] for name in by), strict=True)]
            labels = [f"{group}, {key}" for group, key in zip(groups, labels, strict=True)] if several else groups
        from dpselect.charts import bars, tiles

        words: dict[str, Any] = {
            "value": (kind.measure or "units ({unit})").format(unit=self.unit, column=self.column),
            "title": f"{self.task.replace('_', ' ').capitalize()} of {self.column}",
            "subtitle": " ".join((self.promise, *self.sentences)),
        }
        if len(by) == 2 and len(values) == len(cast("dict[Any, Any]", self.value)):
            pairs = [(as_text(row), as_text(column)) for row, column in zip(*(table[name] for name in by), strict=True)]
            return tiles(pairs, values, categories=(by[0], by[1]), from_zero=kind.is_amount, **words)
        category = _category("value" if "units" in table else kind.label, self)
        words["category"] = category if self.groups is None else str(self.groups["column"])
        ends = (table["lower"], table["upper"]) if "lower" in table else None
        return bars(labels, values, **words, ends=ends, as_points=not (kind.is_amount or "units" in table))

    def to_json(self) -> str:
        """The certificate as a JSON object with sorted keys, on one line; dates as ISO 8601 text.

        Its ``digest``, of the rest, reveals careless edits. `dpselect.verify` reads the text back.
        """
        held = self.to_dict()
        return canonical_json(held | {"digest": digest(held)})

    def __str__(self) -> str:
        return "\n".join(filter(None, (*lines(self), self.promise, *self.sentences, self.basis_missing)))

    def __repr__(self) -> str:
        shown = f"value={self.value!r}, epsilon={self.epsilon!r}, delta={self.delta!r}, unit={self.unit!r}"
        if self.usable is not None or self.basis_missing:
            shown += f", usable={None if self.usable is None else self.usable.count!r}"
        return f"Release({shown}, seeded=True)" if self.seeded else f"Release({shown})"

    def _repr_html_(self) -> str:
        heads, rows = self.table()
        left = f"{len(rows) - _MOST_SHOWN:,} more rows: see table()." if len(rows) > _MOST_SHOWN else ""
        return wording.html_table(heads, rows[:_MOST_SHOWN], left, self.promise, *self.sentences, self.basis_missing)


def columns(release: Release[Any]) -> dict[str, list[Any]]:
    """The columns of a table with one row for each value; they are described at `dpselect.Release.to_pandas`."""
    return _tabled(release)[1]


def _tabled(release: Release[Any]) -> tuple[list[str], dict[str, list[Any]], list[Any]]:
    """The names of the columns before ``released``, all columns, and the values with digits as their errors leave them.

    The names are those of the groups, and last of what the value is. No interval goes further than the question's
    public arguments allow. Counts of values without a list have none: those selected tend to be high, so that no
    interval of each holds.
    """
    kind, value, numbered, counts = QUESTIONS[release.task], release.value, release.counted, release.counts
    grouped: Any = release.question.get("by", []) if release.groups is not None else []
    heads, numbers = list[str](), ["released", "units", "lower", "upper"]
    for name in [*([grouped] if isinstance(grouped, str) else grouped), _category(kind.label, release)]:
        while name in (*numbers, *heads):
            name += "_"
        heads.append(name)
    table: dict[str, list[Any]] = {head: [] for head in (*heads, *numbers[: 1 if counts is None else 2])}
    bounds, reported = list[float | None](), list[Any]()
    for group, answer in (cast("dict[Any, Any]", value) if isinstance(value, dict) else {None: value}).items():
        listed, units = answer if kind.gives_list else [answer], release.units_in(group)
        parts = cast("tuple[Any, ...]", group) if isinstance(group, tuple) else (group,)
        for head, part in zip(heads[:-1], parts, strict=False):
            table[head] += [part] * len(listed)
        table[heads[-1]] += kind.keys(release, len(listed))
        table["released"] += listed
        reported += [wording.reported(release, each, group) for each in listed]
        bounds += [kind.value_bound(release, units, each) for each in listed]
        if counts is not None:
            counted = cast("Any", counts[group]) if isinstance(counts, dict) else counts
            table["units"] += counted if kind.gives_list else [counted]
    if numbered is not None and counts is not None:
        within = None if release.candidates["origin"] == "rows" else numbered.within
        bounds = [within] * max(1, len(table["units"]))
    known = [bound for bound in bounds if bound is not None and math.isfinite(bound)]
    if len(known) == len(bounds):
        # Whole numbers throughout for counts: a column of a frame has one type.
        known = [math.ceil(bound) for bound in known] if kind.is_count else known
        least, most = kind.possible_values(release) if counts is None else (0, math.inf)
        pairs = [*zip(table["released" if counts is None else "units"], known, strict=False)]
        table["lower"] = [max(least, each - bound) for each, bound in pairs]
        table["upper"] = [min(most, each + bound) for each, bound in pairs]
    return heads, table, reported


def _shown(value: object, *, is_amount: bool = False) -> str:
    """A value of an answer as a text; in quotes if blanks around or within it would not be seen."""
    if is_amount and isinstance(value, int | float):
        return f"{value:,}".removesuffix(".0")
    text = as_text(value)
    return text if text and text == " ".join(text.split()) else f'"{text}"'


def lines(release: Release[Any]) -> list[str]:
    """The answer in plain text, a line for each value: its groups, what was counted, the value, and its count."""
    (*by, label), held, values = _tabled(release)
    named = [*by, label] if QUESTIONS[release.task].label in ("value", "bin") else by
    units = [held["units"]] if "units" in held else []
    cells = [*(held[name] for name in named), values, *units]
    return ["  ".join(map(as_text, row)) for row in zip(*cells, strict=True)]


def _category(label: str, release: Release[Any]) -> str:
    """The heading of the bars' labels: the column whose values or bins they are, or what else they are."""
    return release.column if label in ("value", "bin") else label


def claims(planned: Planned) -> dict[str, Any]:
    """What certificates and forecasts say alike."""
    bound = planned.error_bound
    of = {} if planned.error_unit is None else {"unit": planned.error_unit}
    within = None if bound is None or not math.isfinite(bound) else bound  # what does not fit into a double
    protected = {"unit": planned.unit, "neighbours": str(planned.neighbours)}
    moved = {"sensitivity": planned.sensitivity, "monotonic": planned.monotonic}
    about = {"facts": planned.facts, "arguments": planned.arguments, "groups": planned.groups}
    numbers = {"usable": planned.usable, "counts": planned.counted}
    return {
        **{name: dict(held) for name, held in about.items() if held},
        **{name: held.description for name, held in numbers.items() if held is not None},
        "question": dict(planned.question),
        "guarantee": {**protected, "epsilon": planned.epsilon, "delta": planned.delta},
        "event": encode(planned.event),
        "mechanism": {**moved, "name": planned.mechanism, "rounds": planned.rounds},
        "candidates": dict(planned.candidates),
        "error_bound": None if bound is None else {"within": within, "confidence": planned.confidence, **of},
    }


def canonical_json(held: Mapping[str, Any]) -> str:
    """JSON on one line with sorted keys: the same text for equal objects."""
    return json.dumps(held, sort_keys=True, allow_nan=False, ensure_ascii=False)


def identity_text(question: Words, *, unit: str, source: str = "", format: Mapping[str, Any] | None = None) -> str:
    """What tells a question from others in a ledger: its words, its table, and how the table's cells are written."""
    about: Words = {"question": question, "unit": unit, "source": source}
    return canonical_json({**about, "format": dict(format)} if format else about)


def digest(held: Mapping[str, Any]) -> str:
    """SHA-256 of a certificate without its digest."""
    rest = {key: value for key, value in held.items() if key != "digest"}
    return hashlib.sha256(canonical_json(rest).encode()).hexdigest()


def question_hash(held: Mapping[str, Any]) -> str:
    """SHA-256 of everything in a certificate that is known before the draw, which a ledger's charge holds."""
    stated = {key: value for key, value in held.items() if key not in ("value", "receipt", "digest")}
    for numbers in {"usable", "counts"} & set(stated):
        stated[numbers] = {key: value for key, value in stated[numbers].items() if key != "count"}
    return hashlib.sha256(b"dpselect question 1" + canonical_json(stated).encode()).hexdigest()


def _plain(value: object) -> Any:
    if isinstance(value, dict):
        return [[_plain(group), _plain(answer)] for group, answer in cast("dict[object, object]", value).items()]
    if isinstance(value, list | tuple):
        return [_plain(member) for member in cast("list[object]", value)]
    return value.isoformat() if isinstance(value, date) else value


def _frame(package: str, table: dict[str, list[Any]]) -> Any:
    try:
        library = import_module(package)
    except ImportError:
        raise ImportError(f"to_{package}() needs {package}, which is not installed: pip install {package}") from None
    return library.DataFrame(table)
