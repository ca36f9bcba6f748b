"""A question is data: a frozen class whose fields are its public arguments. All else follows from them.

To add a question, declare a class in one of the files of `FAMILIES`, and name it there: its fields, what it asks in
everyday words, an example, and how it is planned. Its method of `dpselect.Dataset` and `dpselect.DryRun`, its command,
its form, the keys of a plan and its row in the documents are derived.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypedDict, Unpack, dataclass_transform

from dpselect.privacy import Neighbours
from dpselect.questions.arguments import Argument, Epsilon, arguments_of
from dpselect.questions.question import Question as Planned

if TYPE_CHECKING:
    from dpselect.summaries import CandidateKind, DistantCandidates, PublicCandidates

FAMILIES = {
    "counts": "count histogram",
    "values": "values",
    "selection": "most_common least_common best_date",
    "top_k": "top_k",
    "sums": "sum best_by",
    "statistics": "median quantile quantiles upper_bound mean variance density",
    "prices": "best_price",
}
"""The modules that declare questions, and which, in the order in which people meet them."""


class Price(TypedDict):
    """What a planned question costs, besides a delta that it names itself, and which tables its guarantee compares."""

    epsilon: float
    neighbours: Neighbours


class Columns(Protocol):
    """What a question may know of a table before it is read: public facts about its columns."""

    def is_whole(self, column: str, /) -> bool:
        """Whether the type of a column of numbers is an integer type; other columns are refused."""
        ...

    def name_kind(self, column: str, given: object, /) -> CandidateKind:
        """The kind in which unknown values are read."""
        ...

    def candidates(self, given: object, /, *, are_counted: bool) -> PublicCandidates | DistantCandidates:
        """The public candidates; those of another table of the engine only if they need not be counted."""
        ...

    def listed(self, given: object, /) -> PublicCandidates:
        """The public candidates of a question that always counts them: never those of another table."""
        ...

    def check_compared(self, members: PublicCandidates, /, *, argument: str = ...) -> None:
        """Refuse members that the format of the table makes the same."""
        ...


@dataclass_transform(kw_only_default=True, frozen_default=True)
@dataclass(frozen=True, kw_only=True)
class Question:
    """A question, of checked arguments. Its docstring says what it asks, what is returned, and where that is proved.

    Raises:
        InvalidParameterError: an argument is invalid.
    """

    if TYPE_CHECKING:  # declared by each, in its place among the others
        column: Any
        epsilon: Epsilon

    name: ClassVar[str]
    """Its name as a method, a command and in plans."""

    asks: ClassVar[str]
    """It in everyday words."""

    does: ClassVar[str]
    """What its command does, in one or two sentences."""

    example: ClassVar[tuple[str, str]]
    """Arguments that work with the files of the examples: those without a name, then the options."""

    also: ClassVar[tuple[tuple[str, tuple[str, str]], ...]] = ()
    """Other questions that it answers, each in everyday words and with an example."""

    positional: ClassVar[tuple[str, ...]] = ()
    """Arguments that may be given without their names, after the column."""

    value: ClassVar[str] = "Any"
    """The type of its value, as a stub writes it."""

    page: ClassVar[str] = ""
    """Name of its page in ``docs/tasks``; by default its own name."""

    needs_several: ClassVar[bool] = True
    """Whether a list of one candidate leaves nothing to ask."""

    def __init_subclass__(cls, *, name: str = "", **options: Any) -> None:
        super().__init_subclass__(**options)
        dataclass(frozen=True, kw_only=True)(cls)
        if name:
            cls.name, cls.page = name, vars(cls).get("page", name)

    @classmethod
    def argument(cls, name: str) -> Argument:
        """The argument of this name."""
        return next(each for each in arguments_of(cls) if each.name == name)

    @classmethod
    def options(cls) -> tuple[Argument, ...]:
        """The arguments that a command takes with their names."""
        first = ("column", *cls.positional)
        return tuple(each for each in arguments_of(cls) if each.name not in first)

    @classmethod
    def chooses(cls) -> bool:
        """Whether there may be a public list of candidates."""
        return any(each.kind == "list" for each in arguments_of(cls))

    def check_usable(self, usable_epsilon: object, /) -> None:
        """Refuse an epsilon for the number of usable units where that number says nothing more."""

    keeps_list: ClassVar[bool] = False
    """Whether a certificate writes all candidates down, however many: they name the numbers in the answer."""

    def lists(self, planned: Any, /) -> dict[str, Any]:
        """Its public lists in words, by the name of the argument, once it is planned."""
        names = [each.name for each in arguments_of(type(self)) if each.kind in ("list", "dates")]
        given = [name for name in names if getattr(self, name) is not None]
        return {name: planned.choices.words(whole=self.keeps_list) for name in given}

    def planned(self, columns: Columns, /, **price: Unpack[Price]) -> Planned[Any]:
        """The question, planned before any row is read."""
        raise NotImplementedError

    def known(self, columns: Columns, neighbours: Neighbours, /) -> Planned[Any]:
        """The question with all that decides its cost: its lists read, and what the table tells of its columns.

        Args:
            columns: of the table; no row is read.
            neighbours: which tables the guarantee compares.

        Raises:
            SelectionError: an argument is invalid, or does not fit the column.
        """
        return self.planned(columns, epsilon=self.epsilon, neighbours=neighbours)


@dataclass_transform(kw_only_default=True, frozen_default=True)
class Complete(Question, Planned[Any]):
    """A declared question that also says what it reads, what draws, and how accurate it is."""

    neighbours: Neighbours = Neighbours.ADD_REMOVE


_FAMILY_OF = {name: family for family, names in FAMILIES.items() for name in names.split()}


class _Questions(Mapping[str, type[Question]]):
    """The questions by name; the file of each is imported when it is first looked up."""

    def __getitem__(self, name: str) -> type[Question]:
        return declared_in(_FAMILY_OF[name])[name]

    def __contains__(self, name: object) -> bool:
        return name in _FAMILY_OF

    def __iter__(self) -> Iterator[str]:
        return iter(_FAMILY_OF)

    def __len__(self) -> int:
        return len(_FAMILY_OF)


@cache
def declared_in(family: str) -> dict[str, type[Question]]:
    """The questions that a file declares."""
    known = vars(import_module(f"dpselect.questions.{family}")).values()
    classes = [each for each in known if inspect.isclass(each) and issubclass(each, Question) and "name" in vars(each)]
    return {each.name: each for each in classes}


BY_NAME: Mapping[str, type[Question]] = _Questions()
"""The questions of a table, by the name of their method."""


def named(name: object) -> type[Question] | None:
    """The question of this name, also if it is one about arrays; None: there is none."""
    if name == "best_features":
        return declared_in("features")["best_features"]
    return BY_NAME[name] if isinstance(name, str) and name in BY_NAME else None
