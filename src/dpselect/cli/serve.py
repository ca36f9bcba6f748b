"""``dpselect serve``: a page in the browser to choose, plan and release on."""

from __future__ import annotations

from typing import Any

from dpselect.cli.asking import format_of, ledger_of
from dpselect.cli.commands import Table, shared, with_options
from dpselect.formats import WORDS

_SHARED = shared("neighbours table memory_limit source_name times ledger account anchor")


@with_options(OF_ALL=(*_SHARED, *WORDS))
def serve(
    source: Table | None = None,
    *,
    unit: str | None = None,
    host: str = "127.0.0.1",
    port: int = 0,
    no_browser: bool = False,
    i_know_who_can_reach_this: bool = False,
    **given: Any,
) -> None:
    """Open a page on which questions are chosen, planned and released.

    dpselect serve
    dpselect serve adult.csv --unit person_id

    The page is on this machine alone, and opens in your browser by an address that
    works once. Nothing on it comes from elsewhere, and nothing leaves the machine.
    Without a table it lists those of the folder it is started in; no other file can be
    opened. Ctrl-C ends it.

    Args:
        unit: Column that identifies whom a row belongs to: who is protected. Default: chosen on the page.
        host: Address to listen at.
        port: Port to listen at. Default: any that is free.
        no_browser: Print the address, and open no browser.
        i_know_who_can_reach_this: Allow a --host that other machines can reach.
    """
    from dpselect.web import Folder, Site
    from dpselect.web import serve as serve_pages

    site = Site(
        source=source,
        unit=unit,
        ledger=ledger_of(given),
        format=format_of(given),
        **{name: given[name] for name in ("account", "neighbours", "table", "memory_limit", "source_name", "times")},
    )
    serve_pages(
        site,
        folder=Folder() if source is None else None,
        host=host,
        port=port,
        reachable=i_know_who_can_reach_this,
        browser=not no_browser,
        say=lambda line: print(line, flush=True),
    )
