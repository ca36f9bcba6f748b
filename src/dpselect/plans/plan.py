"""A plan: questions about one table, with one budget for all of them."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from inspect import Parameter, signature
from pathlib import Path
from typing import Any, Literal, cast

from dpselect import public
from dpselect.checks import delta_below_one, positive_epsilon, text_of
from dpselect.errors import InvalidParameterError, RequestReusedError, Shown, typed
from dpselect.formats import WORDS, Format
from dpselect.ledger import Ledger
from dpselect.plans.answers import Answers, new_folder
from dpselect.plans.division import BUDGET_KEYS, PlanForecast, described, divided
from dpselect.privacy import EachRow, Neighbours, neighbouring_relation
from dpselect.session.answering import Spending, TableQuestion
from dpselect.session.asking import PlainQuestions, planner, rows_of
from dpselect.session.dataset import ASK, Dataset, DryRun, arguments_of, check_keys, reply


@contextmanager
def _in_words_of_a_plan() -> Generator[None]:
    """Call the source of a data set as a plan does, and say of a request id what it means here."""
    try:
        yield
    except RequestReusedError as error:
        expected = "the same question as when it was answered first, with the same epsilon"
        hint = "Nothing was charged. To ask something else, give the question, or the plan, another name."
        raise RequestReusedError("request", error.got, expected, hint) from None
    except InvalidParameterError as error:
        if error.name != "source":
            raise
        raise type(error)("table", error.got, error.expected, error.hint) from None


@dataclass(slots=True, kw_only=True, repr=False, eq=False)
class Plan:
    """Several questions about one table, with one budget that is divided among them before any row is read.

    Args:
        table: the source of the `dpselect.Dataset`: a path, a URL or a frame.
        unit: name of the column that identifies who is protected.
        epsilon: privacy loss of all answers together, > 0.
        questions: for each question its name, and a dictionary: ``"ask"`` names the method of `dpselect.Dataset`, and
            the other keys are its arguments. Lists may also be a range ``"1..100"`` or a public file ``"@pages.txt"``,
            ``"@codes.csv:code"``. A question says which part of the plan's epsilon it gets by one of: ``share``, such
            as 0.25; ``epsilon``; or ``within``, the largest error bound that is good enough, in the unit of its error.
            Questions that say nothing share what is left equally.
        delta: probability with which epsilon may fail, for all answers together, at least the sum of the questions'
            own deltas. If it is larger, many questions get more than their parts of epsilon (``docs/plans.md``).
        name: name of the plan, without which no account can be charged: each answer is stored under the id
            ``NAME/QUESTION``.
        ledger, account: as for the `dpselect.Dataset`.
        anchor: where the ledger notes its latest entries, see `dpselect.Ledger`.
        server_table: name of the table on a server, where `table` is a URL.
        format: a `dpselect.Format`, or a dictionary of its words.
        neighbours, memory_limit, source_name: as for the `dpselect.Dataset`.

    Raises:
        InvalidParameterError: a key is misspelt, missing or not of its type. The error names it.

    >>> plan = Plan(
    ...     table="examples/data/adult.csv",
    ...     unit="person_id",
    ...     epsilon=1.0,
    ...     questions={
    ...         "typical_age": {"ask": "median", "column": "age", "bounds": (0, 120), "step": 1, "within": 20},
    ...         "retired": {"ask": "count", "column": "age", "between": (65, 120)},
    ...     },
    ... )
    >>> plan.forecast()["typical_age"].error_bound <= 20, plan.run()["typical_age"].value
    (True, 37.0)
    """

    table: object
    unit: str | EachRow
    epsilon: float
    questions: Mapping[str, Mapping[str, Any]]
    delta: float = 0.0
    name: str | None = None
    ledger: Ledger | str | Path | None = None
    account: str | None = None
    anchor: str | Path | None = None
    server_table: str | None = None
    format: Format | Mapping[str, Any] | None = None
    neighbours: Neighbours | Literal["add_remove", "replace_one"] = Neighbours.ADD_REMOVE
    memory_limit: str | int | None = None
    source_name: str | None = None
    _folder: Path = field(default=Path(), init=False)
    _spending: Spending = field(init=False)

    def __post_init__(self) -> None:
        self.epsilon, self.delta = positive_epsilon(self.epsilon), delta_below_one(self.delta)
        self.questions, name = described(self.questions), cast(object, self.name)
        if name is not None and not (isinstance(name, str) and 0 < len(name) <= 100 and name.isprintable()):
            raise InvalidParameterError("name", name, "a printable text of 1 to 100 characters")
        if self.ledger is not None and self.name is None:
            hint = "Answers are stored under it, so that the same plan is answered again at no cost."
            raise InvalidParameterError("name", None, "a name of the plan, as an account is charged", hint)
        if self.anchor is not None and (self.ledger is None or isinstance(self.ledger, Ledger)):
            raise InvalidParameterError("anchor", Shown("<an anchor>"), "the URL of a ledger together with it")
        if self.ledger is not None and not isinstance(self.ledger, Ledger):
            self.ledger = Ledger(self.ledger, anchor=self.anchor)
        self._spending = Spending(self.ledger, self.account)
        self.neighbours = neighbouring_relation(self.neighbours)
        if isinstance(self.format, Mapping):  # else it is checked with the table
            check_keys(self.format, (each.name for each in WORDS), place="format", of="a format")
            self.format = Format(**self.format)

    @classmethod
    def from_toml(cls, path: str | os.PathLike[str]) -> Plan:
        """The plan in a file. Its keys are the arguments of `Plan`; each question is a table ``[questions.NAME]``.

        Paths in it start from its own folder. Without a `name`, the plan is called like the file.

        Raises:
            InvalidParameterError: there is no such file, or it is not such a plan. The error names the line or the key.

        >>> [*Plan.from_toml("examples/questions.toml").forecast()]
        ['typical_age', 'retired', 'years_of_school', 'most_common_years']
        """
        held, folder = _read_toml(path), Path(path).absolute().parent
        arguments = signature(cls).parameters
        check_keys(held, arguments, of="a plan")
        for key, each in arguments.items():
            if each.default is Parameter.empty and key not in held:
                raise InvalidParameterError(key, None, "a value, which every plan needs")
        held.setdefault("name", Path(path).stem)
        for key in ("table", "ledger", "anchor"):
            if isinstance(held.get(key), str):
                held[key] = _in_folder(held[key], folder)
            elif key in held:
                raise InvalidParameterError(key, held[key], "a text")
        plan = cls(**held)
        plan._folder = folder
        return plan

    def __repr__(self) -> str:
        return f"Plan(unit={self.unit!r}, epsilon={self.epsilon!r}, questions: {', '.join(self.questions)})"

    @_in_words_of_a_plan()
    def forecast(self) -> PlanForecast:
        """What each question would cost and how accurate it would be. Reads no row and charges nothing.

        Raises:
            InvalidParameterError: the questions need more than the plan has, or a wanted error cannot be reached.
        """
        dry = DryRun(source=self.table, **self._about)
        asked, cost = self._settled(planner(dry))
        made = dict(zip(asked, self._spending.forecasts([*asked.values()]), strict=True))
        stored = {name: each.answered_on for name, each in made.items() if each.answered_on}
        plain: dict[str, Any] = {"by_name": made, "stored": stored, "unchecked": dry.unchecked, **cost}
        return PlanForecast(budget=self.epsilon, budget_delta=self.delta, **plain)

    @_in_words_of_a_plan()
    def run(
        self, *, out: str | os.PathLike[str] | None = None, progress: Callable[[float], None] | None = None
    ) -> Answers:
        """The answers to all questions, asked as by `dpselect.Dataset.ask`.

        A run that is begun again, after an interruption or not, costs nothing for what was answered or not drawn.

        Args:
            out: a folder for ``answers.json``, the certificates and ``report.html``; see `Answers.save`.
            progress: as for the `dpselect.Dataset`; it is called for each question.

        Raises:
            InvalidParameterError: see `forecast`; or `out` cannot be written to, or holds answers of another run.
            RequestReusedError: a question of this name was asked before with other arguments.
            ChargeRefusedError, AnswerLostError, LedgerError: see `dpselect.Dataset`.
        """
        folder = None if out is None else new_folder(out, own=None if self.ledger is None else self.name)
        reading: dict[str, Any] = {"memory_limit": self.memory_limit, "source_name": self.source_name}
        data = Dataset(self.table, progress=progress, **reading, **self._about)
        asked, cost = self._settled(planner(data))
        days, _ = self._spending.stored([*asked.values()])
        stored = {name: day for name, day in zip(asked, days, strict=True) if day}
        by_name = dict(zip(asked, self._spending.answers([*asked.values()]), strict=True))
        name, account = self.name or "Answers", self._spending.held
        answers = Answers(by_name=by_name, name=name, stored=stored, account=account, **cost)
        if folder is not None:
            answers.save(folder)
        return answers

    @property
    def _about(self) -> dict[str, Any]:
        """What a data set and a dry run are both told of the table."""
        shared = {"unit": self.unit, "format": self.format, "neighbours": self.neighbours}
        return {**shared, "table": self.server_table}

    def _settled(self, table: PlainQuestions) -> tuple[dict[str, TableQuestion], dict[str, float]]:
        """What is asked, each question with its lists and its epsilon; and the epsilon and delta of all together."""
        questions = {name: self._with_lists(table, name) for name in self.questions}

        @cache
        def planned(name: str, epsilon: float) -> TableQuestion:
            given = {key: value for key, value in questions[name].items() if key not in (ASK, *BUDGET_KEYS)}
            given |= {"epsilon": epsilon, "request": None if self.ledger is None else f"{self.name}/{name}"}
            return reply(table, questions[name][ASK], given, f"questions.{name}")

        parts, epsilon, delta = divided(questions, planned, epsilon=self.epsilon, delta=self.delta)
        return {name: planned(name, parts[name]) for name in questions}, {"epsilon": epsilon, "delta": delta}

    def _with_lists(self, table: PlainQuestions, name: str) -> dict[str, Any]:
        """A question with lists in place of the texts that name them, none of which may come from the plan's table."""
        held, private = dict(self.questions[name]), self.table if isinstance(self.table, str) else ""
        for key, each in arguments_of(held[ASK]).items():
            text: object = held.get(key)
            if not each.names_members or not isinstance(text, str):
                continue
            place, written = f"questions.{name}.{key}", text
            if text.startswith("@"):
                written = "@" + _in_folder(text[1:], self._folder)
            elif not re.fullmatch(r"\s*[+-]?[0-9]+\s*\.\.\s*[+-]?[0-9]+\s*", text):
                expected = 'a list such as [1, 2, 3], a range "1..100" or the file "@list.txt"'
                raise InvalidParameterError(place, typed(text), expected)
            try:
                held[key] = public.value_of(each, [written], held, rows_of(table).candidate_kinds, private=private)
            except InvalidParameterError as error:
                if error.name != key:
                    raise
                hint = "" if "--" in error.hint else error.hint  # which would name an option of the command line
                hint = hint or 'Or list them: [1, 2] are numbers, and ["1", "2"] are texts.'
                raise type(error)(place, typed(text), error.expected, hint) from None
        return held


def _in_folder(path: str, folder: Path) -> str:
    """A path that is not absolute, from `folder`; what is absolute, or the URL of a server, stays as it is."""
    scheme, separator, rest = path.partition("sqlite:///")
    if separator and not scheme:
        return separator + str(folder / rest)
    return path if "://" in path else str(folder / path)


def _read_toml(path: str | os.PathLike[str]) -> dict[str, Any]:
    text = text_of(path, "plan", "a file in TOML", most=10)
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # also of too many digits, or brackets in brackets
        found = f"{error}. " if isinstance(error, tomllib.TOMLDecodeError) and len(str(error)) < 200 else ""
        hint = f"{found}Texts are in double quotes, and each question begins with [questions.its_name]."
        raise InvalidParameterError("plan", Shown(repr(str(path))), "a file in TOML", hint) from None
