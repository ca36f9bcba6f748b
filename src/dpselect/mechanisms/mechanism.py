"""What all mechanisms have in common as values: arguments explained and checked once, and how they select."""

from __future__ import annotations

import abc
import math
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import Field, dataclass, field, fields
from fractions import Fraction
from functools import partial
from inspect import cleandoc
from textwrap import fill
from types import FunctionType
from typing import Any, ClassVar, Literal, NamedTuple, TypeVar, cast, overload

import numpy as np
from numpy import ndarray
from numpy.typing import NDArray

from dpselect._native import _core
from dpselect.accounting import ApproximateEvent, BoundedRangeEvent, Event, LaplaceProfileEvent, LogisticProfileEvent
from dpselect.checks import boolean, positive_count, positive_epsilon, positive_sensitivity, probability, quantile_level
from dpselect.errors import InvalidParameterError, InvalidScoresError, Shown
from dpselect.mechanisms.numbers import Law, scale_of
from dpselect.mechanisms.scores import (
    Candidate,
    Gaps,
    ScoresLike,
    checked_candidates,
    finite_scores,
    named_matrix,
    native_scores,
    score_count,
)
from dpselect.privacy import Neighbours, neighbouring_relation

MOST_VALUES_PER_UNIT = 10**9

CHECKS: Mapping[str, Callable[[Any], object]] = {  # what checks an argument of a mechanism, by its name
    "epsilon": positive_epsilon,
    "sensitivity": positive_sensitivity,
    "neighbours": neighbouring_relation,
    "level": quantile_level,
    "values_per_unit": lambda value: positive_count(value, "values_per_unit", at_most=MOST_VALUES_PER_UNIT),
    "max_values_per_unit": lambda value: positive_count(value, "max_values_per_unit", at_most=MOST_VALUES_PER_UNIT),
}

ARGUMENTS = {  # what an argument means that a docstring does not explain itself, by its name
    "epsilon": "privacy loss of all that one draw releases, > 0. Rounded down if it is not a double.",
    "delta": "probability with which epsilon may fail, strictly between 0 and 1. Rounded down likewise.",
    "sensitivity": "the largest change of any one score between neighbouring data sets, > 0, in the unit of the scores."
    " Rounded up if it is not a double.",
    "monotonic": "between any two neighbours all scores change in the same direction; halves the noise. True for counts"
    " when a unit is added or removed, never when one is replaced (``proofs/counting.md``).",
    "neighbours": 'which data sets the guarantee compares, ``"add_remove"`` or ``"replace_one"``.',
    "level": "0.5 for the median, from 0 to 1.",
    "bounds": "``(lower, upper)``, public; values outside are clamped to the nearer bound.",
    "step": "distance between the grid points, which start at `lower` and have to reach `upper` exactly. Floats are"
    " read as decimals.",
    "values_per_unit": "maximum number of values per unit.",
    "max_values_per_unit": "the largest number of values that a unit counts for.",
    "k": "number to select, from 1 to the number of candidates.",
    "with_counts": "whether the number of units with each answer is wanted, too.",
    "selection": 'which mechanism selects, ``"auto"``, ``"permute_and_flip"`` or ``"exponential"``.',
    "scores": "shape ``(n,)``, finite floats or integers (any float or integer type up to 64 bits); higher is better."
    " NumPy, Arrow, pandas and Polars vectors, or a list.",
    "candidates": "what the scores belong to, in the same order, without duplicates: a sequence or array that comes"
    " from public knowledge, never from the data. Default: the indices.",
    "values": "shape ``(n,)``, numbers of any float or integer type; infinities count as the nearer bound. ``n = 0`` is"
    " allowed.",
    "offers": "shape ``(n,)``, the most that each buyer would pay: numbers of any float or integer type; infinities"
    " count like other offers. ``n = 0`` is allowed.",
    "counts": "shape ``(n,)``, the number of units with each value: whole numbers, of which those below 1 are left out;"
    " ``n = 0`` is allowed.",
    "codes": "shape ``(rows, attributes)``: whole numbers from 0, below the attribute's size.",
    "n_candidates": "number of scores, >= 1.",
    "size": "a whole number >= 1.",
    **dict.fromkeys(("confidence", "chance", "share"), "strictly between 0 and 1."),
}
_ERRORS = {
    "scores": "InvalidScoresError: `scores` is empty, not one-dimensional, not finite, or not exactly representable.",
    "candidates": "InvalidCandidatesError: the number of candidates differs from that of scores, or there are"
    " duplicates.",
    "values": "InvalidDataError: `values` is not one-dimensional, not numeric, or contains NaN.",
    "offers": "InvalidDataError: `offers` is not one-dimensional, not numeric, or contains NaN.",
    "counts": "InvalidDataError: `counts` is not one-dimensional or not of whole numbers.",
    "codes": "InvalidDataError: another shape or type. Nothing is drawn then.",
}
_REFUSED = "InvalidParameterError: an argument is out of range, or contradicts another one."

