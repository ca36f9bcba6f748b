"""A question as it is asked: of which rows and in which groups, with which numbers of units, for which guarantee.

A certificate holds its words. They are planned again without rows to check the certificate's cost and claims.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, cast

import numpy as np

from dpselect import mechanisms
from dpselect.accounting.events import ComposedEvent, SequenceEvent
from dpselect.arguments import OF_EVERY_QUESTION, OF_VIEWS, REQUIRED, Argument, arguments_of
from dpselect.checks import decimal_fraction, delta_below_one, fraction_down, fraction_up, positive_epsilon
from dpselect.errors import InvalidParameterError, Shown, wrong
from dpselect.privacy import Neighbours, neighbouring_relation
from dpselect.questions.question import BY_NAME, QUESTIONS, Columns, ListQuestion, Question, units_noise
from dpselect.questions.records import CONFIDENCE, Drawn, NoisyUnits, Planned, Words
from dpselect.summaries import CountsOf, PublicCandidates, PublicGroups, Scan, UnitsOf
from dpselect.summaries.candidates import as_date, members
from dpselect.summaries.scans import ends_of

_BESIDES = OF_EVERY_QUESTION[0], OF_VIEWS[-1]  # usable_epsilon, max_groups_per_unit


@dataclass(frozen=True, kw_only=True)
class Query:
    """A question with all that decides its cost and its claims.

    In groups it is asked of each. A unit affects the answers of the groups that it is in and no others, so all answers
    together cost as much as those of the most groups that a unit may be in. Two numbers of units have two-sided
    geometric noise and a cost of their own, if they do not come with the answer: of units with each candidate in the
    answer, counted once these are selected, and of units that the question could use. One unit changes each
    by at most 1.

    Proof: ``proofs/groups.md``; ``proofs/noisy_order.md``, claim 5; ``proofs/usable_units.md``.
    """

    question: Question  # of checked arguments
    alone: Question  # in one group, with all that decides its cost
    groups: PublicGroups | None = None  # None: all rows together
    where: Sequence[Words] = ()  # the conditions on rows
    counting: mechanisms.GeometricMechanism | None = None  # the noise of the answers' counts, if these are paid for
    usable: mechanisms.GeometricMechanism | None = None  # that of the number of usable units, if it is asked for
    facts: Mapping[str, Any] = field(default_factory=dict[str, Any])  # what had to be known of the columns' types

    @classmethod
    def planned(
        cls,
        question: Question,
        table: Any,
        *,
        neighbours: Neighbours | str,
        groups: PublicGroups | None = None,
        where: Sequence[Words] = (),
        usable_epsilon: float | None = None,
        stated: Mapping[str, Any] | None = None,
    ) -> Query:
        """The question, planned before any row is read: by a table's columns, or without a table as `stated`."""
        checks = ((each.name, each.check) for each in arguments_of(type(question)) if each.check is not None)
        question = replace(question, **{name: check(getattr(question, name), name) for name, check in checks})
        columns, shares = Columns(table, stated or {}), dict[str, Any]()
        if groups is not None:  # one of the groups has its share of epsilon and delta
            shares["epsilon"] = share = fraction_down(Fraction(question.epsilon) / groups.max_per_unit)
            if not share:
                expected = "a number large enough to be divided among the groups"
                raise InvalidParameterError("epsilon", question.epsilon, expected)
            if (delta := getattr(question, "delta", None)) is not None:
                shares["delta"] = fraction_down(Fraction(delta_below_one(delta)) / groups.max_per_unit)
        which = neighbours if isinstance(neighbours, Neighbours) else neighbouring_relation(neighbours)
        alone = replace(question, neighbours=which, **shares).known(columns)
        terms = alone.terms  # which refuses what is out of range
        if groups is not None and terms.neighbours is not Neighbours.ADD_REMOVE:
            hint = "A replaced unit may leave groups and join others, which would cost twice as much."
            raise InvalidParameterError("by", Shown(repr(groups.column)), "`neighbours='add_remove'` with groups", hint)
        asked = cls(question=question, alone=alone, groups=groups, where=where, facts=columns.facts)
        if getattr(question, "with_counts", False) and terms.counted is None:
            asked = replace(asked, counting=asked._noise_of_counts())
        return asked if usable_epsilon is None else replace(asked, usable=asked._noise_of_units(usable_epsilon))

    def _noise_of_counts(self) -> mechanisms.GeometricMechanism:
        alone, relation = cast("ListQuestion", self.alone), self.alone.terms.neighbours
        answers = alone.answers
        moved = relation.changed(min(answers, alone.max_values_per_unit or answers), answers)
        left = mechanisms.left_for_selection(self.question.epsilon)
        return units_noise(left, moved * self._most, relation, size=answers)

    def _noise_of_units(self, epsilon: float) -> mechanisms.GeometricMechanism:
        self.alone.check_usable(epsilon)
        terms, epsilon = self.terms, positive_epsilon(epsilon, "usable_epsilon")
        if not math.isfinite(fraction_up(Fraction(terms.epsilon) + Fraction(epsilon))):
            raise InvalidParameterError("usable_epsilon", epsilon, "a number whose sum with `epsilon` is finite")
        if terms.usable is not None:
            hint = "The answer comes with the number of units at no cost."
            raise InvalidParameterError("usable_epsilon", epsilon, "nothing, for this question and method", hint)
        return units_noise(epsilon, self._most, terms.neighbours, argument="usable_epsilon")

    @cached_property
    def _most(self) -> int:
        """In how many groups one unit takes part."""
        return 1 if self.groups is None else self.groups.max_per_unit

    @cached_property
    def terms(self) -> Planned:
        """What the certificate will contain; the error bound holds in each group.

        Its event is what the answers and all numbers cost together: to be charged before `released` is called.
        """
        terms = self.alone.terms
        if self.groups is not None:
            whole, most = self.question.epsilon, self._most
            terms = replace(
                terms,
                epsilon=positive_epsilon(whole if self.counting is None else mechanisms.left_for_selection(whole)),
                delta=fraction_up(Fraction(terms.delta) * most),
                proofs=(*terms.proofs, "proofs/groups.md"),
                groups={**self.groups.description(), "epsilon": terms.epsilon},
                event=ComposedEvent(event=terms.event, count=most) if most > 1 else terms.event,
            )
        extra = ("counted", self.counting, "proofs/noisy_order.md"), ("usable", self.usable, "proofs/usable_units.md")
        for part, noise, page in extra:
            if noise is not None:  # noisy numbers of units: in one group one for each answer, or one
                size = cast("ListQuestion", self.alone).answers if part == "counted" else 1
                within = noise.error_bound(CONFIDENCE, size=size)
                units = NoisyUnits(within=within, epsilon=noise.epsilon, answer_epsilon=terms.epsilon)
                whole = fraction_up(Fraction(terms.epsilon) + Fraction(noise.epsilon))
                event = SequenceEvent(events=(terms.event, noise.event))
                terms = replace(terms, epsilon=whole, proofs=(*terms.proofs, page), event=event, **{part: units})
        return terms

    def stated(self, *, column: str, unit: str) -> dict[str, Any]:
        """The fields of the terms, of this column and unit, with the question."""
        terms, conditions = self.terms, ["proofs/row_conditions.md"] if self.where else []
        about: dict[str, Any] = {each.name: getattr(terms, each.name) for each in fields(terms)}
        about |= {"column": column, "unit": unit, "question": self.words, "facts": self.facts}
        return about | {"proofs": (*terms.proofs, "proofs/exact_sampling.md", *conditions)}

    @property
    def undrawn(self) -> Any:
        """In place of the answer before it is drawn: nothing, of each group if there are groups."""
        return None if self.groups is None else dict.fromkeys(cast("Any", self.groups.names))

    @cached_property
    def scans(self) -> list[Scan]:
        """What is read of the rows, in each of the groups: first what is drawn from."""
        found: list[Scan] = [self.alone.scan]
        if self.counting is not None and not isinstance(found[0], CountsOf):
            found.append(cast("ListQuestion", self.alone).counts)
        if self.usable is not None:  # of a count between two ends any number
            found.append(UnitsOf(between=(None, None)) if isinstance(found[0], UnitsOf) else UnitsOf(found[0]))
        return found

    def released(self, found: Sequence[list[Any]], /) -> Drawn:
        """The answer of each group, then noisy counts of what was selected, then of usable units.

        Of each of the scans a summary of each group was `found`, or one of all rows.
        """
        parts = found[0]
        if len(parts) != (1 if self.groups is None else len(self.groups.names)):
            raise InvalidParameterError("summary", Shown("<summaries>"), "a summary for each group of the question")
        drawn = [self.alone.released(part) for part in parts]
        usable, counted = [each.usable for each in drawn], [each.counted for each in drawn]
        if self.counting is not None:
            counts = parts if isinstance(self.alone.scan, CountsOf) else found[1]
            exact = [of.totals[place] for each, of in zip(drawn, counts, strict=True) for place in each.places]
            noisy = iter(self.counting.draw_many(np.array(exact, np.int64)).tolist())
            is_list = self.alone.gives_list
            counted = [[next(noisy) for _ in each.places] if is_list else next(noisy) for each in drawn]
        if self.usable is not None:
            usable = self.usable.draw_many(np.array(found[-1], np.int64)).tolist()
        if self.groups is None:
            return Drawn(drawn[0].answer, usable[0], counted[0])
        of_each: list[Any] = [[each.answer for each in drawn], usable, counted]
        answers, usable, counted = (dict(zip(self.undrawn, each, strict=True)) for each in of_each)
        return Drawn(answers, usable, counted)

    @cached_property
    def words(self) -> Words:
        """What was asked, the same however it was written."""
        question = self.question
        found: Words = {}
        for each in arguments_of(type(question)):
            if (value := getattr(question, each.name)) is None:
                continue
            if each.kind == "prices":  # whole numbers as a list of candidates, others as they are
                value = [number_written(price) for price in cast(Any, self.alone).mechanism.prices]
                if all(type(price) is int for price in value):
                    value = PublicCandidates.given(value).words(whole=True)
            elif each.kind in ("list", "dates"):
                value = getattr(self.alone, each.name).words(whole=question.is_count)
            elif each.kind in _PARTS:
                value = [number_written(part) if (day := as_date(part)) is None else str(day) for part in value]
            elif not isinstance(value, bool | str):
                value = number_written(value)
            found[each.name] = value
        if self.usable is not None:
            found["usable_epsilon"] = number_written(self.usable.epsilon)
        if self.where:
            found["where"] = [*self.where]
        groups = self.groups
        if groups is not None:
            found["by"] = groups.by if isinstance(groups.by, str) else [*groups.by]
            found |= {"groups": groups.words(), "max_groups_per_unit": groups.max_per_unit}
        return {"ask": question.name, **found}

    @classmethod
    def again(
        cls, words: Words, *, neighbours: Neighbours, facts: Mapping[str, Any], groups: Sequence[Any] | None
    ) -> Query:
        """The question that the words of a certificate describe, without a table.

        The names of the groups are those that the answer has, as `words` may state no more than their hash.
        """
        try:
            kind = QUESTIONS[words["ask"]]
        except (KeyError, TypeError):  # nothing is asked, or nothing that has such a name
            raise wrong("question.ask", f"one of {', '.join(BY_NAME)}") from None
        rest = {name: value for name, value in words.items() if name not in ("ask", "where", "by", "groups")}
        where: Any = words.get("where")
        if "where" in words and not (isinstance(where, list) and where):
            raise wrong("question.where", "a list of conditions")
        given = _arguments(rest, (*arguments_of(kind), *_BESIDES))
        usable, most = (given.pop(each.name, each.default) for each in _BESIDES)
        return cls.planned(
            kind(**given),
            None,
            stated=facts,
            neighbours=neighbours,
            groups=None if groups is None else PublicGroups.given(words.get("by"), groups, most),
            where=[*map(_condition, cast("list[Any]", where or []))],
            usable_epsilon=usable,
        )


