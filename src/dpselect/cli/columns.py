"""``dpselect columns``: what the columns of a table are called, for the holder."""

from __future__ import annotations

import sys
from typing import Any

from dpselect.cli.options import SHARED, Table, with_options
from dpselect.cli.shared_options import format_of, shared
from dpselect.cli.streams import printable, say
from dpselect.formats import WORDS, declared


@with_options((SHARED, (*shared("table"), *WORDS)))
def columns(source: Table, /, **given: Any) -> None:
    """Show what the columns are called, and their types where the format has types.

    dpselect columns adult.csv

    For the holder only: a CSV file without a header line has somebody's row in the
    first line.
    """
    from dpselect.rows.columns import Holds
    from dpselect.rows.opening import open_table

    found = open_table(source, table=given["table"], format=declared(format_of(given))).engine.columns
    if not sys.stdout.isatty():
        say("the output is no terminal. Its first line may be somebody's row: keep it to yourself.")
    named = [(printable(each.name), "" if each.holds is Holds.ANYTHING else str(each.holds)) for each in found]
    width = max(len(name) for name, _ in named)
    for name, holds in named:
        print(f"{name:<{width}}  {holds}".rstrip())
