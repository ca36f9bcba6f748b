"""How a question is asked of a table: by a method made from what it declares. `answering` does the rest.

`asking.pyi` states the methods for type checkers and editors; ``make readme`` writes it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from inspect import Parameter, Signature, cleandoc
from textwrap import fill
from typing import TYPE_CHECKING, Any, Self, cast

from dpselect.arguments import IN_PYTHON, OF_EVERY_QUESTION, OF_VIEWS, REQUIRED, Argument, arguments_of
from dpselect.checks import OTHER_WORDS, did_you_mean, words_meant
from dpselect.errors import InvalidParameterError, typed
from dpselect.privacy import Neighbours
from dpselect.questions.query import Query
from dpselect.questions.question import BY_NAME, Question
from dpselect.rows.table import Rows
from dpselect.session.answering import TableQuestion
from dpselect.summaries import PublicGroups


class _MethodOnUse:
    """In place of a method, which is made when it is first looked up: most programs ask few of the questions."""

    def __init__(self, family: type[Any], name: str, **how: Any) -> None:
        self._family, self._name, self._how = family, name, how

    def __get__(self, asked: Asking | None, owner: type[Any]) -> Any:
        method: Any = method_of(BY_NAME[self._name], **self._how)
        setattr(self._family, self._name, method)
        return method.__get__(asked, owner)


class Asking:
    """A table, for those who may see nothing but private answers about it; each family has a method for each question.

    Of a family, `of` is what errors call it, and `returns` what the methods return: see `method_of`.
    """

    __slots__ = ("_groups", "_neighbours", "_reply", "_rows")

    _groups: PublicGroups | None
    _neighbours: Neighbours
    _reply: Callable[[list[TableQuestion]], list[Any]]
    _rows: Rows

    def __init_subclass__(cls, *, of: str = "Dataset", returns: str = "Release[{value}]") -> None:
        for name in BY_NAME if Asking in cls.__bases__ else ():  # others inherit them
            setattr(cls, name, _MethodOnUse(cls, name, of=of, returns=returns))

    if not TYPE_CHECKING:  # to whom every name would be known

        def __getattr__(self, name: str) -> Any:
            known = [] if name.startswith("_") else [each for each in dir(self) if not each.startswith("_")]
            text = f"{type(self).__name__!r} object has no attribute {name!r}"
            hint = did_you_mean(name, known, said=OTHER_WORDS)
            raise AttributeError(f"{text}. {hint}" if hint else text, obj=self)  # Python guesses, too, if it has a name

    def by(self, by: str | Sequence[str], *, groups: object = None, max_groups_per_unit: int = 1) -> Any:
        """The same table, of which every question is answered for each of several groups.

        Together the answers of a question cost its `epsilon`, and the value of its release is a dictionary with an
        answer for each group.

        Args:
            by: name of the column with the group of each row; or names of 2 to 4 columns, for a cross table.
            groups: the public list of groups, given like candidates; rows of other groups, or of none, are left out.
                Of a cross table, tuples with a value for each column.
            max_groups_per_unit: in how many groups one unit takes part, at random; each is asked with `epsilon` divided
                by this number.

        Raises:
            InvalidCandidatesError: the groups are no such list.
            InvalidDataError: there is no such column, or groups of this kind cannot match it.

        Proof: ``proofs/groups.md``.

        >>> import dpselect as dps
        >>> people = dps.Dataset("examples/data/adult.csv", unit="person_id")
        >>> graduates = people.by("education_num", groups=[13, 14])
        >>> [*graduates.median("age", bounds=(0, 120), step=1, epsilon=1.0).value]
        [13, 14]
        """
        if self._groups is not None:
            raise InvalidParameterError("by", typed(by), "a table that is not asked by groups already")
        found = PublicGroups.given(by, groups, max_groups_per_unit)
        for name, listed in zip(found.columns, found.listed, strict=True):
            self._rows.check_listed(self._rows.check(name, argument="by"), listed, argument="groups")
        return self._seen(GroupedQuestions, _groups=found)

    def where(self, conditions: Mapping[str, Any] | None = None, /, **named: Any) -> Self:
        """The same table, of which only those rows are looked at that meet public conditions.

        Each row is judged by itself, before contributions are bounded. The conditions are part of the certificate.
        Several views nest: a row has to meet all conditions.

        Args:
            conditions: conditions on columns whose names are no names in Python.
            named: for a column either the two ends of an interval, both included, as a tuple, one of which may be None:
                ``age=(18, None)``; or a list of values, given like candidates: ``region=["north", "south"]``. Of dates
                both ends are needed. Public: never chosen by looking at the rows.

        Raises:
            InvalidDataError: there is no such column, or its type cannot meet the condition.
            InvalidParameterError: there is no condition, or it is not one of these.

        Proof: ``proofs/row_conditions.md``.

        >>> import dpselect as dps
        >>> people = dps.Dataset("examples/data/adult.csv", unit="person_id")
        >>> old = people.where(age=(65, None), education_num=[13, 14, 15, 16])
        >>> abs(old.count(epsilon=1.0).value - 317) < 30  # 317 in truth
        True
        """
        if conditions is not None and not isinstance(cast(object, conditions), Mapping):
            raise InvalidParameterError("where", typed(conditions), "a condition for each column: age=(18, 65)")
        both = {**({} if conditions is None else conditions), **named}
        return self._seen(type(self), _rows=self._rows.filtered(both))

    def _seen(self, view: type[Any], **changes: Any) -> Any:
        """The same table, seen in another way."""
        seen = object.__new__(view)
        for slot in (name for each in view.__mro__ for name in getattr(each, "__slots__", ())):
            object.__setattr__(seen, slot, changes[slot] if slot in changes else getattr(self, slot))
        return seen

    def _answer(self, question: Question, usable_epsilon: float | None, request: str | None) -> Any:
        """The reply to a question, planned as it will be asked of the rows."""
        asked = Query.planned(
            question,
            self._rows,
            neighbours=self._neighbours,
            groups=self._groups,
            where=[each.words for each in self._rows.conditions],
            usable_epsilon=usable_epsilon,
        )
        table = self._rows
        # What is not there is refused before anything is charged.
        lookups = [table.lookup(question.column, scan, self._groups) for scan in asked.scans]
        words = None if table.format is None else table.format.words or None
        about: dict[str, Any] = {"origin": table.origin, "format": words, "named": table.named}
        about |= {"unit": table.unit, "column": lookups[0].column.shown}
        planned = TableQuestion(asked=asked, lookups=lookups, read=table.answers, request=request, **about)
        return self._reply([planned])[0]


class PlainQuestions(Asking):
    """The questions of a table."""

    __slots__ = ()


class GroupedQuestions(Asking, returns="Release[dict[Any, {value}]]"):
    """The questions of a table, answered for each of several groups: see `dpselect.Dataset.by`."""

    __slots__ = ()


def rows_of(asked: Asking) -> Rows:
    """The rows that questions are asked of, for what else looks at them."""
    return asked._rows  # pyright: ignore[reportPrivateUsage] - of this module


def groups_of(asked: Asking) -> PublicGroups | None:
    """The groups that it is asked by."""
    return asked._groups  # pyright: ignore[reportPrivateUsage] - of this module


def planner(asked: Asking) -> PlainQuestions:
    """The same table, whose questions are planned and not answered: each method returns a `TableQuestion`."""
    return asked._seen(PlainQuestions, _reply=list)  # pyright: ignore[reportPrivateUsage] - of this module


_RAISES = """\
Raises:
    InvalidCandidatesError: a public list is missing or invalid.
    InvalidDataError: there is no such column, or its type does not fit.
    InvalidParameterError: another argument is invalid. Nothing is read, charged or drawn then.