def _condition(held: Any) -> Words:
    match held:
        case {"column": str(column), "values": values} if column and len(held) == 2:
            listed = PublicCandidates.given(members(values, "question.where"))
            return {"column": column, "values": listed.words(whole=True)}
        case {"column": str(column), "between": [first, last]} if column and len(held) == 2:
            known = [each for each in (first, last) if each is not None]
            if known and all(type(each) in (int, float) for each in known):
                return {"column": column, "between": [*ends_of((first, last))]}
        case _:
            pass  # said below
    raise wrong("question.where", "conditions, each of a column: two ends, at most one of them null, or values")


_PARTS = dict.fromkeys(("bounds", "levels", "prices"), "number") | {"numbers or dates": "either", "ends": "text"}
"""The kinds of argument that have several parts, and the kind of each: `either` is a number or a date."""

_FRACTION = re.compile(r"-?[0-9]{1,1000}/[1-9][0-9]{0,1000}", re.ASCII)


def number_written(value: Any) -> int | float | str:
    """A number: as JSON has it where that is exactly what the caller means, else as a fraction."""
    if type(value) is int and abs(value) < 10**40:
        return value
    if type(value) is float:  # from 2^52 on all are whole, and stay as they are: see `whole_or_double_bounds`
        return int(value) if value.is_integer() and abs(value) < 2**52 else value
    exact = decimal_fraction(value, "number", expected="a finite number")
    if exact.denominator == 1 and abs(exact) < 10**40:
        return int(exact)
    nearest = float(exact)
    return nearest if Fraction(repr(nearest)) == exact else str(exact)


