"""The methods of a data set, for type checkers and editors: written by ``make readme``, from what questions declare."""

from collections.abc import Callable, Mapping, Sequence
from datetime import date
from fractions import Fraction
from inspect import Signature
from typing import Any, Literal, Self, overload

from dpselect.certificates.release import Release
from dpselect.privacy import Neighbours
from dpselect.questions.question import Question
from dpselect.rows.table import Rows
from dpselect.session.answering import TableQuestion
from dpselect.summaries import PublicGroups

class Asking:
    _groups: PublicGroups | None
    _neighbours: Neighbours
    _reply: Callable[[list[TableQuestion]], list[Any]]
    _rows: Rows
    def __init_subclass__(cls, *, of: str = "Dataset", returns: str = "Release[{value}]") -> None: ...
    def by(self, by: str | Sequence[str], *, groups: object = None, max_groups_per_unit: int = 1) -> Any: ...
    def where(self, conditions: Mapping[str, Any] | None = None, /, **named: Any) -> Self: ...

def rows_of(asked: Asking) -> Rows: ...
def groups_of(asked: Asking) -> PublicGroups | None: ...
def planner(asked: Asking) -> PlainQuestions: ...
def method_of(question: type[Question], *, of: str, returns: str) -> Callable[..., Any]: ...
def signature_of(question: type[Question], *, returns: str = "") -> Signature: ...
def doc_of(question: type[Question]) -> str: ...
def table_of_example(question: type[Question]) -> str: ...
def in_python(help: str) -> str: ...

class PlainQuestions(Asking):
    def count(
        self,
        column: str | None = None,
        *,
        epsilon: float,
        candidates: object = None,
        between: tuple[float, float] | None = None,
        usable_epsilon: float | None = None,
        request: str | None = None,
    ) -> Release[int]: ...
    def histogram(
        self,
        column: str,
        *,
        epsilon: float,
        candidates: object = None,
        bins: Sequence[float] | None = None,
        max_values_per_unit: int = 1,
        delta: float = 0.0,
        usable_epsilon: float | None = None,
        request: str | None = None,
    ) -> Release[list[int]]: ...
    def values(
        self,
        column: str,
        *,
        epsilon: float,
        delta: float,
        max_values_per_unit: int = 1,
        kind: str | None = None,
        usable_epsilon: float | None = None,
        request: str | None = None,
    ) -> Release[list[Any]]: ...
    def most_common(
        self,
        column: str,
        *,
        epsilon: float,
        candidates: object,
        max_values_per_unit: int | None = None,
        with_counts: bool = False,
        usable_epsilon: float | None = None,
        request: str | None = None,
    ) -> Release[Any]: ...
    def least_common(
        self,
        column: str,
        *,
        epsilon: float,
        candidates: object,
        max_values_per_unit: int | None = None,
        with_counts: bool = False,
        usable_epsilon: float | None = None,
        request: str | None = None,
    ) -> Release[Any]: ...
    def best_date(
        self,
        column: str,
        *,
        epsilon: float,
        dates: object = None,
        bounds: tuple[object, object] | None = None,
        step: int = 1,
        with_counts: bool = False,
        usable_epsilon: float | None = None,
        request: str | None = None,
    ) -> Release[date]: ...
    def top_k(
        self,
        column: str,
        k: int,
        *,
        epsilon: float,
        candidates: object = None,
        delta: float = 0.0,
        with_counts: bool = False,
        max_values_per_unit: int | None = None,
        usable_epsilon: float | None = None,
        request: str | None = None,
    ) -> Release[list[Any]]: ...
    def sum(
        self,
        column: str,
        *,
        epsilon: float,
        clip: tuple[float | Fraction, float | Fraction],
        scale: float | Fraction = 1.0,
        usable_epsilon: float | None = None,
        request: str | None = None,
    ) -> Release[float]: ...
    def best_by(
        self,
        column: str,
        sum: str,
        *,
        epsilon: float,
        clip: tuple[float | Fraction, float | Fraction],
        scale: float | Fraction = 1.0,
        candidates: object,
        with_counts: bool = False,
        usable_epsilon: float | None = None,
        request: str | None = None,
    ) -> Release[Any]: ...
    def best_price(
        self,
        column: str,
        *,
        epsilon: float,
        prices: object,
        max_rows_per_unit: int = 1,
        usable_epsilon: float | None = None,
        request: str | None = None,
    ) -> Release[float]: ...
    @overload
    def median(
        self,
        column: str,
        *,
        epsilon: float,
        bounds: tuple[float, float] | None = None,
        step: float | Fraction | None = None,
        continuous: bool = False,
        max_rows_per_unit: int = 1,
        lower: float | Fraction | None = None,
        usable_epsilon: float | None = None,
        request: str | None = None,
    ) -> Release[float]: ...
    @overload
    def median(
        self,
        column: str,
        *,
        epsilon: float,
        bounds: tuple[date | str, date | str],
        step: float | Fraction | None = None,
        continuous: bool = False,
        max_rows_per_unit: int = 1,
        lower: float | Fraction | None = None,
        usable_epsilon: float | None = None,
        request: str | None = None,
    ) -> Release[date]: ...
    @overload
    def quantile(
        self,
        column: str,
        level: float,
        *,
        epsilon: float,
        bounds: tuple[float, float] | None = None,
        step: float | Fraction | None = None,
        continuous: bool = False,
        max_rows_per_unit: int = 1,
        lower: float | Fraction | None = None,
        usable_epsilon: float | None = None,
        request: str | None = None,
    ) -> Release[float]: ...
    @overload
    def quantile(
        self,
        column: str,
        level: float,
        *,
        epsilon: float,
        bounds: tuple[date | str, date | str],
        step: float | Fraction | None = None,
        continuous: bool = False,
        max_rows_per_unit: int = 1,
        lower: float | Fraction | None = None,
        usable_epsilon: float | None = None,
        request: str | None = None,
    ) -> Release[date]: ...
    @overload
    def quantiles(
        self,
        column: str,
        levels: Sequence[float],
        *,
        epsilon: float,
        bounds: tuple[float, float],
        step: float | Fraction | None = None,
        continuous: bool = False,
        max_rows_per_unit: int = 1,
        method: Literal["joint", "halving"] = "joint",
        usable_epsilon: float | None = None,
        request: str | None = None,
    ) -> Release[list[float]]: ...
    @overload
    def quantiles(
        self,
        column: str,
        levels: Sequence[float],
        *,
        epsilon: float,
        bounds: tuple[date | str, date | str],
        step: float | Fraction | None = None,
        continuous: bool = False,
        max_rows_per_unit: int = 1,
        method: Literal["joint", "halving"] = "joint",
        usable_epsilon: float | None = None,
        request: str | None = None,
    ) -> Release[list[date]]: ...
    def upper_bound(
        self,
        column: str,
        *,
        epsilon: float,
        lower: float | Fraction = 0.0,
        step: float | Fraction | None = None,
        max_rows_per_unit: int = 1,
        usable_epsilon: float | None = None,
        request: str | None = None,
    ) -> Release[float]: ...
    def mean(
        self,
        column: str,
        *,
        epsilon: float,
        bounds: tuple[float, float],
        step: float | Fraction | None = None,
        usable_epsilon: float | None = None,
        request: str | None = None,
    ) -> Release[float]: ...
    def variance(
        self,
        column: str,
        *,
        epsilon: float,
        bounds: tuple[float, float],
        step: float | Fraction | None = None,
        usable_epsilon: float | None = None,
        request: str | None = None,
    ) -> Release[float]: ...
    def std(
        self,
        column: str,
        *,
        epsilon: float,
        bounds: tuple[float, float],
        step: float | Fraction | None = None,
        usable_epsilon: float | None = None,
        request: str | None = None,
    ) -> Release[float]: ...
    def density(
        self,
        column: str,
        *,
        epsilon: float,
        bounds: tuple[float, float],
        bins: int,
        usable_epsilon: float | None = None,
        request: str | None = None,
    ) -> Release[list[float]]: ...
    def by(
        self, by: str | Sequence[str], *, groups: object = None, max_groups_per_unit: int = 1
    ) -> GroupedQuestions: ...

