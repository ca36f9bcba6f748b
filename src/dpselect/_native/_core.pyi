from typing import Literal, final

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "GaussianSampler",
    "GeometricSampler",
    "Grid",
    "IntervalSampler",
    "LazyFlips",
    "PiecewisePlan",
    "PiecewiseSampler",
    "Proposals",
    "ResponseSampler",
    "Sampler",
    "ThresholdStream",
    "WeightedSampler",
    "begin_seeded",
    "end_seeded",
    "generalized_draws",
    "generalized_exponents",
    "joint_quantiles",
    "own_scale_draws",
    "quantiles",
    "seeded_draws",
    "tally",
]

@final
class GeometricSampler:
    """Whole numbers y with probability proportional to ``exp(-|y| epsilon / sensitivity)``; no generator state."""

    def __new__(cls, epsilon: float, sensitivity: float) -> GeometricSampler: ...
    def noise(self) -> int:
        """One draw, of any size."""

    def draw_many(self, values: NDArray[np.int64], lower: int, upper: int, /) -> NDArray[np.int64]:
        """`values`, each with a draw of its own added, moved into [lower, upper] (no sum wraps around)."""

@final
class GaussianSampler:
    """Whole numbers y with probability proportional to ``exp(-y^2 / (2 variance))``; no generator state.

    `block` is the whole scale of the proposals: any gives the same law, one near the root of the variance is fast.
    """

    def __new__(cls, variance: float, block: float) -> GaussianSampler: ...
    def draw_many(self, values: NDArray[np.int64], /) -> NDArray[np.int64]:
        """`values`, each with a draw of its own added, moved into 64 bits (no sum wraps around)."""

@final
class Grid:
    """The doubles nearest to ``(start + j * step) / denominator`` for ``j = 0 .. count - 1``.

    The three integers come as little-endian bytes, `start` in two's complement. ``InvalidParameterError`` unless step,
    denominator and count are positive and all points finite.
    """

    def __new__(cls, start: bytes, step: bytes, denominator: bytes, count: int) -> Grid: ...
    def __len__(self) -> int: ...
    def point(self, index: int, /) -> float:
        """Point `index`, from 0."""

    def points(self) -> NDArray[np.float64]:
        """All points, in order."""

    def nearest(self, values: NDArray[np.float64], /) -> NDArray[np.uint64]:
        """The index of the point that each of `values` counts as: the nearest, of two as near the lower."""

@final
class IntervalSampler:
    """Draws with density ``exp(score / b)``, ``b = factor * sensitivity / epsilon``; holds no generator state."""

    def __new__(cls, epsilon: float, sensitivity: float, factor: Literal[1, 2]) -> IntervalSampler: ...
    def draw(self, breakpoints: NDArray[np.float64], scores: NDArray[np.float64], /) -> float:
        """A real number between the first and the last breakpoint, rounded once.

        ``breakpoints`` are finite and do not decrease, ``scores`` are finite, one for each pair of neighbours.
        """

    def quantile(self, values: object, level: float, lower: float, upper: float, /) -> float:
        """The quantile of `values` (as ``scores`` of `Sampler`, or empty) moved into the bounds: density
        ``exp(-|#{v < o} - level n| / b)`` for o in [lower, upper], rounded once. Infinite values are moved, NaN is
        refused."""

    def grid_quantile(self, values: object, level: float, grid: Grid, /) -> float:
        """The same on a grid: weight ``exp(-max(0, #{v < o} - level n, level n - #{v <= o}) / b)`` for its points o."""

@final
class Proposals:
    """Offsets with probability proportional to ``exp(-fall * |offset| / b)``, ``b = factor * sensitivity / epsilon``.

    Numbers are numerator in two's complement and denominator, as little-endian bytes, and not negative; `left` and
    `right` are the falls of a step on either side, the last offsets little-endian bytes or None.
    ``InvalidParameterError`` for a fall of 0 on a side without a last offset. Holds no generator state.
    """

    def __new__(
        cls,
        epsilon: float,
        sensitivity: float,
        factor: Literal[1, 2],
        left: tuple[bytes, bytes],
        right: tuple[bytes, bytes],
        left_last: bytes | None = None,
        right_last: bytes | None = None,
    ) -> Proposals: ...
    def draw(self) -> int:
        """One offset, of any size."""

    def accepts(self, gap: tuple[bytes, bytes], /) -> bool:
        """True with probability ``exp(-gap / b)``."""

