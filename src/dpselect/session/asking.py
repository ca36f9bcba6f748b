"""The base of all questions: the rows they are about, the account they charge, and the neighbouring relation."""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any, Generic, cast, get_args, get_origin

from dpselect.errors import InvalidCandidatesError, Shown
from dpselect.ledger.question_identity import QuestionIdentity
from dpselect.privacy import Neighbours
from dpselect.questions import Grouped, Question
from dpselect.questions.question import Priced
from dpselect.questions.usable import with_usable
from dpselect.session.rows import Rows
from dpselect.session.spending import Payer, Reply
from dpselect.summaries import DistantCandidates, PublicCandidates, PublicGroups


class Asking(Generic[Reply]):
    """The two families of questions are subclasses of this one, and a `dpselect.Dataset` inherits from both.

    A question is a method of two steps: it reads its public arguments, and lets `_ask` plan the question and answer it.
    """

    __slots__ = ("_neighbours", "_rows", "_spending")

    def __init_subclass__(cls) -> None:
        """Give a class with one type of reply its own questions.

        `help` then names the class and the type, and so do Python's errors about missing arguments.
        """
        super().__init_subclass__()
        bases: tuple[Any, ...] = vars(cls).get("__orig_bases__", ())
        for base in bases:
            reply: object = get_args(base)[0]
            if not isinstance(reply, type):  # a family, whose own type of reply is still open
                return
            methods: dict[str, object] = dict(vars(cast("type[Any]", get_origin(base))))
            for name, method in methods.items():
                if isinstance(method, FunctionType) and not name.startswith("_") and name not in vars(cls):
                    setattr(cls, name, _method_of(cls, method, reply))

    _neighbours: Neighbours
    _rows: Rows
    _spending: Payer[Reply]

    def _ask(
        self,
        column: str,
        planned: Callable[..., Question[Any]],
        epsilon: float,
        groups: PublicGroups | None,
        request: str | None,
        usable_epsilon: float | None,
    ) -> Reply:
        """The answer to the question that `planned` makes for an epsilon, for each of the `groups` if there are any."""
        question: Priced[Any]
        if groups is None:
            question = planned(epsilon=epsilon, neighbours=self._neighbours)
        else:
            of_one = planned(epsilon=groups.share(epsilon), neighbours=self._neighbours)
            question = Grouped[Any].planned(of_one, groups, epsilon=epsilon)
            self._rows.check(groups.column, argument="by")
            self._rows.check_compared(groups.members, argument="groups")
        question = with_usable(question, usable_epsilon)
        rows = self._rows.of(column)  # a column that is not there is refused before anything is charged
        format = {} if self._rows.format is None else self._rows.format.words
        identity = QuestionIdentity(
            question.terms.task,
            self._rows.origin,
            self._rows.unit,
            column,
            question.identity,
            format=format,
            named=self._rows.named,
        )
        return self._spending.answer(question, lambda: question.read(rows), identity, request)

    def _candidates(
        self, given: object, groups: PublicGroups | None, *, allow_many: bool
    ) -> PublicCandidates | DistantCandidates:
        """The public candidates: listed locally, or without groups in a frame of the table's own engine."""
        public = self._rows.candidates(given, allow_many=allow_many)
        if groups is not None and isinstance(public, DistantCandidates):
            hint = "Ask without groups, or give a list that is short enough to be fetched."
            got = Shown(f"<{len(public):,} {public.kind}>")
            raise InvalidCandidatesError("candidates", got, "a local list", hint)
        return public


def _method_of(owner: type, method: FunctionType, reply: type) -> FunctionType:
    """A copy of `method` that belongs to `owner` and is annotated with its type of reply."""
    own = FunctionType(method.__code__, method.__globals__, method.__name__, method.__defaults__, method.__closure__)
    own.__doc__, own.__module__, own.__kwdefaults__ = method.__doc__, method.__module__, method.__kwdefaults__
    own.__annotations__ = method.__annotations__ | {"return": reply}
    own.__qualname__ = f"{owner.__name__}.{method.__name__}"
    return own
