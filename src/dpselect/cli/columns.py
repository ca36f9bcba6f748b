"""``dpselect columns``: what the columns of a table are called, for the holder."""

from __future__ import annotations

import sys
from typing import Any

from dpselect.cli.options import SHARED, Table, with_options
from dpselect.cli.shared_options import FORMAT, format_of, shared
from dpselect.cli.streams import printable, say


@with_options((SHARED, (*shared("table"), *FORMAT)))
def columns(source: Table, /, **given: Any) -> None:
    """Show what the columns are called, and their types where the format has types.

    dpselect columns adult.csv

    For the holder only: a CSV file without a header line has somebody's row in the
    first line.
    """
    from dpselect.formats import declared
    from dpselect.rows.columns import Holds
    from dpselect.session.columns import columns_of

    found = columns_of(source, table=given["table"], format=declared(format_of(given)))
    if not sys.stdout.isatty():
        say("the output is no terminal. Its first line may be somebody's row: keep it to yourself.")
    named = [(printable(each.name), "" if each.holds is Holds.ANYTHING else str(each.holds)) for each in found]
    width = max(len(name) for name, _ in named)
    for name, holds in named:
        print(f"{name:<{width}}  {holds}".rstrip())
