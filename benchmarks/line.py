"""One measured line of the table, and what it had to reach."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from benchmarks.timing import Sample


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A measurement beside its requirement.

    Attributes:
        what: the row of the summary this belongs to.
        case: what was called, on which shape of scores.
        n: number of candidates.
        dtype: of the scores.
        value: the measurement, in `unit`.
        unit: ``"x"`` (a ratio), ``"us"``, ``"ms"``, ``"s"``, ``"draws/s"``, ``"%"``, ``"GiB"``,
            ``"ranks"`` or empty (a number).
        at_most: what `value` may not exceed, if anything.
        at_least: what `value` has to reach, if anything.
        low: lower quartile of the runs behind `value`, where there were several.
        high: upper quartile of them.
        runs: how many runs (for a ratio: pairs of runs) there were.
    """

    what: str
    case: str
    n: int
    dtype: str
    value: float
    unit: str
    at_most: float | None = None
    at_least: float | None = None
    low: float | None = None
    high: float | None = None
    runs: int = 1

    @property
    def reached(self) -> bool | None:
        """Whether the requirement holds; ``None`` where there is none. A NaN never reaches anything."""
        if self.at_most is not None:
            return self.value <= self.at_most
        if self.at_least is not None:
            return self.value >= self.at_least
        return None

    @property
    def required(self) -> str:
        """The requirement as text, empty where there is none."""
        if self.at_most is not None:
            return f"≤ {readable(self.at_most, self.unit)}"
        if self.at_least is not None:
            return f"≥ {readable(self.at_least, self.unit)}"
        return ""

    @classmethod
    def of(cls, sample: Sample, *, factor: float = 1.0, **described: Any) -> Line:
        """The line of repeated measurements: median and quartiles, times `factor` to get from seconds to the unit."""
        low, high = sample.quartiles
        return cls(
            value=sample.median * factor, low=low * factor, high=high * factor, runs=len(sample.values), **described
        )

    def as_json(self) -> dict[str, Any]:
        """What ``results.json`` holds of it."""
        return asdict(self) | {"reached": self.reached}

    @classmethod
    def from_json(cls, held: dict[str, Any]) -> Line:
        """Read back what `as_json` wrote; `reached` is computed again, never believed."""
        return cls(**{name: value for name, value in held.items() if name != "reached"})


def readable(value: float, unit: str) -> str:
    """A number a person can take in, with its unit.

    >>> readable(0.61234, "x"), readable(12345.6, "x"), readable(2.5e7, "draws/s"), readable(3e-13, "")
    ('0.612x', '12,346x', '2.5e+07 draws/s', '3e-13')
    """
    if unit == "x":
        return f"{value:,.0f}x" if value >= 100 else f"{value:.3g}x"
    number = f"{value:.3g}"
    if unit == "%":
        return f"{number} %"
    return f"{number} {unit}".rstrip()
