"""The answers to a plan, the files they are written to, and the report: one page of HTML for people who were not there.

Nothing is loaded in it, and nothing runs.
"""

from __future__ import annotations

import json
import os
from abc import abstractmethod
from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from fractions import Fraction
from html import escape
from importlib.metadata import metadata
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any, TypeVar, cast

from dpselect.certificates.release import Release, canonical_json
from dpselect.charts import svg_without_title
from dpselect.checks import fraction_up
from dpselect.errors import InvalidParameterError, MissingExtraError, Shown
from dpselect.ledger.accounts import Account, as_written, left_shown
from dpselect.privacy import Guarantee, as_text
from dpselect.questions import wording
from dpselect.questions.question import QUESTIONS
from dpselect.questions.wording import SEEDED_PROMISE, cost_shown, html_notes, html_table

Of = TypeVar("Of", covariant=True)

_MOST_ROWS = 50  # of an answer in a report; the rest is in its certificate

ANSWERS, REPORT, CERTIFICATES = "answers.json", "report.html", "certificates"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class OfQuestions(Mapping[str, Of]):
    """Something of each question of a plan, by its name; and what all answers cost together.

    Attributes:
        epsilon, delta: privacy loss of all answers together, and the probability with which it may fail; rounded up.
        stored: the day on which each question was asked whose answer the ledger had before, by its name.
    """

    by_name: Mapping[str, Of]
    epsilon: float
    delta: float
    stored: Mapping[str, str] = field(default_factory=dict[str, str])

    def __getitem__(self, name: str) -> Of:
        return self.by_name[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.by_name)

    def __len__(self) -> int:
        return len(self.by_name)

    @property
    def stored_sentence(self) -> str:
        """From when the stored answers are; empty if there are none."""
        days = {day: [name for name in self.stored if self.stored[name] == day] for day in sorted(self.stored.values())}
        listed = "; ".join(f"{', '.join(names)} on {day}" for day, names in days.items())
        said = f"Answered before, and stored in the ledger: {listed}. The table is not compared with that of then."
        return said if self.stored else ""

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """As plain Python values for JSON."""

    def to_json(self) -> str:
        """As a JSON object with sorted keys, on one line."""
        return canonical_json(self.to_dict())


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class Answers(OfQuestions[Release[Any]]):
    """The answers to the questions of a plan, by name.

    Attributes:
        name: of the plan.
        account: the account that was charged, after it was; None without a ledger.

    >>> import dpselect as dps
    >>> answers = dps.Plan.from_toml("examples/questions.toml").run()
    >>> answers["most_common_years"].value, answers.epsilon
    ([9, 10, 13], 1.0)
    """

    name: str
    account: Account | None

    def __repr__(self) -> str:
        return f"Answers({', '.join(self)}; epsilon={self.epsilon!r}, delta={self.delta!r})"

    def __str__(self) -> str:
        cost = ": epsilon = {},".format  # of a promise, which has every digit
        said = [str(each).replace(cost(each.cost()), cost(each.cost(whole=cost_shown)), 1) for each in self.values()]
        parts = [f"{name} ({self[name].asks})\n{text}" for name, text in zip(self, said, strict=True)]
        delta = f", delta = {cost_shown(self.delta)}" if self.delta else ""
        together = f"Together: epsilon = {cost_shown(self.epsilon)}{delta}.\n{self.note}"
        return "\n\n".join([*parts, together.rstrip()])

    @property
    def note(self) -> str:
        """From when answers are that were stored before; empty if none was."""
        are_all = bool(self.stored) and len(self.stored) == len(self)
        return self.stored_sentence + " No row was read, and nothing was charged." * are_all

    def _repr_html_(self) -> str:
        rows = [(name, release.asks, str(release.value), release.accuracy) for name, release in self.items()]
        return html_table(("question", "asks", "answer", "accuracy"), rows)

    def to_dict(self) -> dict[str, Any]:
        """As plain Python values: the certificate of each answer, what they cost together, and the account."""
        return {
            "plan": self.name,
            "answers": {name: json.loads(release.to_json()) for name, release in self.items()},
            "epsilon": self.epsilon,
            "delta": self.delta,
            "account": None if self.account is None else self.account.to_dict(),
        }

    def report(self) -> str:
        """The answers as a page of HTML that needs nothing else; see `dpselect.report`."""
        held = [*self.values()]
        first, days = held[0], sorted({each.time.date().isoformat() for each in held})
        promise = wording.in_words(Guarantee(self.epsilon, self.delta, first.neighbours, first.unit), several=True)
        seeded = any(each.seeded for each in held)
        named, asks = zip(*(_named(*each) for each in self.items()), strict=True)
        costs = [each.cost(whole=cost_shown) for each in held]
        spent = {
            "question": [*named, "together"],
            "asks": [*asks, ""],
            "epsilon": [*costs, cost_shown(self.epsilon)],
            "delta": [cost_shown(each.delta) for each in (*held, self)] if self.delta else [],
            "drawn by": [*(each.mechanism for each in held), ""],
        }
        spent = {head: cells for head, cells in spent.items() if any(cells)}  # others say nothing
        ranks = "Ranks count rows in the order of their values: within 20 ranks of the true median, say, means that at"
        ranks += " most 20 of the rows that are counted lie between the answer and the true one."
        number = "The number of units with usable rows was not released, for some or all answers: that costs more."
        template = files("dpselect.plans").joinpath("report.html").read_text(encoding="utf-8")
        return Template(template).substitute(
            title=escape(self.name),
            about=escape(f"Table: {first.opened}. Protected: each {first.unit}. Asked on {', '.join(days)} (UTC)."),
            promise=escape(SEEDED_PROMISE if seeded else promise),
            seeded="loud" * seeded,
            note=html_notes(self.note),
            answers="\n".join(_answer(name, each) for name, each in self.items()),
            reading=html_notes(  # what readers ask only of some answers, each once for the whole page
                ranks * any(each.error_unit == "ranks" for each in held),
                number * any(bool(each.basis_missing) for each in held),
            ),
            spent=_table([*spent], [*zip(*spent.values(), strict=True)]),
            account=_account(self.account, held),
            proofs=_proofs(held, self.epsilon),
            version=escape(", ".join(sorted({each.version for each in held}))),
        )

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Write ``answers.json``, ``report.html``, and ``certificates/NAME.json`` for each question to a folder.

        It is made if there is none. Answers to the plan of this name are replaced.

        Raises:
            InvalidParameterError: it cannot be written to, or holds files of these names that are of something else.
        """
        place = new_folder(folder, own=self.name)
        texts = {place / ANSWERS: self.to_json()}  # first: it says whose the other files are
        texts |= {place / CERTIFICATES / f"{name}.json": release.to_json() for name, release in self.items()}
        texts[place / REPORT] = self.report()
        try:
            for path, text in texts.items():
                path.write_text(text + "\n", encoding="utf-8")
        except OSError as failure:
            raise _unwritable(place, failure) from None


def new_folder(folder: str | os.PathLike[str], *, own: str | None) -> Path:
    """A folder that can be written to, with the one for certificates in it.

    It is refused if it holds any of the files that are written, but for those of the plan with the name `own`.
    """
    if not isinstance(cast(object, folder), str | os.PathLike) or "\0" in str(folder):
        raise InvalidParameterError("out", folder, "the path of a folder")
    place, there = Path(folder), None
    held = place / CERTIFICATES
    with suppress(OSError, ValueError, KeyError, TypeError, RecursionError):
        there = json.loads((place / ANSWERS).read_bytes())["plan"]
    is_used = any(os.path.exists(place / each) for each in (ANSWERS, REPORT))
    if (is_used or (os.path.isdir(held) and any(held.iterdir()))) and (own is None or there != own):
        expected = f"a folder without {ANSWERS}, {REPORT} and {CERTIFICATES} of another run or another plan"
        hint = "Nothing is overwritten. Without a ledger, asking again is another release, and costs as much again."
        raise InvalidParameterError("out", Shown(repr(str(place))), expected, hint)
    try:
        held.mkdir(parents=True, exist_ok=True)
        probe = place / f".{ANSWERS}.new"
        probe.write_bytes(b"")
        probe.unlink()
    except OSError as failure:
        raise _unwritable(place, failure) from None
    return place


def _unwritable(place: Path, failure: OSError) -> InvalidParameterError:
    reason = f"{os.strerror(failure.errno)}." if failure.errno else ""
    return InvalidParameterError("out", Shown(repr(str(place))), "a folder that can be written to", reason)


def report(releases: Sequence[Release[Any]], *, title: str = "Answers") -> str:
    """Answers as one page of HTML that needs nothing else: what was promised, asked and answered, and how to read it.

    The answers, at least one, are about one table. Each certificate is in the page; numbers have a picture if the extra
    ``plots`` is installed.

    Raises:
        InvalidParameterError: there are none, or something else is among them.

    >>> import dpselect as dps
    >>> people = dps.Dataset("examples/data/adult.csv", unit="person_id")
    >>> page = dps.report([people.count(epsilon=0.5), people.count("age", between=(65, 120), epsilon=0.25)])
    >>> "(epsilon = 0.75, for all answers here together)" in page
    True
    """
    if not isinstance(cast(object, title), str):
        raise InvalidParameterError("title", title, "a text")
    is_several = isinstance(cast(object, releases), Sequence)
    held = list[Any](releases if is_several else [])
    if not held or not all(isinstance(each, Release) for each in held):
        raise InvalidParameterError("releases", Shown(f"<{len(held)} entries>"), "answers of a Dataset, at least one")
    about = [(each.unit, each.neighbours, each.source) for each in held]
    if any(each != about[0] for each in about):
        hint = "Costs add up for one table and one unit alone."
        raise InvalidParameterError("releases", Shown("<several tables>"), "answers about one table", hint)
    asked = [each.asks for each in held]
    names = [f"{place}. {each}" if asked.count(each) > 1 else each for place, each in enumerate(asked, 1)]
    epsilon = fraction_up(sum((Fraction(each.epsilon) for each in held), Fraction(0)))
    delta = fraction_up(sum((Fraction(each.delta) for each in held), Fraction(0)))
    by_name = dict(zip(names, held, strict=True))
    return Answers(by_name=by_name, name=title, account=None, epsilon=epsilon, delta=delta).report()


def only_value(release: Release[Any], rows: Sequence[Sequence[str]]) -> str | None:
    """The value of an answer that is a single one, from the rows of its table."""
    is_first = QUESTIONS[release.task].label == "answer"
    return rows[0][0 if is_first else 1] if len(rows) == 1 and release.groups is None else None


def picture_of(release: Release[Any]) -> str:
    """A chart of the numbers; empty if there are not several, or they are none."""
    if len(release.table()[1]) > 1:  # one bar, or one point on a line, shows nothing
        with suppress(InvalidParameterError):
            return svg_without_title(release.plot())
    return ""


def _named(name: str, release: Release[Any]) -> tuple[str, str]:
    """A question's name in a plan, in words, and what it asks, unless its name is that."""
    return (name, "") if name.endswith(release.asks) else (name.replace("_", " "), release.asks)


