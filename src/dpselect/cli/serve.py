"""``dpselect serve``: a page in the browser to choose, plan and release on."""

from __future__ import annotations

from typing import Any

from dpselect.cli.options import SHARED, File, Flag, Text, Whole, in_one_piece, with_options
from dpselect.cli.shared_options import FORMAT, filled, format_of
from dpselect.privacy import Neighbours
from dpselect.public_time import Times


@with_options((SHARED, FORMAT))
@in_one_piece
def serve(
    source: File | None = None,
    /,
    *,
    unit: str | None = None,
    ledger: str | None = None,
    account: str | None = None,
    anchor: str | None = None,
    host: str = "127.0.0.1",
    port: Whole = 0,
    no_browser: Flag = False,
    i_know_who_can_reach_this: Flag = False,
    neighbours: Neighbours = Neighbours.ADD_REMOVE,
    table: str | None = None,
    memory_limit: str | None = None,
    source_name: Text | None = None,
    times: Times = Times.DAY,
    **written: Any,
) -> None:
    """Open a page on which questions are chosen, planned and released.

    dpselect serve adult.csv --unit person_id

    The page is on this machine alone, and opens in your browser by an address that
    works once. Nothing on it comes from elsewhere, and nothing leaves the machine.
    Without a table it plans, and reads and releases nothing. Ctrl-C ends it.

    Args:
        source: CSV, TSV, Parquet, Arrow, ORC, JSON lines or Excel file, text also as .gz or .zst; a quoted glob such as
            'clicks/*.parquet'; the folder of a Delta table; or a PostgreSQL URL.
        unit: Column that identifies whom a row belongs to: who is protected. Default: chosen on the page.
        ledger: Ledger to charge before an answer is drawn, such as sqlite:///budget.db.
        account: Ledger account to charge.
        anchor: File that records the latest entry of each account, so that an older ledger copy is refused.
        host: Address to listen at.
        port: Port to listen at. Default: any that is free.
        no_browser: Print the address, and open no browser.
        i_know_who_can_reach_this: Allow a --host that other machines can reach.
        neighbours: Which tables the guarantee compares: one unit added or removed, or the rows of one unit replaced.
        table: For PostgreSQL: name of the table, or schema.table.
        memory_limit: Memory limit for reading, such as 2GiB; what does not fit goes to a temporary folder. DuckDB only.
        source_name: What certificates call the table, beside the names of its files without folders.
        times: Precision of the request time in certificates, in UTC. A finer time would reveal something about the
            rows.
    """
    from dpselect.errors import InvalidParameterError, Shown
    from dpselect.ledger import Ledger
    from dpselect.web import Site
    from dpselect.web import serve as serve_pages

    if anchor is not None and ledger is None:
        raise InvalidParameterError("--anchor", Shown("<anchor>"), "--ledger and --account together with it")
    site = Site(
        source=source,
        unit=unit,
        ledger=None if ledger is None else Ledger(ledger, anchor=anchor),
        ledger_url=ledger,
        account=account,
        neighbours=neighbours,
        table=table,
        memory_limit=memory_limit,
        format=format_of(filled(FORMAT, written)),
        source_name=source_name,
        times=times,
    )
    serve_pages(
        site,
        host=host,
        port=port,
        reachable=i_know_who_can_reach_this,
        browser=not no_browser,
        say=lambda line: print(line, flush=True),
    )