@final
class ResponseSampler:
    """Turns bits, each with probability ``1 / (1 + exp(epsilon / bits_per_unit))``; no generator state."""

    def __new__(cls, epsilon: float, bits_per_unit: float) -> ResponseSampler: ...
    def draw(self, bits: NDArray[np.uint8], /) -> NDArray[np.uint8]:
        """`bits`, as numbers 0 and 1, each turned or not."""

@final
class PiecewisePlan:
    """A score in pieces and bounds of their masses, to draw points from; holds no generator state."""

    def draw_many(self, size: int, /) -> NDArray[np.float64]:
        """`size` independent points, each at the full price and rounded once to the nearest finite double."""

@final
class PiecewiseSampler:
    """Draws with density ``exp(score / b)`` where the score has slopes; holds no generator state.

    Breakpoints never decrease, and all numbers are finite.
    """

    def __new__(cls, epsilon: float, sensitivity: float, factor: Literal[1, 2]) -> PiecewiseSampler: ...
    def plan_lines(
        self,
        breakpoints: NDArray[np.float64],
        starts: NDArray[np.float64],
        ends: NDArray[np.float64],
        below: tuple[float, float] | None,
        above: tuple[float, float] | None,
        /,
    ) -> PiecewisePlan:
        """Piece i goes in a line from ``starts[i]`` at ``breakpoints[i]`` to ``ends[i]`` at the next breakpoint.

        `below` and `above` are tails without end: the score at the outer breakpoint, and how much it falls for each
        unit outwards (> 0).
        """

    def plan_lines_through_origin(
        self, breakpoints: NDArray[np.float64], slopes: NDArray[np.float64], /
    ) -> PiecewisePlan:
        """The score of piece i is ``slopes[i] * x``, as real numbers."""

    def plan_concave(
        self, breakpoints: NDArray[np.float64], slopes: NDArray[np.float64], has_tails: bool, /
    ) -> PiecewisePlan:
        """A concave score with these slopes at the breakpoints, which never increase, and linear ones in between."""

    def draw_peak(
        self,
        center: bytes,
        lower: bytes | None,
        upper: bytes | None,
        unit: bytes,
        denominator: bytes,
        is_squared: bool,
        /,
    ) -> float:
        """One draw with the score ``-|x - center| / unit``, or minus its square, between the ends, which may be None.

        The numbers are little-endian integers over `denominator`, which like `unit` is positive and without a sign; the
        others are in two's complement. The point is rounded once to the nearest finite double.
        """

@final
class LazyFlips:
    """Coins of `size` items that are asked one by one, ``b = factor * sensitivity / epsilon``; for one draw.

    Numbers are numerator in two's complement and denominator, as little-endian bytes.
    """

    def __new__(cls, size: int, epsilon: float, sensitivity: float, factor: Literal[1, 2]) -> LazyFlips: ...
    def order(self) -> NDArray[np.int64]:
        """A uniformly random order of all items."""

    def is_head(self, item: int, gap: tuple[bytes, bytes], /) -> bool:
        """Whether the uniform number of `item`, which is drawn once, is below ``exp(-gap / b)``."""

@final
class ThresholdStream:
    """A secret offset R, standard exponential, behind a threshold; ``b1 = sensitivity / first``, b2 likewise.

    Numbers are numerator in two's complement and denominator, as little-endian bytes. ``StreamEndedError`` after
    `positives` times yes, once closed, and in a child of a fork.
    """

    def __new__(
        cls, threshold: tuple[bytes, bytes], first: float, second: float, sensitivity: float, positives: int
    ) -> ThresholdStream: ...
    def test(self, value: float, /) -> bool:
        """Yes with probability ``min(1, exp(-(threshold + b1 R - value) / b2))``."""

    def test_exactly(self, value: tuple[bytes, bytes], /) -> bool:
        """The same for any number."""

    def close(self) -> None:
        """Forget the offset."""

    def is_open(self) -> bool:
        """Whether it may still answer, in the process that began it."""

