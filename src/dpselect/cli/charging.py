"""A ledger for the command line."""

from __future__ import annotations

from typing import Any

from dpselect.cli.streams import refuse_unread
from dpselect.ledger import Ledger, Receipt


class LedgerChargingIfRead(Ledger):
    """A ledger that charges nothing once nobody can read the answer any more."""

    __slots__ = ()

    def charge(self, *given: Any, **named: Any) -> Receipt:
        """Charge as any ledger does, if somebody can still read the answer.

        Raises:
            BrokenPipeError: nobody can; nothing was charged.
        """
        refuse_unread()
        return super().charge(*given, **named)
