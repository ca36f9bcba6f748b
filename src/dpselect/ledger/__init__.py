"""What was spent, kept on disk: accounts with limits, charges before draws, a chain that shows what was changed."""

from dpselect.ledger.ledger import Ledger
from dpselect.ledger.records import Account, Entry, Receipt, Verified

__all__ = ["Account", "Entry", "Ledger", "Receipt", "Verified"]
