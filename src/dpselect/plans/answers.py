"""The answers to a plan, and the files that they are written to."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from dpselect.certificates.release import Release
from dpselect.errors import InvalidParameterError, Shown
from dpselect.ledger.accounts import Account
from dpselect.plans.division import Division, OfQuestions
from dpselect.plans.plan_forecast import NOTHING, Before
from dpselect.plans.report import page
from dpselect.questions.wording import cost_shown, html_table

ANSWERS, REPORT, CERTIFICATES = "answers.json", "report.html", "certificates"
UNNAMED = "Answers"
"""What a plan without a name is called."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class Answers(OfQuestions[Release[Any]]):
    """The answers to the questions of a plan, by name.

    Attributes:
        by_name: the answers.
        name: of the plan.
        division: how epsilon was divided, and what all cost together.
        account: the account that was charged, after it was; None without a ledger.
        before: which of the answers were stored before, and which charges had lost their answers.

    >>> import dpselect as dps
    >>> answers = dps.Plan.from_toml("examples/questions.toml").run()
    >>> answers["most_common_years"].value, answers.epsilon
    ([9, 10, 13], 1.0)
    """

    by_name: Mapping[str, Release[Any]]
    name: str
    division: Division
    account: Account | None
    before: Before = NOTHING

    def __repr__(self) -> str:
        return f"Answers({', '.join(self)}; epsilon={self.epsilon!r}, delta={self.delta!r})"

    def __str__(self) -> str:
        parts = [f"{name} ({release.asks})\n{release}" for name, release in self.items()]
        delta = f", delta = {cost_shown(self.delta)}" if self.delta else ""
        return "\n\n".join(
            [*parts, "\n".join([f"Together: epsilon = {cost_shown(self.epsilon)}{delta}.", *self.notes])]
        )

    @property
    def notes(self) -> list[str]:
        """From when answers that were stored before are; what was charged again."""
        stored = self.before.stored_sentence
        if stored and len(self.before.stored) == len(self):
            stored += " No row was read, and nothing was charged."
        return [*filter(None, (stored, self.before.charged_again))]

    def _repr_html_(self) -> str:
        rows = [(name, release.asks, str(release.value), release.accuracy) for name, release in self.items()]
        return html_table(("question", "asks", "answer", "accuracy"), rows)

    def to_dict(self) -> dict[str, Any]:
        """As plain Python values for JSON: the certificate of each answer, what they cost together, and the account."""
        return {
            "plan": self.name,
            "answers": {name: json.loads(release.to_json()) for name, release in self.items()},
            "epsilon": self.epsilon,
            "delta": self.delta,
            "account": None if self.account is None else self.account.to_dict(),
        }

    def report(self) -> str:
        """The answers as a page of HTML that needs nothing else: what was promised, asked, answered and spent.

        Numbers have a picture if the extra ``plots`` is installed.
        """
        about: dict[str, Any] = {"epsilon": self.epsilon, "delta": self.delta, "notes": self.notes}
        return page(self, title=self.name, account=self.account, **about)

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Write ``answers.json``, ``report.html``, and ``certificates/NAME.json`` for each question.

        Args:
            folder: where to; it is made if there is none. Answers to the plan of this name are replaced.

        Raises:
            InvalidParameterError: it cannot be written to, or holds files of these names that are of something else.
        """
        place = new_folder(folder, name=self.name, again=True)
        files = {place / ANSWERS: self.to_json()}  # first: it says whose the other files are
        files |= {place / CERTIFICATES / f"{name}.json": release.to_json() for name, release in self.items()}
        files[place / REPORT] = self.report()
        try:
            for path, text in files.items():
                path.write_text(text + "\n", encoding="utf-8")
        except OSError as failure:
            raise _unwritable(place, failure) from None


def new_folder(folder: str | os.PathLike[str], *, name: str, again: bool) -> Path:
    """A folder that can be written to, with the one for certificates in it.

    Args:
        folder: its path.
        name: of the plan.
        again: whether it may hold answers to this plan already.

    Raises:
        InvalidParameterError: it cannot be made or written to, or holds answers of another run, or files of the
            names that are written, without the ``answers.json`` of a plan of this name.
    """
    if not isinstance(cast(object, folder), str | os.PathLike) or "\0" in str(folder):
        raise InvalidParameterError("out", folder, "the path of a folder")
    place = Path(folder)
    expected = hint = ""
    if not again and (place / ANSWERS).exists():
        expected = "a folder without answers of another run"
        hint = "Without a ledger, asking again is another release, and costs as much again."
    elif not _may_replace(place, name):
        expected = f"a folder without {ANSWERS}, {REPORT} and {CERTIFICATES} of anything but the plan {name!r}"
        hint = "Nothing is overwritten. Name another."
    if expected:
        raise InvalidParameterError("out", Shown(repr(str(place))), expected, hint)
    try:
        (place / CERTIFICATES).mkdir(parents=True, exist_ok=True)
        probe = place / f".{ANSWERS}.new"
        probe.write_bytes(b"")
        probe.unlink()
    except OSError as failure:
        raise _unwritable(place, failure) from None
    return place


def _may_replace(place: Path, name: str) -> bool:
    """Whether the folder has none of the files that are written, or answers of the plan of this name."""
    try:
        return json.loads((place / ANSWERS).read_bytes())["plan"] == name
    except (FileNotFoundError, NotADirectoryError):
        return not ((place / REPORT).exists() or any((place / CERTIFICATES).glob("*")))
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return False


def _unwritable(place: Path, failure: OSError) -> InvalidParameterError:
    reason = f"{os.strerror(failure.errno)}." if failure.errno else ""
    return InvalidParameterError("out", Shown(repr(str(place))), "a folder that can be written to", reason)
