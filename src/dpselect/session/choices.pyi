"""The types of questions about candidates: with `by` the value is a dictionary with an answer for each group.

`choices.py` has the methods and their documentation; `stubtest` compares the two.
"""

from datetime import date
from fractions import Fraction
from typing import Any, overload

from dpselect.certificates.release import Release
from dpselect.session.asking import Asking

class ChoiceQuestions(Asking):
    @overload
    def most_common(
        self,
        column: str,
        *,
        candidates: object = None,
        epsilon: float,
        by: None = None,
        groups: object = None,
        max_groups_per_unit: int = 1,
        allow_many: bool = False,
        with_counts: bool = False,
        max_values_per_unit: int | None = None,
        usable_epsilon: float | None = None,
        request: str | None = None,
    ) -> Release[Any]: ...
    @overload
    def most_common(
        self,
        column: str,
        *,
        candidates: object = None,
        epsilon: float,
        by: str,
        groups: object,
        max_groups_per_unit: int = 1,
        allow_many: bool = False,
        with_counts: bool = False,
        max_values_per_unit: int | None = None,
        usable_epsilon: float | None = None,
        request: str | None = None,
    ) -> Release[dict[Any, Any]]: ...
    @overload
    def least_common(
        self,
        column: str,
        *,
        candidates: object = None,
        epsilon: float,
        by: None = None,
        groups: object = None,
        max_groups_per_unit: int = 1,
        allow_many: bool = False,
        with_counts: bool = False,
        max_values_per_unit: int | None = None,
        usable_epsilon: float | None = None,
        request: str | None = None,
    ) -> Release[Any]: ...
    @overload
    def least_common(
        self,
        column: str,
        *,
        candidates: object = None,
        epsilon: float,
        by: str,
        groups: object,
        max_groups_per_unit: int = 1,
        allow_many: bool = False,
        with_counts: bool = False,
        max_values_per_unit: int | None = None,
        usable_epsilon: float | None = None,
        request: str | None = None,
    ) -> Release[dict[Any, Any]]: ...
    @overload
    def top_k(
        self,
        column: str,
        k: int,
        *,
        candidates: object = None,
        epsilon: float,
        delta: float = 0.0,
        by: None = None,
        groups: object = None,
        max_groups_per_unit: int = 1,
        allow_many: bool = False,
        with_counts: bool = False,
        max_values_per_unit: int | None = None,
        kind: str | None = None,
        usable_epsilon: float | None = None,
        request: str | None = None,
    ) -> Release[list[Any]]: ...
    @overload
    def top_k(
        self,
        column: str,
        k: int,
        *,
        candidates: object = None,
        epsilon: float,
        delta: float = 0.0,
        by: str,
        groups: object,
        max_groups_per_unit: int = 1,
        allow_many: bool = False,
        with_counts: bool = False,
        max_values_per_unit: int | None = None,
        kind: str | None = None,
        usable_epsilon: float | None = None,
        request: str | None = None,
    ) -> Release[dict[Any, list[Any]]]: ...
    @overload
    def best_date(
        self,
        column: str,
        *,
        dates: object = None,
        bounds: tuple[object, object] | None = None,
        step: int = 1,
        epsilon: float,
        by: None = None,
        groups: object = None,
        max_groups_per_unit: int = 1,
        with_counts: bool = False,
        usable_epsilon: float | None = None,
        request: str | None = None,
    ) -> Release[date]: ...
    @overload
    def best_date(
        self,
        column: str,
        *,
        dates: object = None,
        bounds: tuple[object, object] | None = None,
        step: int = 1,
        epsilon: float,
        by: str,
        groups: object,
        max_groups_per_unit: int = 1,
        with_counts: bool = False,
        usable_epsilon: float | None = None,
        request: str | None = None,
    ) -> Release[dict[Any, date]]: ...
    @overload
    def best_by(
        self,
        column: str,
        *,
        sum: str,
        clip: tuple[float | Fraction, float | Fraction],
        scale: float | Fraction = 1,
        candidates: object = None,
        epsilon: float,
        by: None = None,
        groups: object = None,
        max_groups_per_unit: int = 1,
        allow_many: bool = False,
        with_counts: bool = False,
        usable_epsilon: float | None = None,
        request: str | None = None,
    ) -> Release[Any]: ...
    @overload
    def best_by(
        self,
        column: str,
        *,
        sum: str,
        clip: tuple[float | Fraction, float | Fraction],
        scale: float | Fraction = 1,
        candidates: object = None,
        epsilon: float,
        by: str,
        groups: object,
        max_groups_per_unit: int = 1,
        allow_many: bool = False,
        with_counts: bool = False,
        usable_epsilon: float | None = None,
        request: str | None = None,
    ) -> Release[dict[Any, Any]]: ...
