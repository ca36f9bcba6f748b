"""By day the law of a mechanism on the same scores is worked out once: most plans are shown as a table and as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from dpselect.planning.curves import ErrorsOnScores
from tests.slow import SLOW


@pytest.fixture(scope="package", autouse=True)
def _laws_once() -> Iterator[None]:
    known: dict[Any, np.ndarray] = {}
    work_out = ErrorsOnScores._probabilities

    def once(errors: ErrorsOnScores, mechanism: Any) -> np.ndarray:
        given = errors.gaps.mantissa, errors.gaps.exponent, errors.taking_part
        key = repr(mechanism), *(np.asarray(each).tobytes() for each in given)
        if key not in known:
            known[key] = work_out(errors, mechanism)
            known[key].flags.writeable = False
        return known[key]

    with pytest.MonkeyPatch.context() as patch:
        if not SLOW:
            patch.setattr(ErrorsOnScores, "_probabilities", once)
        yield
