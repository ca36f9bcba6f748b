"""The commands for accounts: what was promised, and what is spent."""

from dpselect.cli.ledger import checks as checks
from dpselect.cli.ledger.commands import ledger_app
from dpselect.cli.ledger.verify import verify

__all__ = ["ledger_app", "verify"]