class GroupedQuestions(Asking):
    def count(
        self,
        column: str | None = None,
        *,
        epsilon: float,
        candidates: object = None,
        between: tuple[float, float] | None = None,
        usable_epsilon: float | None = None,
        request: str | None = None,
    ) -> Release[dict[Any, int]]: ...
    def histogram(
        self,
        column: str,
        *,
        epsilon: float,
        candidates: object = None,
        bins: Sequence[float] | None = None,
        max_values_per_unit: int = 1,
        delta: float = 0.0,
        usable_epsilon: float | None = None,
        request: str | None = None,
    ) -> Release[dict[Any, list[int]]]: ...
    def values(
        self,
        column: str,
        *,
        epsilon: float,
        delta: float,
        max_values_per_unit: int = 1,
        kind: str | None = None,
        usable_epsilon: float | None = None,
        request: str | None = None,
    ) -> Release[dict[Any, list[Any]]]: ...
    def most_common(
        self,
        column: str,
        *,
        epsilon: float,
        candidates: object,
        max_values_per_unit: int | None = None,
        with_counts: bool = False,
        usable_epsilon: float | None = None,
        request: str | None = None,
    ) -> Release[dict[Any, Any]]: ...
    def least_common(
        self,
        column: str,
        *,
        epsilon: float,
        candidates: object,
        max_values_per_unit: int | None = None,
        with_counts: bool = False,
        usable_epsilon: float | None = None,
        request: str | None = None,
    ) -> Release[dict[Any, Any]]: ...
    def best_date(
        self,
        column: str,
        *,
        epsilon: float,
        dates: object = None,
        bounds: tuple[object, object] | None = None,
        step: int = 1,
        with_counts: bool = False,
        usable_epsilon: float | None = None,
        request: str | None = None,
    ) -> Release[dict[Any, date]]: ...
    def top_k(
        self,
        column: str,
        k: int,
        *,
        epsilon: float,
        candidates: object = None,
        delta: float = 0.0,
        with_counts: bool = False,
        max_values_per_unit: int | None = None,
        usable_epsilon: float | None = None,
        request: str | None = None,
    ) -> Release[dict[Any, list[Any]]]: ...
    def sum(
        self,
        column: str,
        *,
        epsilon: float,
        clip: tuple[float | Fraction, float | Fraction],
        scale: float | Fraction = 1.0,
        usable_epsilon: float | None = None,
        request: str | None = None,
    ) -> Release[dict[Any, float]]: ...
    def best_by(
        self,
        column: str,
        sum: str,
        *,
        epsilon: float,
        clip: tuple[float | Fraction, float | Fraction],
        scale: float | Fraction = 1.0,
        candidates: object,
        with_counts: bool = False,
        usable_epsilon: float | None = None,
        request: str | None = None,
    ) -> Release[dict[Any, Any]]: ...
    def best_price(
        self,
        column: str,
        *,
        epsilon: float,
        prices: object,
        max_rows_per_unit: int = 1,
        usable_epsilon: float | None = None,
        request: str | None = None,
    ) -> Release[dict[Any, float]]: ...
    @overload
    def median(
        self,
        column: str,
        *,
        epsilon: float,
        bounds: tuple[float, float] | None = None,
        step: float | Fraction | None = None,
        continuous: bool = False,
        max_rows_per_unit: int = 1,
        lower: float | Fraction | None = None,
        usable_epsilon: float | None = None,
        request: str | None = None,
    ) -> Release[dict[Any, float]]: ...
    @overload
    def median(
        self,
        column: str,
        *,
        epsilon: float,
        bounds: tuple[date | str, date | str],
        step: float | Fraction | None = None,
        continuous: bool = False,
        max_rows_per_unit: int = 1,
        lower: float | Fraction | None = None,
        usable_epsilon: float | None = None,
        request: str | None = None,
    ) -> Release[dict[Any, date]]: ...
    @overload
    def quantile(
        self,
        column: str,
        level: float,
        *,
        epsilon: float,
        bounds: tuple[float, float] | None = None,
        step: float | Fraction | None = None,
        continuous: bool = False,
        max_rows_per_unit: int = 1,
        lower: float | Fraction | None = None,
        usable_epsilon: float | None = None,
        request: str | None = None,
    ) -> Release[dict[Any, float]]: ...
    @overload
    def quantile(
        self,
        column: str,
        level: float,
        *,
        epsilon: float,
        bounds: tuple[date | str, date | str],
        step: float | Fraction | None = None,
        continuous: bool = False,
        max_rows_per_unit: int = 1,
        lower: float | Fraction | None = None,
        usable_epsilon: float | None = None,
        request: str | None = None,
    ) -> Release[dict[Any, date]]: ...
    @overload
    def quantiles(
        self,
        column: str,
        levels: Sequence[float],
        *,
        epsilon: float,
        bounds: tuple[float, float],
        step: float | Fraction | None = None,
        continuous: bool = False,
        max_rows_per_unit: int = 1,
        method: Literal["joint", "halving"] = "joint",
        usable_epsilon: float | None = None,
        request: str | None = None,
    ) -> Release[dict[Any, list[float]]]: ...
    @overload
    def quantiles(
        self,
        column: str,
        levels: Sequence[float],
        *,
        epsilon: float,
        bounds: tuple[date | str, date | str],
        step: float | Fraction | None = None,
        continuous: bool = False,
        max_rows_per_unit: int = 1,
        method: Literal["joint", "halving"] = "joint",
        usable_epsilon: float | None = None,
        request: str | None = None,
    ) -> Release[dict[Any, list[date]]]: ...
    def upper_bound(
        self,
        column: str,
        *,
        epsilon: float,
        lower: float | Fraction = 0.0,
        step: float | Fraction | None = None,
        max_rows_per_unit: int = 1,
        usable_epsilon: float | None = None,
        request: str | None = None,
    ) -> Release[dict[Any, float]]: ...
    def mean(
        self,
        column: str,
        *,
        epsilon: float,
        bounds: tuple[float, float],
        step: float | Fraction | None = None,
        usable_epsilon: float | None = None,
        request: str | None = None,
    ) -> Release[dict[Any, float]]: ...
    def variance(
        self,
        column: str,
        *,
        epsilon: float,
        bounds: tuple[float, float],
        step: float | Fraction | None = None,
        usable_epsilon: float | None = None,
        request: str | None = None,
    ) -> Release[dict[Any, float]]: ...
    def std(
        self,
        column: str,
        *,
        epsilon: float,
        bounds: tuple[float, float],
        step: float | Fraction | None = None,
        usable_epsilon: float | None = None,
        request: str | None = None,
    ) -> Release[dict[Any, float]]: ...
    def density(
        self,
        column: str,
        *,
        epsilon: float,
        bounds: tuple[float, float],
        bins: int,
        usable_epsilon: float | None = None,
        request: str | None = None,
    ) -> Release[dict[Any, list[float]]]: ...
