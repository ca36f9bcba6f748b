"""Which questions of a plan are drawn by the exponential mechanism, because that composes better.

At the same epsilon permute-and-flip has the smaller error. But the privacy loss of the exponential mechanism has a
bounded range, so that within a delta many questions may get more epsilon each. What is better follows from public facts
alone: how many questions there are, how many candidates they have, and the plan's epsilon and delta.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from dpselect.errors import InvalidParameterError
from dpselect.mechanisms import PermuteAndFlip
from dpselect.plans.division import Charge, Division, Price, delta_left, divided
from dpselect.plans.planned_question import PlannedQuestion
from dpselect.questions.drawn_by import EXPONENTIAL
from dpselect.session.described import arguments_of

_MOST_NAMES = 3
"""That a sentence lists; the table of a dry run has all of them."""


def divided_by_draws(
    questions: Sequence[PlannedQuestion], price: Price, charge: Charge, *, epsilon: float, delta: float
) -> tuple[list[PlannedQuestion], Division]:
    """The questions with the method that draws each, and how epsilon is divided among them; see `divided`.

    A question that permute-and-flip would draw is drawn by the exponential mechanism if the parts that all get then
    make no error larger and one smaller; of several such choices that with the smallest product of all errors. If no
    part may grow, that by which they cost the least together. A question with an epsilon of its own is left as it is,
    and so is one that states its `method`.

    Raises:
        InvalidParameterError: see `divided`.
    """
    plain, refused = None, None
    try:
        plain = divided(questions, price, charge, epsilon=epsilon, delta=delta)
    except InvalidParameterError as error:
        refused = error
    others = _exchangeable(questions, price, epsilon) if delta_left(questions, charge, epsilon, delta) > 0 else {}
    best: tuple[float, list[PlannedQuestion], Division] | None = None
    first = plain
    for names in _sets(others):
        asked = [others[each.name][0] if each.name in names else each for each in questions]
        try:
            found = divided(asked, price, charge, epsilon=epsilon, delta=delta)
        except InvalidParameterError:
            continue
        if not found.is_composed:
            continue
        first = first or found
        ratios = [*_ratios(questions, asked, price, first, found)]
        gain = sum(map(math.log, ratios)) if ratios else math.log(found.epsilon / first.epsilon)
        is_better = plain is None or (max(ratios, default=1.0) <= 1.0 and gain < 0.0)
        if is_better and (best is None or gain < best[0]):
            best = gain, asked, found
    if best is not None:
        _, asked, found = best
        reason = _reason(questions, asked, plain, found)
        return asked, replace(found, reason=reason)
    if plain is None:
        assert refused is not None
        raise refused
    if others:
        stays = (
            f"Permute-and-flip draws {_listed([*others])}: within this delta the exponential mechanism would not err"
        )
        plain = replace(plain, reason=f"{stays} less.")
    return [*questions], plain


def _exchangeable(
    questions: Sequence[PlannedQuestion], price: Price, epsilon: float
) -> dict[str, tuple[PlannedQuestion, float]]:
    """The questions that either mechanism can draw, as the exponential one would, with how many times its error is."""
    found: dict[str, tuple[PlannedQuestion, float]] = {}
    for each in questions:
        terms = price(each, epsilon)
        is_fixed = each.epsilon is not None or each.arguments.get("method") is not None
        if is_fixed or terms.mechanism != PermuteAndFlip.__name__ or "method" not in arguments_of(each.method):
            continue
        other = replace(each, arguments={**each.arguments, "method": EXPONENTIAL})
        try:
            bound = price(other, epsilon).error_bound
        except InvalidParameterError:  # another argument decides what draws
            continue
        if bound and terms.error_bound and math.isfinite(bound):
            found[each.name] = other, bound / terms.error_bound
    return found


def _sets(others: Mapping[str, tuple[PlannedQuestion, float]]) -> Iterator[set[str]]:
    """The sets of questions to compare: those for which the exponential mechanism has the least to make up for first.

    For two candidates its error is larger by a sixth at the same epsilon, for many by nearly nothing.
    """
    levels = sorted({round(ratio, 2) for _, ratio in others.values()}, reverse=True)
    for level in levels:
        yield {name for name, (_, ratio) in others.items() if round(ratio, 2) <= level}


def _ratios(
    questions: Sequence[PlannedQuestion],
    asked: Sequence[PlannedQuestion],
    price: Price,
    plain: Division,
    found: Division,
) -> Iterator[float]:
    """Of each question whose part may grow: its error in `found` over that in `plain`."""
    for before, after in zip(questions, asked, strict=True):
        if before.epsilon is not None or before.within is not None:
            continue
        old, new = plain.epsilons[before.name], found.epsilons[after.name]
        if before is after:  # errors are proportional to 1/epsilon, and not all have a bound
            yield old / new
        else:
            yield (price(after, new).error_bound or 0.0) / (price(before, old).error_bound or math.inf)


def _reason(
    questions: Sequence[PlannedQuestion], asked: Sequence[PlannedQuestion], plain: Division | None, found: Division
) -> str:
    names = [after.name for before, after in zip(questions, asked, strict=True) if before is not after]
    said = f"The plan has {_listed(names)} drawn by the exponential mechanism"
    if plain is None:
        return f"{said}: with permute-and-flip they would need more than the plan has."
    free = [each.name for each in questions if each.epsilon is None and each.within is None]
    if not free:
        return f"{said}: within this delta all then cost less together, for the same errors."
    factor = min(found.epsilons[name] / plain.epsilons[name] for name in free)
    return f"{said}: within this delta each question then gets {factor:.3g} times the epsilon, and errors are smaller."


def _listed(names: Sequence[str]) -> str:
    if len(names) > _MOST_NAMES:
        return f"{len(names)} of the questions"
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))