def _answer(name: str, release: Release[Any]) -> str:
    title, asks = _named(name, release)
    heads, rows = release.table()
    more = f"{len(rows) - _MOST_ROWS:,} more rows are in the certificate." if len(rows) > _MOST_ROWS else ""
    answer = _table(heads, rows[:_MOST_ROWS], more)
    if release.counts is None and (only := only_value(release, rows)) is not None:
        answer = f'<p class="value">{escape(only)}</p>'
        answer += "" if release.interval is None else html_notes(f"{heads[-1]}: {rows[0][-1]}.")
    picture = ""
    with suppress(MissingExtraError):
        picture = picture_of(release)
    if picture:
        about = escape(f"Chart of {title}. {release.accuracy}", quote=True)
        picture = f'<img alt="{about}" src="data:image/svg+xml;base64,{b64encode(picture.encode()).decode()}">'
    held = b64encode(release.to_json().encode()).decode()
    link = f'<a download="{escape(name)}.json" href="data:application/json;base64,{held}">Certificate</a>'
    return (
        f'<section><h2>{escape(title)}</h2><p class="asks">{escape(asks)}</p>{answer}{html_notes(*release.sentences)}'
        f'{picture}<p class="small">{link}, which others can verify.</p></section>'
    )


def _table(heads: Sequence[str], rows: Sequence[Sequence[object]], *notes: str) -> str:
    return f'<div class="scroll">{html_table(heads, rows, *notes)}</div>'


