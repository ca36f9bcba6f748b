"""Randomised response: bits, each answered truthfully or flipped."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from dpselect._native import _core
from dpselect.accounting import PureEvent
from dpselect.checks import positive_count
from dpselect.errors import InvalidDataError, Shown
from dpselect.mechanisms.mechanism import MechanismValue
from dpselect.mechanisms.numbers import FloatArray
from dpselect.mechanisms.scores import ScoresLike, has_masked, to_numpy

_MOST_ENUMERATED = 20


@dataclass(frozen=True, slots=True)
class CountEstimate:
    """Unbiased estimate of the number of bits that are one, perhaps below 0, and its standard deviation."""

    count: float
    standard_error: float


@dataclass(frozen=True, slots=True, kw_only=True)
class RandomizedResponse(MechanismValue):
    r"""Answers each bit truthfully with probability :math:`e^{x}/(1 + e^{x})`, :math:`x = epsilon / bits\_per\_unit`.

    The exponential mechanism over all :math:`2^n` vectors of bits with the number of agreements as score, *without* its
    factor 2 (the weights have the same sum for all data), drawn bit by bit. Neighbouring data differ in the *values* of
    one unit's bits. The number of bits, and whom they belong to, is public: nobody is added or removed.

    Args:
        bits_per_unit: maximum number of bits per unit, >= 1. A unit with more loses more than `epsilon`.

    Proof: ``proofs/randomized_response.md``. Source: Warner (1965).

    >>> RandomizedResponse(epsilon=1.0986122886681098).pmf([True, False]).round(4)
    array([0.1875, 0.0625, 0.5625, 0.1875])
    """

    costs = PureEvent

    epsilon: float
    bits_per_unit: int = 1
    _sampler: _core.ResponseSampler = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        MechanismValue.__post_init__(self)
        self._set(bits_per_unit=positive_count(self.bits_per_unit, "bits_per_unit", at_most=2**53))
        self._set(_sampler=_core.ResponseSampler(self.epsilon, float(self.bits_per_unit)))

    @property
    def truth_probability(self) -> float:
        """Probability that a bit is answered truthfully. For reading only; draws use the exact number."""
        return 1.0 / (1.0 + math.exp(-self.epsilon / self.bits_per_unit))

    def draw(self, bits: ScoresLike) -> npt.NDArray[np.bool_]:
        """Answer for every bit, independently, at the cost of `epsilon` for each unit.

        Args:
            bits: shape ``(n,)``, booleans, or integers that are 0 or 1; ``n = 0`` is allowed.
        """
        return self._sampler.draw(_checked_bits(bits, "bits").view(np.uint8)).view(np.bool_)

    def pmf(self, bits: ScoresLike) -> FloatArray:
        """Probability of each of the ``2**n`` possible answers, up to 20 bits. For planning: it depends on the bits.

        Entry j belongs to the bits of j, the first bit the most significant.
        """
        checked = _checked_bits(bits, "bits")
        if checked.size > _MOST_ENUMERATED:
            raise InvalidDataError("bits", Shown(f"<{checked.size} of them>"), f"at most {_MOST_ENUMERATED} here")
        rate = self.epsilon / self.bits_per_unit
        turned = math.exp(-rate) / (1.0 + math.exp(-rate))
        probabilities = np.ones(1)
        for bit in checked:
            each = [turned, 1.0 - turned] if bit else [1.0 - turned, turned]
            probabilities = np.outer(probabilities, each).ravel()
        return probabilities

    def estimate(self, responses: ScoresLike) -> CountEstimate:
        """Estimate how many of the true bits are one. It uses only the responses, so it is free (post-processing).

        Args:
            responses: what `draw` returned, or a part of it chosen without looking at the data.

        Returns:
            The estimate ``(ones - n q) / (1 - 2 q)``, q the probability of flipping a bit, and its standard error
            ``sqrt(n) / (2 sinh(x / 2))``; both infinite or huge if the responses say hardly anything.
        """
        checked = _checked_bits(responses, "responses")
        ones, count = int(np.count_nonzero(checked)), checked.size
        rate = self.epsilon / self.bits_per_unit
        # (ones - n q) / (1 - 2q) = n/2 + (ones - n/2) / tanh(x/2).
        slope = math.tanh(rate / 2.0)
        surplus = ones - count / 2.0
        centred = 0.0 if surplus == 0.0 else surplus / slope if slope > 0.0 else math.copysign(math.inf, surplus)
        spread = math.sinh(min(rate / 2.0, 700.0))
        error = 0.0 if count == 0 else math.sqrt(count) / 2.0 / spread if spread > 0.0 else math.inf
        return CountEstimate(count=count / 2.0 + centred, standard_error=error)


def _checked_bits(bits: ScoresLike, name: str) -> npt.NDArray[np.bool_]:
    """`bits` as contiguous booleans."""
    vector = to_numpy(bits)
    if vector is None or vector.ndim != 1 or has_masked(vector) or (vector.size and vector.dtype.kind not in "biu"):
        got = type(bits).__name__ if vector is None else f"{type(bits).__name__} of {vector.dtype.type.__name__}"
    elif vector.dtype.kind in "iu" and vector.size and (vector.min() < 0 or vector.max() > 1):
        got = "other integers among them"
    elif vector.dtype == np.bool_:
        # The core does not take bytes other than 0 and 1 for booleans; a view of other memory may have some.
        return np.not_equal(np.ascontiguousarray(vector).view(np.uint8), 0)
    else:
        return np.ascontiguousarray(vector, dtype=np.bool_)
    expected = "a one-dimensional array of booleans, or of integers that are 0 or 1"
    raise InvalidDataError(name, Shown(f"<{got}>"), expected)