"""


def method_of(question: type[Question], *, of: str, returns: str) -> Callable[..., Any]:
    """The method that asks a question: it makes the question of its arguments, and has it answered.

    It is one of the class that errors call `of`; `returns` has ``{value}`` for the type of the answer.
    """
    signature = signature_of(question, returns=returns)
    lists: dict[str, Any] = {each.name: None for each in arguments_of(question) if each.is_list}

    def method(self: Asking, *args: Any, **given: Any) -> Any:
        try:
            arguments = signature.bind(self, *args, **lists | given).arguments
        except TypeError as error:
            said = _unexpected(question, given, signature) or str(error)
            start = "" if said.startswith(("got", "missing")) else "got "
            raise TypeError(f"{of}.{question.name}() {start}{said}") from None
        del arguments["self"]
        besides = arguments.pop("usable_epsilon", None), arguments.pop("request", None)
        return self._answer(question(**arguments), *besides)  # pyright: ignore[reportPrivateUsage] - of its own class

    method.__name__, method.__qualname__, method.__doc__ = question.name, f"{of}.{question.name}", doc_of(question)
    vars(method)["__signature__"] = signature
    return method


def _unexpected(question: type[Question], given: Mapping[str, Any], signature: Signature) -> str:
    """What is wrong with the first argument that the question does not have, and what may be meant; empty if none."""
    unknown = next((name for name in given if name not in signature.parameters), None)
    if unknown is None:
        return ""
    views, of_others = [each.name for each in OF_VIEWS], ("max_rows_per_unit", "max_values_per_unit")
    if unknown in views or (unknown not in of_others and words_meant(unknown, views, said=OTHER_WORDS)):
        hint = f"Say it first: data.by('city', groups=[...]) or data.where(age=(18, None)), then .{question.name}(...)"
    else:
        hint = did_you_mean(unknown, [*signature.parameters][1:], said=OTHER_WORDS)
    return f"got an unexpected keyword argument {unknown!r}{'. ' * bool(hint)}{hint}"


def signature_of(question: type[Question], *, returns: str = "") -> Signature:
    """What the method takes: first what may be given without its name."""
    first = ("column", *question.positional)
    parameters = [Parameter("self", Parameter.POSITIONAL_OR_KEYWORD)]
    for each in (*_in_order(question), *OF_EVERY_QUESTION):
        kind = Parameter.POSITIONAL_OR_KEYWORD if each.name in first else Parameter.KEYWORD_ONLY
        default = Parameter.empty if each.default is REQUIRED else each.default
        parameters.append(Parameter(each.name, kind, default=default, annotation=each.type))
    return Signature(parameters, return_annotation=returns.format(value=question.value))


def _in_order(question: type[Question]) -> list[Argument]:
    """Its arguments, first those that may be given without their names."""
    first = ("column", *question.positional)
    return sorted(arguments_of(question), key=lambda each: first.index(each.name) if each.name in first else len(first))


def doc_of(question: type[Question]) -> str:
    """Its docstring, with its arguments before what is returned, and the table before its example."""
    asked, _, rest = cleandoc(question.__doc__ or "").partition("Returns:\n")
    returned, _, proof = rest.partition("Proof:")
    told = [f"{each.name}: {in_python(each.help)}" for each in (*_in_order(question), *OF_EVERY_QUESTION)]
    listed = "\n".join(fill(each, 116, initial_indent=" " * 4, subsequent_indent=" " * 8) for each in told)
    value = " ".join(returned.split())
    value = f"A release; its value: {value[:1].lower()}{value[1:]}" if value else "A release."
    value = fill(value, 116, initial_indent=" " * 4, subsequent_indent=" " * 4)
    proof = proof.replace(">>> ", f"{table_of_example(question)}>>> ", 1)
    return f"{asked}Args:\n{listed}\n\nReturns:\n{value}\n\n{_RAISES}\nProof:{proof}"


def table_of_example(question: type[Question]) -> str:
    """How the example in its docstring starts: with `data`, the table of its example on the command line."""
    table, unit = question.example[0].split()[0], question.example[1].split()[1]
    return f'>>> import dpselect as dps\n>>> data = dps.Dataset("examples/data/{table}", unit="{unit}")\n'


_OPTION, _PLACEHOLDER = re.compile(r"--([a-z]+(?:-[a-z]+)*)"), re.compile(r"\b(COLUMN|SUM|LEVEL|K)\b")


def in_python(help: str) -> str:
    """An explanation with the names of arguments and the lists as Python has them."""
    for written, taken in IN_PYTHON.items():
        help = help.replace(written, taken)
    named = _OPTION.sub(lambda found: f"`{found[1].replace('-', '_')}`", help)
    return _PLACEHOLDER.sub(lambda found: f"`{found[1].lower()}`", named)
