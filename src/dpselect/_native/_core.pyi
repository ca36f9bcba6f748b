from typing import Literal, final

import numpy as np
from numpy.typing import NDArray

__all__ = ["Grid", "IntervalSampler", "LandscapeSampler", "Sampler", "quantiles"]

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

    def below(self, value: float, /) -> int:
        """How many points are below `value`."""

    def up_to(self, value: float, /) -> int:
        """How many points are not above `value`."""

@final
class IntervalSampler:
    """Draws with density ``exp(score / b)``, ``b = factor * sensitivity / epsilon``; holds no generator state."""

    def __new__(cls, epsilon: float, sensitivity: float, factor: Literal[1, 2]) -> IntervalSampler: ...
    def draw(self, breakpoints: NDArray[np.float64], scores: NDArray[np.float64], /) -> float:
        """A real number between the first and the last breakpoint, rounded once.

        ``breakpoints`` are finite and do not decrease, ``scores`` are finite, one for each pair of neighbours.
        """

    def draw_cell(self, counts: NDArray[np.uint64], scores: NDArray[np.float64], /) -> tuple[int, int]:
        """A cell and a place in it: cell i has ``counts[i]`` places of weight ``exp(scores[i] / b)`` each."""

    def quantile(self, values: object, level: float, lower: float, upper: float, /) -> float:
        """The quantile of `values` (as ``scores`` of `Sampler`, or empty) moved into the bounds: density
        ``exp(-|#{v < o} - level n| / b)`` for o in [lower, upper], rounded once. Infinite values are moved, NaN is
        refused."""

    def grid_quantile(self, values: object, level: float, grid: Grid, /) -> float:
        """The same on a grid: weight ``exp(-max(0, #{v < o} - level n, level n - #{v <= o}) / b)`` for its points o."""

@final
class LandscapeSampler:
    """Draws with density ``exp(score / b)`` where the score has slopes; holds no generator state.

    A point is rounded once to the nearest finite double. Breakpoints never decrease, and all numbers are finite.
    """

    def __new__(cls, epsilon: float, sensitivity: float, factor: Literal[1, 2]) -> LandscapeSampler: ...
    def lines(
        self,
        breakpoints: NDArray[np.float64],
        starts: NDArray[np.float64],
        ends: NDArray[np.float64],
        below: tuple[float, float] | None,
        above: tuple[float, float] | None,
        /,
    ) -> float:
        """Piece i goes in a line from ``starts[i]`` at ``breakpoints[i]`` to ``ends[i]`` at the next breakpoint.

        `below` and `above` are tails without end: the score at the outer breakpoint, and how much it falls for each
        unit outwards (> 0).
        """

    def slopes(
        self,
        breakpoints: NDArray[np.float64],
        slopes: NDArray[np.float64],
        anchors: NDArray[np.float64],
        heights: NDArray[np.float64],
        /,
    ) -> float:
        """The score of piece i is ``heights[i] + slopes[i] * (x - anchors[i])``, as real numbers."""

    def concave(self, breakpoints: NDArray[np.float64], slopes: NDArray[np.float64], has_tails: bool, /) -> float:
        """A concave score with these slopes at the breakpoints, which never increase, and linear ones in between."""

    def peak(
        self,
        center: bytes,
        lower: bytes | None,
        upper: bytes | None,
        unit: bytes,
        denominator: bytes,
        is_squared: bool,
        /,
    ) -> float:
        """The score ``-|x - center| / unit``, or minus its square, between the ends, each of which may be None.

        The numbers are little-endian integers over `denominator`, which like `unit` is positive and without a sign; the
        others are in two's complement.
        """

@final
class Sampler:
    """Draws from exactly one law at one scale ``b = factor * sensitivity / epsilon``; holds no generator state.

    ``scores`` is a one-dimensional NumPy array of a native float or integer type, of any stride, or an object with
    the Arrow C data interface (``__arrow_c_array__`` or ``__arrow_c_stream__``) without nulls. They are read in
    place. Whatever else comes, and NaN, infinities and emptiness, raises ``InvalidScoresError`` before a random bit
    is drawn.
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

    def peel(self, scores: object, k: int, /) -> NDArray[np.int64]:
        """`k` draws one after another, each without the ones before it, best first; ``1 <= k <= len(scores)``."""

def quantiles(
    values: object, levels: list[float], epsilon: float, lower: float, upper: float, grid: Grid | None = None, /
) -> list[float]:
    """Quantiles at strictly increasing `levels` by halving, each of the ``floor(log2(m)) + 1`` depths at `epsilon`."""
