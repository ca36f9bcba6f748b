"""The ledger of a question on the command line: asked to charge only while somebody can read the answer."""

from __future__ import annotations

from typing import Any

from dpselect.cli.streams import refuse_unread
from dpselect.ledger import Ledger, Receipt


class HeardLedger(Ledger):
    """A ledger that charges nothing once nobody can read the answer any more."""

    __slots__ = ()

    def charge(self, *given: Any, **named: Any) -> Receipt:
        """As any ledger does, if there is still somebody to read the answer.

        Raises:
            BrokenPipeError: nobody is; nothing was charged.
        """
        refuse_unread()
        return super().charge(*given, **named)