def _account(account: Account | None, releases: Iterable[Release[Any]]) -> str:
    if account is None:
        entries = [f"{each.receipt['account']} (entry {each.receipt['sequence']})" for each in releases if each.receipt]
        by_hand = "the costs of other answers about the same table have to be added by hand"
        charged = f"Charged to the accounts of a ledger: {', '.join(entries)}."
        return html_notes(charged if entries else f"Nothing was charged to a ledger; {by_hand}.")
    limit, spent = as_text(as_written(account.epsilon)), cost_shown(fraction_up(account.spent))
    text = f"Account {account.name} promises epsilon = {limit} in all; {spent} of it is spent, with these answers,"
    text += f" and {left_shown(account.left)} is left."
    head = f"Hash of its latest entry, number {account.entries - 1}: <code>{escape(account.head)}</code>."
    return f'{html_notes(text)}<p class="small">{head}</p>'


def _proofs(releases: Sequence[Release[Any]], epsilon: float) -> str:
    """The pages that prove what is promised, with links if the package says where its documentation is."""
    pages = set[str]().union(*(each.proofs for each in releases))
    if len(releases) > 1:
        pages.add("proofs/composition.md")
    if sum(Fraction(each.epsilon) for each in releases) > Fraction(epsilon):
        pages.add("proofs/ledger.md")  # which proves what an account accepts together
    urls = dict(each.split(", ", 1) for each in metadata("dpselect").get_all("Project-URL") or [])
    form = "<li><code>{0}.md</code></li>"
    if site := escape(urls.get("Documentation", "").rstrip("/")):
        form = f'<li><a href="{site}/{{0}}.html"><code>{{0}}.md</code></a></li>'
    return "".join(form.format(escape(each.removesuffix(".md"))) for each in sorted(pages))
