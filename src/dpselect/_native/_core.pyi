from typing import Literal, final

import numpy as np
from numpy.typing import NDArray

__all__ = ["Grid", "IntervalSampler", "Sampler", "quantiles", "tally"]

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

def tally(weights: NDArray[np.uint64], size: int, /) -> NDArray[np.int64]:
    """How often each cell comes in `size` independent draws with probabilities proportional to `weights`.

    Their sum has to be from 1 to ``2**63 - 1``.
    """