_Explained = TypeVar("_Explained", bound=Callable[..., Any])


def explained(thing: _Explained) -> _Explained:
    """Complete the docstring of a class and of its methods, or of a function, by the arguments that are shared."""
    it: Any = thing
    if not isinstance(it, type):
        _complete(it, it.__code__.co_varnames[: it.__code__.co_argcount + it.__code__.co_kwonlyargcount])
        return thing
    for name, member in vars(it).items():
        function = getattr(member, "__func__", member)  # of class methods, too
        if isinstance(function, FunctionType) and name[0] != "_":
            explained(function)
    if "__dataclass_fields__" in vars(it):  # a dataclass with slots is made twice: at first it has no fields of its own
        _complete(it, [each.name for each in fields(it) if each.init and each.name[0] != "_"])
    return thing


def _complete(thing: Any, names: Sequence[str]) -> None:
    written = vars(thing).get("__doc__") if isinstance(thing, type) else thing.__doc__
    shared = {name: f"{name}: {ARGUMENTS[name]}" for name in names if name in ARGUMENTS}
    if not written or not shared:
        return
    parts = cleandoc(written).split("\n\n")
    own = _add(parts, "Args", shared, names, before="Returns:|Raises:|Attributes:")
    # Of what a docstring explains itself, it says itself when it is refused.
    refused = [_ERRORS.get(name, _REFUSED) for name in shared if name not in own or name not in _ERRORS]
    _add(parts, "Raises", {said.partition(":")[0]: said for said in refused}, (), before="Attributes:")
    thing.__doc__ = "\n\n".join(parts)


def _add(parts: list[str], title: str, shared: Mapping[str, str], order: Sequence[str], *, before: str) -> list[str]:
    """Add what a section does not say itself to the parts of a text; return the names of which it does."""
    places = [place for place, part in enumerate(parts) if part.startswith(f"{title}:\n")]
    said = re.split(r"\n(?=    \S)", parts.pop(places[0]))[1:] if places else []
    lines = {each.partition(":")[0].strip(): each for each in said}
    own = ", ".join(lines).split(", ")
    for name in [name for name in shared if name not in own]:
        lines[name] = fill(shared[name], 116, initial_indent="    ", subsequent_indent="        ")
    if lines:
        places += [place for place, part in enumerate(parts) if re.match(rf"{before}|Proof|Source|>>> ", part)]
        at = {name: place for place, name in enumerate(order)}
        in_order = sorted(lines, key=lambda names: at.get(names.partition(",")[0], 0))
        parts.insert([*places, len(parts)][0], "\n".join([f"{title}:", *(lines[names] for names in in_order)]))
    return own


