"""The types of questions about counts and sums: with `by` the value is a dictionary with an answer for each group.

`counts.py` has the methods and their documentation; `stubtest` compares the two.
"""

from typing import Any, overload

from dpselect.certificates.release import Release
from dpselect.session.asking import Asking

class CountQuestions(Asking):
    @overload
    def count(
        self,
        column: str | None = None,
        *,
        values: object = None,
        between: tuple[float, float] | None = None,
        epsilon: float,
        by: None = None,
        groups: object = None,
        max_groups_per_unit: int = 1,
        usable_epsilon: float | None = None,
        request: str | None = None,
    ) -> Release[int]: ...
    @overload
    def count(
        self,
        column: str | None = None,
        *,
        values: object = None,
        between: tuple[float, float] | None = None,
        epsilon: float,
        by: str,
        groups: object,
        max_groups_per_unit: int = 1,
        usable_epsilon: float | None = None,
        request: str | None = None,
    ) -> Release[dict[Any, int]]: ...
    @overload
    def count(
        self,
        column: str | None = None,
        *,
        values: object = None,
        between: tuple[float, float] | None = None,
        epsilon: float,
        by: str | None = None,
        groups: object = None,
        max_groups_per_unit: int = 1,
        usable_epsilon: float | None = None,
        request: str | None = None,
    ) -> Release[int] | Release[dict[Any, int]]: ...
    @overload
    def histogram(
        self,
        column: str,
        *,
        candidates: object = None,
        epsilon: float,
        max_values_per_unit: int = 1,
        delta: float = 0.0,
        by: None = None,
        groups: object = None,
        max_groups_per_unit: int = 1,
        allow_many: bool = False,
        usable_epsilon: float | None = None,
        request: str | None = None,
    ) -> Release[list[int]]: ...
    @overload
    def histogram(
        self,
        column: str,
        *,
        candidates: object = None,
        epsilon: float,
        max_values_per_unit: int = 1,
        delta: float = 0.0,
        by: str,
        groups: object,
        max_groups_per_unit: int = 1,
        allow_many: bool = False,
        usable_epsilon: float | None = None,
        request: str | None = None,
    ) -> Release[dict[Any, list[int]]]: ...
    @overload
    def histogram(
        self,
        column: str,
        *,
        candidates: object = None,
        epsilon: float,
        max_values_per_unit: int = 1,
        delta: float = 0.0,
        by: str | None = None,
        groups: object = None,
        max_groups_per_unit: int = 1,
        allow_many: bool = False,
        usable_epsilon: float | None = None,
        request: str | None = None,
    ) -> Release[list[int]] | Release[dict[Any, list[int]]]: ...
    @overload
    def sum(
        self,
        column: str,
        *,
        clip: tuple[float, float],
        epsilon: float,
        scale: float = 1.0,
        by: None = None,
        groups: object = None,
        max_groups_per_unit: int = 1,
        usable_epsilon: float | None = None,
        request: str | None = None,
    ) -> Release[float]: ...
    @overload
    def sum(
        self,
        column: str,
        *,
        clip: tuple[float, float],
        epsilon: float,
        scale: float = 1.0,
        by: str,
        groups: object,
        max_groups_per_unit: int = 1,
        usable_epsilon: float | None = None,
        request: str | None = None,
    ) -> Release[dict[Any, float]]: ...
    @overload
    def sum(
        self,
        column: str,
        *,
        clip: tuple[float, float],
        epsilon: float,
        scale: float = 1.0,
        by: str | None = None,
        groups: object = None,
        max_groups_per_unit: int = 1,
        usable_epsilon: float | None = None,
        request: str | None = None,
    ) -> Release[float] | Release[dict[Any, float]]: ...
    @overload
    def values(
        self,
        column: str,
        *,
        epsilon: float,
        delta: float,
        max_values_per_unit: int = 1,
        kind: str | None = None,
        by: None = None,
        groups: object = None,
        max_groups_per_unit: int = 1,
        usable_epsilon: float | None = None,
        request: str | None = None,
    ) -> Release[list[Any]]: ...
    @overload
    def values(
        self,
        column: str,
        *,
        epsilon: float,
        delta: float,
        max_values_per_unit: int = 1,
        kind: str | None = None,
        by: str,
        groups: object,
        max_groups_per_unit: int = 1,
        usable_epsilon: float | None = None,
        request: str | None = None,
    ) -> Release[dict[Any, list[Any]]]: ...
    @overload
    def values(
        self,
        column: str,
        *,
        epsilon: float,
        delta: float,
        max_values_per_unit: int = 1,
        kind: str | None = None,
        by: str | None = None,
        groups: object = None,
        max_groups_per_unit: int = 1,
        usable_epsilon: float | None = None,
        request: str | None = None,
    ) -> Release[list[Any]] | Release[dict[Any, list[Any]]]: ...
