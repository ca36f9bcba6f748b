"""What a plan would cost and how accurate its answers would be; and its answers, with the files they are written to."""

from __future__ import annotations

import json
import os
from abc import abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any, TypeVar, cast

from dpselect.certificates.release import Release
from dpselect.checks import fraction_up
from dpselect.errors import InvalidParameterError, Shown
from dpselect.ledger.accounts import Account, epsilon_left
from dpselect.plans.report import page
from dpselect.questions.wording import bound_shown, cost_shown, html_table, scope, text_table
from dpselect.questions.words import as_text
from dpselect.session.paying import Forecast

Of = TypeVar("Of", covariant=True)

ANSWERS, REPORT, CERTIFICATES = "answers.json", "report.html", "certificates"

_HEADS = ("question", "asks", "epsilon", "error (99%)", "mechanism")


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
        return json.dumps(self.to_dict(), sort_keys=True, allow_nan=False, ensure_ascii=False)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PlanForecast(OfQuestions[Forecast]):
    """The forecast of each question of a plan, by name.

    Attributes:
        budget, budget_delta: the epsilon and the delta of the plan.
        unchecked: why no column was checked, or empty: see `dpselect.DryRun`.
        account: name of the account that would be charged, or None.
        left: the epsilon left in it, or None.
        refused: why the account would refuse the plan, or empty.

    >>> import dpselect as dps
    >>> forecast = dps.Plan.from_toml("examples/questions.toml").forecast()
    >>> forecast["retired"].guarantee.epsilon, forecast.epsilon, forecast.fits is None
    (0.2, 1.0, True)
    """

    budget: float
    budget_delta: float = 0.0
    unchecked: str = ""
    account: str | None = None
    left: float | None = None
    refused: str = ""

    @property
    def fits(self) -> bool | None:
        """Whether the account would accept all charges together; None without an account."""
        return None if self.account is None else not self.refused

    @property
    def charge(self) -> str:
        """What would happen to the account, in one sentence."""
        if self.account is None:
            return next(iter(self.values())).charge
        if self.refused:
            return f"Refused: {self.refused}"
        if len(self.stored) == len(self):
            return f"All questions were answered before: account {self.account} would be charged nothing."
        return f"Account {self.account} would accept it: it has {epsilon_left(self.left or 0.0)} left."

    @property
    def rows(self) -> list[tuple[str, ...]]:
        """A row of texts for each question, and one for all together."""
        lines: list[tuple[str, ...]] = []
        for name, each in self.items():
            bound = bound_shown(each.error_bound, each.error_unit) or "no bound"
            lines.append((name, each.asks, cost_shown(each.epsilon), bound, each.mechanism))
        return [*lines, ("together", f"of {as_text(self.budget)}", cost_shown(self.epsilon), "", "")]

    @property
    def sentences(self) -> list[str]:
        """What the errors are about, a sentence for each question; what was done before; what an account is charged."""
        said = [f"{name}: {' '.join(filter(None, (scope(each.where), each.accuracy)))}" for name, each in self.items()]
        parts = fraction_up(sum((Fraction(each.epsilon) for each in self.values()), Fraction(0)))
        if parts > self.epsilon:
            said.append(f"The parts add up to epsilon = {parts:.4g}; with this delta, they cost less together.")
        if self.budget_delta:
            said.append(f"delta = {cost_shown(self.delta)} of {as_text(self.budget_delta)}.")
        if why := self.unchecked:
            said.append(f"{why[0].upper()}{why[1:]}: computed from the arguments alone, no column is checked.")
        return [*said, *filter(None, (self.stored_sentence, self.charge))]

    def to_dict(self) -> dict[str, Any]:
        return {
            "questions": {name: each.to_dict() for name, each in self.items()},
            "epsilon": self.epsilon,
            "delta": self.delta,
            "budget": {"epsilon": self.budget, "delta": self.budget_delta},
            "account": self.account,
            "left": self.left,
            "answered": [*self.stored],
            "fits": self.fits,
        }

    def __str__(self) -> str:
        return "\n".join([text_table(_HEADS, self.rows), "", *self.sentences])

    def _repr_html_(self) -> str:
        return html_table(_HEADS, self.rows, *self.sentences)


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
        parts = [f"{name} ({release.asks})\n{release}" for name, release in self.items()]
        delta = f", delta = {cost_shown(self.delta)}" if self.delta else ""
        together = f"Together: epsilon = {cost_shown(self.epsilon)}{delta}.\n{self.note}"
        return "\n\n".join([*parts, together.rstrip()])

    @property
    def note(self) -> str:
        """From when answers are that were stored before; empty if none was."""
        if self.stored and len(self.stored) == len(self):
            return f"{self.stored_sentence} No row was read, and nothing was charged."
        return self.stored_sentence

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
        together = {"epsilon": self.epsilon, "delta": self.delta}
        return page(self, title=self.name, account=self.account, note=self.note, **together)

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Write ``answers.json``, ``report.html``, and ``certificates/NAME.json`` for each question to a folder.

        It is made if there is none. Answers to the plan of this name are replaced.

        Raises:
            InvalidParameterError: it cannot be written to, or holds files of these names that are of something else.
        """
        place = new_folder(folder, own=self.name)
        files = {place / ANSWERS: self.to_json()}  # first: it says whose the other files are
        files |= {place / CERTIFICATES / f"{name}.json": release.to_json() for name, release in self.items()}
        files[place / REPORT] = self.report()
        try:
            for path, text in files.items():
                path.write_text(text + "\n", encoding="utf-8")
        except OSError as failure:
            raise _unwritable(place, failure) from None


def new_folder(folder: str | os.PathLike[str], *, own: str | None) -> Path:
    """A folder that can be written to, with the one for certificates in it.

    It is refused if it holds any of the files that are written, but for those of the plan with the name `own`.
    """
    if not isinstance(cast(object, folder), str | os.PathLike) or "\0" in str(folder):
        raise InvalidParameterError("out", folder, "the path of a folder")
    place = Path(folder)
    held = place / CERTIFICATES
    is_free = not any(os.path.exists(place / each) for each in (ANSWERS, REPORT))
    if not (is_free and not (os.path.isdir(held) and any(held.iterdir()))) and (own is None or _plan_in(place) != own):
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


def _plan_in(place: Path) -> object:
    """The name of the plan whose answers are in a folder; None if they cannot be read."""
    with suppress(OSError, ValueError, KeyError, TypeError, RecursionError):
        return json.loads((place / ANSWERS).read_bytes())["plan"]


def _unwritable(place: Path, failure: OSError) -> InvalidParameterError:
    reason = f"{os.strerror(failure.errno)}." if failure.errno else ""
    return InvalidParameterError("out", Shown(repr(str(place))), "a folder that can be written to", reason)