def check_monotonic(monotonic: object, neighbours: Neighbours) -> bool:
    """Refuse a claim to half the noise where it cannot hold: ``proofs/counting.md`` has the counterexample."""
    monotonic = monotonic if isinstance(monotonic, bool) else boolean(monotonic, "monotonic")
    if monotonic and not neighbours.one_way:
        hint = "Scores are monotone only when a unit is added or removed."
        raise InvalidParameterError("monotonic", monotonic, "False with neighbours='replace_one'", hint)
    return monotonic


class MechanismValue:
    """A frozen dataclass whose arguments are checked once; one draw costs an event of the kind `costs` at `epsilon`."""

    __slots__ = ()
    costs: ClassVar[Callable[..., Event]]
    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    def __init_subclass__(cls) -> None:
        explained(cls)

    def __post_init__(self) -> None:
        given = {name: getattr(self, name) for name, each in self.__dataclass_fields__.items() if each.init}
        unchecked = {name: each for name, each in given.items() if name in CHECKS and type(each) is not Neighbours}
        checked: dict[str, Any] = {name: CHECKS[name](each) for name, each in unchecked.items()}
        if "monotonic" in given:
            relation = checked.get("neighbours") or given["neighbours"]
            checked["monotonic"] = check_monotonic(given["monotonic"], relation)
        self._set(**checked)

    @property
    def event(self) -> Event:
        """What one draw costs, for accounting; it does not depend on the data."""
        price = {"delta": cast(Any, self).delta} if self.costs is ApproximateEvent else {}
        return self.costs(epsilon=cast(Any, self).epsilon, **price)

    def _set(self, **values: object) -> None:
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def __reduce__(self) -> tuple[Callable[[], object], tuple[()]]:
        """Copies and pickles are built from the arguments: no generator state leaves the core."""
        return partial(type(self), **{part.name: getattr(self, part.name) for part in fields(self) if part.init}), ()


class HasScale(MechanismValue):
    """A mechanism that weighs an answer by :math:`e^{score/b}`; without `monotonic` it needs no factor two."""

    __slots__ = ()

    @property
    def _factor(self) -> Literal[1, 2]:
        return 1 if getattr(self, "monotonic", True) else 2

    @property
    def scale(self) -> float:
        """The scale b, in the unit of scores: ``sensitivity / epsilon``; where `monotonic` is False, twice that.

        Of `TopKSet` it is twice as much. For reading only, as a double (infinite or 0 if it does not fit): draws use
        the exact quotient.
        """
        return scale_of(cast(Any, self).epsilon, float(cast(Any, self).sensitivity), factor=self._factor)


@dataclass(frozen=True, slots=True, kw_only=True)
class ScaledMechanism(HasScale):
    """The four arguments that the scale comes from."""

    epsilon: float
    sensitivity: float
    monotonic: bool = False
    neighbours: Neighbours = Neighbours.ADD_REMOVE

    @property
    def rate(self) -> Fraction:
        """1/b exactly."""
        return Fraction(self.epsilon) / (Fraction(self.sensitivity) * self._factor)

    def scaled(self, gaps: Gaps) -> NDArray[np.float64]:
        """Gaps over b."""
        return gaps.scaled(epsilon=self.epsilon, sensitivity=self.sensitivity, factor=self._factor)

    def distance(self, theta: float) -> float:
        """So many scales, in the unit of the scores, rounded up."""
        return math.nextafter(theta * math.nextafter(self.scale, math.inf), math.inf) if theta else 0.0


class Lead(NamedTuple):
    """A selected candidate, and by how much its noisy score is ahead of all others. Both are private releases.

    What the gap says of the true scores: `dpselect.planning.lead_shown`.

    Attributes:
        winner: the selected candidate, or its index.
        gap: the difference of the two largest noisy scores, rounded down to a multiple of the step.

    Proof: ``proofs/free_gap.md``.
    """

    winner: Any
    gap: float