@final
class Sampler:
    """Draws from exactly one law at one scale ``b = factor * sensitivity / epsilon``; holds no generator state.

    ``scores`` is a one-dimensional NumPy array of a native float or integer type, of any stride, read in place.
    Whatever else comes, and NaN, infinities and emptiness, raises ``InvalidScoresError`` before a random bit is drawn.
    """

    def __new__(
        cls,
        law: Literal["exponential", "permute_and_flip", "laplace"],
        epsilon: float,
        sensitivity: float,
        factor: Literal[1, 2],
    ) -> Sampler: ...
    def select(self, scores: object, /) -> int:
        """One draw."""

    def select_many(self, scores: object, size: int, /) -> NDArray[np.int64]:
        """`size` independent draws, each at the full price."""

    def select_rows(self, scores: object, /) -> NDArray[np.int64]:
        """One draw for each row of a two-dimensional array, of any strides, each at the full price.

        If a row is refused, others may have been drawn from; then no draw is returned.
        """

    def peel(self, scores: object, k: int, /) -> NDArray[np.int64]:
        """`k` draws one after another, each without the ones before it, best first; ``1 <= k <= len(scores)``."""

    def select_with_gap(self, scores: object, step: float, /) -> tuple[int, float]:
        """One draw among two or more, and the gap between the two largest noisy scores, a multiple of ``step``
        below."""

    def once(self, scores: object, k: int, /) -> NDArray[np.int64]:
        """The ``k`` largest after exponential noise once on all ``scores``, best first."""

@final
class WeightedSampler:
    """The exponential mechanism with a weight for each candidate; holds no generator state.

    `weights` are doubles, finite and not negative, or numerators in two's complement and denominators as
    little-endian bytes. `scores` as those of `Sampler`, as many.
    """

    def __new__(
        cls,
        epsilon: float,
        sensitivity: float,
        factor: Literal[1, 2],
        weights: NDArray[np.float64] | list[tuple[bytes, bytes]],
    ) -> WeightedSampler: ...
    def select_many(self, scores: object, size: int, /) -> NDArray[np.int64]:
        """`size` independent draws, each at the full price."""

    def peel(self, scores: object, k: int, /) -> NDArray[np.int64]:
        """`k` draws one after another, each without the ones before it; at least as many have a weight above zero."""

def generalized_exponents(
    scores: NDArray[np.float64],
    sensitivities: NDArray[np.float64],
    shift: float,
    epsilon: float,
    together: Literal["sum", "larger"],
    /,
) -> NDArray[np.float64]:
    """``epsilon / 2 * max_j (r_j - r_i) / d_ij`` for ``r = score - shift * sensitivity`` and ``d_ij`` the sum of both
    sensitivities, or the larger one."""

def generalized_draws(
    scores: NDArray[np.float64],
    sensitivities: NDArray[np.float64],
    shift: float,
    epsilon: float,
    together: Literal["sum", "larger"],
    size: int,
    /,
) -> NDArray[np.int64]:
    """`size` independent draws by permute-and-flip on these exponents, each at the full price."""

def own_scale_draws(
    scores: NDArray[np.float64], sensitivities: NDArray[np.float64], epsilon: float, size: int, /
) -> NDArray[np.int64]:
    """`size` independent draws of the largest score with exponential noise of scale
    ``(sensitivity + largest sensitivity) / epsilon``."""

def quantiles(
    values: object, levels: list[float], epsilon: float, lower: float, upper: float, grid: Grid | None = None, /
) -> list[float]:
    """Quantiles at strictly increasing `levels` by halving, each of the ``floor(log2(m)) + 1`` depths at `epsilon`."""

def tally(weights: NDArray[np.uint64], size: int, /) -> NDArray[np.int64]:
    """How often each cell comes in `size` independent draws with probabilities proportional to `weights`.

    Their sum has to be from 1 to ``2**63 - 1``.
    """

def joint_quantiles(
    values: object,
    levels: list[float],
    epsilon: float,
    sensitivity: float,
    lower: float,
    upper: float,
    grid: Grid | None = None,
    /,
) -> list[float]:
    """All quantiles by one draw: density ``exp(-(values in a wrong group) / b)``, ``b = 2 * sensitivity / epsilon``.

    On a grid each value is moved to the nearest point and spread over its cell at random first.
    """

def begin_seeded(key: bytes, /) -> bool:
    """Begin a block of known random bits on this thread; False, and nothing has changed, if it is in one.

    Args:
        key: 32 bytes.
    """

def end_seeded() -> None:
    """End the block of this thread, if it is in one."""

def seeded_draws() -> tuple[bool, int]:
    """Whether this thread is in a block of known bits, and how many draws it ever made in one."""