def _arguments(words: Words, arguments: Iterable[Argument]) -> Words:
    """The arguments that `words` describe. An error names the one that is missing, unknown or of another type."""
    known = {each.name: each for each in arguments}
    if unknown := words.keys() - known.keys():
        shown = min(unknown)
        name = f"question.{shown}" if len(shown) <= 60 and shown.isidentifier() else "question"
        raise wrong(name, f"one of the arguments {', '.join(known)}")
    found: Words = {}
    for name, each in known.items():
        if name in words:
            found[name] = _read(words[name], each.kind, f"question.{name}")
        elif each.default is REQUIRED:
            raise wrong(f"question.{name}", "a value")
    return found


def _read(held: object, kind: object, name: str) -> Any:
    """What `Query.words` wrote; whether it was is found out when it is written again."""
    if kind in ("list", "values", "dates") or (kind == "prices" and isinstance(held, dict)):
        return members(cast("object", held), name)
    if kind in _PARTS:
        if not isinstance(held, list):
            raise wrong(name, "a list")
        return tuple(_read(each, _PARTS[cast("str", kind)], name) for each in cast("list[object]", held))
    if kind in ("number", "exact", "either"):
        if isinstance(held, str) and _FRACTION.fullmatch(held):
            return Fraction(held)
        if type(held) in (int, float) or (kind == "either" and as_date(held) is not None):
            return held
        raise wrong(name, "a number")
    types = {"whole": (int, "a whole number"), "flag": (bool, "true or false")}
    type_, expected = types.get(cast("str", kind), (str, "a text"))
    if type(held) is not type_ or held == "":
        raise wrong(name, expected)
    return held
