"""The types of questions about numbers: with `by` the value is a dictionary with an answer for each group.

`numbers.py` has the methods and their documentation; `stubtest` compares the two.
"""

from collections.abc import Sequence
from typing import Any, Literal, overload

from dpselect.certificates.release import Release
from dpselect.mechanisms import QuantilesMethod
from dpselect.session.asking import Asking

class NumberQuestions(Asking):
    @overload
    def quantile(
        self,
        column: str,
        level: float,
        *,
        bounds: tuple[float, float] | None = None,
        epsilon: float,
        lower: float | None = None,
        step: float | None = None,
        continuous: bool = False,
        max_rows_per_unit: int = 1,
        by: None = None,
        groups: object = None,
        max_groups_per_unit: int = 1,
        usable_epsilon: float | None = None,
        request: str | None = None,
    ) -> Release[float]: ...
    @overload
    def quantile(
        self,
        column: str,
        level: float,
        *,
        bounds: tuple[float, float] | None = None,
        epsilon: float,
        lower: float | None = None,
        step: float | None = None,
        continuous: bool = False,
        max_rows_per_unit: int = 1,
        by: str,
        groups: object,
        max_groups_per_unit: int = 1,
        usable_epsilon: float | None = None,
        request: str | None = None,
    ) -> Release[dict[Any, float]]: ...
    @overload
    def median(
        self,
        column: str,
        *,
        bounds: tuple[float, float] | None = None,
        epsilon: float,
        lower: float | None = None,
        step: float | None = None,
        continuous: bool = False,
        max_rows_per_unit: int = 1,
        by: None = None,
        groups: object = None,
        max_groups_per_unit: int = 1,
        usable_epsilon: float | None = None,
        request: str | None = None,
    ) -> Release[float]: ...
    @overload
    def median(
        self,
        column: str,
        *,
        bounds: tuple[float, float] | None = None,
        epsilon: float,
        lower: float | None = None,
        step: float | None = None,
        continuous: bool = False,
        max_rows_per_unit: int = 1,
        by: str,
        groups: object,
        max_groups_per_unit: int = 1,
        usable_epsilon: float | None = None,
        request: str | None = None,
    ) -> Release[dict[Any, float]]: ...
    @overload
    def quantiles(
        self,
        column: str,
        levels: Sequence[float],
        *,
        bounds: tuple[float, float],
        epsilon: float,
        step: float | None = None,
        continuous: bool = False,
        max_rows_per_unit: int = 1,
        method: QuantilesMethod = "joint",
        by: None = None,
        groups: object = None,
        max_groups_per_unit: int = 1,
        usable_epsilon: float | None = None,
        request: str | None = None,
    ) -> Release[list[float]]: ...
    @overload
    def quantiles(
        self,
        column: str,
        levels: Sequence[float],
        *,
        bounds: tuple[float, float],
        epsilon: float,
        step: float | None = None,
        continuous: bool = False,
        max_rows_per_unit: int = 1,
        method: QuantilesMethod = "joint",
        by: str,
        groups: object,
        max_groups_per_unit: int = 1,
        usable_epsilon: float | None = None,
        request: str | None = None,
    ) -> Release[dict[Any, list[float]]]: ...
    @overload
    def upper_bound(
        self,
        column: str,
        *,
        epsilon: float,
        lower: float = 0.0,
        step: float | None = None,
        max_rows_per_unit: int = 1,
        by: None = None,
        groups: object = None,
        max_groups_per_unit: int = 1,
        usable_epsilon: float | None = None,
        request: str | None = None,
    ) -> Release[float]: ...
    @overload
    def upper_bound(
        self,
        column: str,
        *,
        epsilon: float,
        lower: float = 0.0,
        step: float | None = None,
        max_rows_per_unit: int = 1,
        by: str,
        groups: object,
        max_groups_per_unit: int = 1,
        usable_epsilon: float | None = None,
        request: str | None = None,
    ) -> Release[dict[Any, float]]: ...
    @overload
    def mean(
        self,
        column: str,
        *,
        bounds: tuple[float, float],
        epsilon: float,
        step: float | None = None,
        units: int | None = None,
        by: None = None,
        groups: object = None,
        max_groups_per_unit: int = 1,
        usable_epsilon: float | None = None,
        request: str | None = None,
    ) -> Release[float]: ...
    @overload
    def mean(
        self,
        column: str,
        *,
        bounds: tuple[float, float],
        epsilon: float,
        step: float | None = None,
        units: int | None = None,
        by: str,
        groups: object,
        max_groups_per_unit: int = 1,
        usable_epsilon: float | None = None,
        request: str | None = None,
    ) -> Release[dict[Any, float]]: ...
    @overload
    def variance(
        self,
        column: str,
        *,
        bounds: tuple[float, float],
        epsilon: float,
        step: float | None = None,
        by: None = None,
        groups: object = None,
        max_groups_per_unit: int = 1,
        usable_epsilon: float | None = None,
        request: str | None = None,
    ) -> Release[float]: ...
    @overload
    def variance(
        self,
        column: str,
        *,
        bounds: tuple[float, float],
        epsilon: float,
        step: float | None = None,
        by: str,
        groups: object,
        max_groups_per_unit: int = 1,
        usable_epsilon: float | None = None,
        request: str | None = None,
    ) -> Release[dict[Any, float]]: ...
    @overload
    def best_price(
        self,
        column: str,
        *,
        prices: object = None,
        bounds: tuple[float, float] | None = None,
        epsilon: float,
        step: float | None = None,
        continuous: bool = False,
        max_rows_per_unit: int = 1,
        by: None = None,
        groups: object = None,
        max_groups_per_unit: int = 1,
        usable_epsilon: float | None = None,
        request: str | None = None,
    ) -> Release[float]: ...
    @overload
    def best_price(
        self,
        column: str,
        *,
        prices: object = None,
        bounds: tuple[float, float] | None = None,
        epsilon: float,
        step: float | None = None,
        continuous: bool = False,
        max_rows_per_unit: int = 1,
        by: str,
        groups: object,
        max_groups_per_unit: int = 1,
        usable_epsilon: float | None = None,
        request: str | None = None,
    ) -> Release[dict[Any, float]]: ...
    @overload
    def density(
        self,
        column: str,
        *,
        bounds: tuple[float, float],
        bins: int,
        epsilon: float,
        method: Literal["counts", "sample"] = "counts",
        units: int | None = None,
        sample_size: int | None = None,
        by: None = None,
        groups: object = None,
        max_groups_per_unit: int = 1,
        usable_epsilon: float | None = None,
        request: str | None = None,
    ) -> Release[list[float]]: ...
    @overload
    def density(
        self,
        column: str,
        *,
        bounds: tuple[float, float],
        bins: int,
        epsilon: float,
        method: Literal["counts", "sample"] = "counts",
        units: int | None = None,
        sample_size: int | None = None,
        by: str,
        groups: object,
        max_groups_per_unit: int = 1,
        usable_epsilon: float | None = None,
        request: str | None = None,
    ) -> Release[dict[Any, list[float]]]: ...
