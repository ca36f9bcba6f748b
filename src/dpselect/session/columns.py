"""The columns of a table, for whoever holds it; not for anybody else, as a first line may be somebody's row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dpselect.rows.columns import Column
from dpselect.rows.opening import open_table


def columns_of(source: object, **reading: Any) -> Sequence[Column]:
    """All columns of a table in a file or on a server, in order.

    Args:
        source: as for the `dpselect.Dataset`.
        reading: how it is opened; see `dpselect.rows.opening.open_table`.

    Raises:
        InvalidDataError, TableUnavailableError, MissingExtraError: as for the `dpselect.Dataset`.

    >>> [column.name for column in columns_of("examples/data/clicks.parquet")]
    ['session', 'page']
    """
    return open_table(source, **reading).engine.columns
