from typing import Literal, final

import numpy as np
from numpy.typing import NDArray

__all__ = ["Sampler"]

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