@explained
class SelectsOne:
    """The base of what selects one candidate by its score."""

    __slots__ = ()

    @overload
    def select(self, scores: ScoresLike, candidates: None = None) -> int: ...
    @overload
    def select(self, scores: ScoresLike, candidates: Sequence[Candidate]) -> Candidate: ...
    @overload
    def select(self, scores: ScoresLike, candidates: object) -> Any: ...
    def select(self, scores: ScoresLike, candidates: object = None) -> object:
        """Draw one candidate, at the cost of `epsilon`.

        Returns:
            The selected candidate, or its index if no candidates were given.

        Proof that the draw is exact: ``proofs/exact_sampling.md``.
        """
        if candidates is None:
            return self._index(scores)
        native = native_scores(scores)
        pick = checked_candidates(candidates, count=score_count(native))
        return pick(self._index(native))

    def _index(self, scores: ScoresLike) -> int:
        raise NotImplementedError


@dataclass(frozen=True, slots=True, kw_only=True)
class Mechanism(SelectsOne, ScaledMechanism, abc.ABC):
    """The base of `ExponentialMechanism`, `PermuteAndFlip` and `ReportNoisyMax`."""

    law: ClassVar[Law]
    """The distribution of the winner, in units of the scale."""
    _sampler: Any = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        ScaledMechanism.__post_init__(self)
        self._set(_sampler=_core.Sampler(*self.terms))

    @property
    def terms(self) -> tuple[Literal["exponential", "permute_and_flip", "laplace"], float, float, Literal[1, 2]]:
        """Name of the distribution, epsilon, sensitivity and the factor of the scale, on which a draw depends."""
        return self.law.name, self.epsilon, self.sensitivity, self._factor

    @property
    def event(self) -> BoundedRangeEvent | LaplaceProfileEvent:
        return self.law.privacy(epsilon=self.epsilon)

    def _index(self, scores: ScoresLike) -> int:
        if type(scores) is ndarray:
            try:
                return self._sampler.select(scores)
            except InvalidScoresError:
                pass  # nothing was drawn; below, it is converted to what the core reads in place, or refused
        return self._sampler.select(native_scores(scores))

    def select_with_gap(self, scores: ScoresLike, candidates: object = None, *, step: float) -> Lead:
        """Draw one candidate, and by how much its noisy score is ahead of all others, at the cost of `epsilon`.

        Under pure differential privacy the gap costs nothing; with a delta, what `event_with_gap` says.

        Args:
            scores, candidates: as for `select`; at least two scores.
            step: the gap is rounded down to a multiple of it; public, > 0. A tenth of the scale loses little.

        Raises:
            InvalidScoresError: as for `select`, or there is a single score.

        Proof: ``proofs/free_gap.md``.

        >>> from dpselect import PermuteAndFlip
        >>> mechanism = PermuteAndFlip(epsilon=1.0, sensitivity=1.0, monotonic=True)
        >>> winner, gap = mechanism.select_with_gap([12, 730, 41], ["cat", "dog", "eel"], step=1.0)
        >>> winner, gap > 600
        ('dog', True)
        """
        step = positive_sensitivity(step, "step")
        native = native_scores(scores)
        if score_count(native) == 1:
            got = Shown(f"<{type(scores).__name__} of length 1>")
            raise InvalidScoresError("scores", got, "at least two scores: a single candidate is ahead of nobody")
        pick = checked_candidates(candidates, count=native.size)
        index, gap = self._sampler.select_with_gap(native, step)
        return Lead(pick(index), gap)

    @property
    def event_with_gap(self) -> LogisticProfileEvent | LaplaceProfileEvent:
        """What `select_with_gap` costs, for accounting: with Gumbel noise more than `event`, but for pure epsilon.

        Proof: ``proofs/free_gap.md``, claim 3.
        """
        event = self.event
        return LogisticProfileEvent(epsilon=self.epsilon) if isinstance(event, BoundedRangeEvent) else event

    def select_many(self, scores: ScoresLike, size: int) -> NDArray[np.int64]:
        """Draw `size` indices independently of each other, *each* at the cost of `epsilon`: for simulation."""
        size = positive_count(size, "size", at_most=sys.maxsize)
        return self._sampler.select_many(native_scores(scores), size)

    def select_rows(self, matrix: ScoresLike) -> NDArray[np.int64]:
        """Draw one index for each row of a matrix, independently of each other, *each* at the cost of `epsilon`.

        Long matrices are drawn from on all cores. All rows together cost as many selections as there are rows that one
        unit may change (``proofs/groups.md``).

        Args:
            matrix: shape ``(rows, n)``, finite floats or integers of any type up to 64 bits. NumPy arrays are read in
                place, and so are arrays that NumPy can look at (PyTorch, JAX).

        Raises:
            InvalidScoresError: `matrix` is empty, not two-dimensional, not finite, or not exactly representable.

        Proof: ``proofs/exact_sampling.md``.

        >>> from dpselect import PermuteAndFlip
        >>> mechanism = PermuteAndFlip(epsilon=1.0, sensitivity=1.0)
        >>> mechanism.select_rows([[0, 500, 10], [700, 20, 30]])
        array([1, 0])
        """
        try:
            return self._sampler.select_rows(native_scores(matrix, dimensions=2))
        except InvalidScoresError as error:
            raise named_matrix(error) from None

    def peel(self, scores: ScoresLike, k: int) -> NDArray[np.int64]:
        """Draw `k` different indices one after another, each round without the earlier winners.

        Each round costs `epsilon`; for `k` rounds within a total epsilon, see `dpselect.top_k`.

        Raises:
            InvalidParameterError: `k` is not a whole number from 1 to the number of scores.

        Proof: ``proofs/top_k.md``.
        """
        native = native_scores(scores)
        k = positive_count(k, "k", at_most=score_count(native), at_most_what="the number of scores")
        return self._sampler.peel(native, k)

    def pmf(self, scores: ScoresLike) -> NDArray[np.float64]:
        """Probability of each candidate. For planning with public scores and for tests: it depends on every score.

        Returns:
            Shape ``(n,)``, summing to 1 within 1e-12, each entry accurate to ten digits or better (entries below
            about 1e-300 may underflow; the draw itself never rounds a probability).
        """
        return self.probabilities(self.gaps(scores))

    def expected_error(self, scores: ScoresLike) -> float:
        """Expected distance of the selected score below the best, in the unit of the scores; depends on the scores."""
        gaps = self.gaps(scores)
        return gaps.mean(self.probabilities(gaps))

    def error_bound(self, n_candidates: int, confidence: float = 0.99) -> float:
        """With probability `confidence` the selected score is at most this far below the best, whatever the scores.

        Exact for the worst scores (one best, all others equal and this far below it), rounded up. It depends on
        public arguments only, so it may be published.

        Returns:
            A distance in the unit of the scores; 0 if even a blind guess among `n_candidates` reaches the confidence.

        Proof: ``proofs/error_bounds.md``.
        """
        size = self.worst_size(n_candidates)
        confidence = probability(confidence, "confidence")
        return self.distance(self.law.error_quantile(size, 1.0 - confidence, confidence))

    def worst_size(self, n_candidates: int, name: str = "n_candidates") -> float:
        """How many candidates of equal weight have the same worst errors: `n_candidates`, or with weights more."""
        n, weights = positive_count(n_candidates, name, at_most=sys.maxsize), getattr(self, "weights", None)
        if weights is None:
            return n
        if n != len(weights):
            raise InvalidParameterError(name, n, f"{len(weights)}, the number of weights")
        return 1.0 + weights.odds_against_lightest()

    def probabilities(self, gaps: Gaps) -> NDArray[np.float64]:
        """`pmf` from gaps computed before, for use with many epsilons."""
        return self.law.probabilities(self.scaled(gaps))

    def gaps(self, scores: ScoresLike) -> Gaps:
        """How far each score is below the best."""
        return Gaps.below_best(finite_scores(scores))
