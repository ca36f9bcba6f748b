"""A durable record of spending: accounts with limits, charges before draws, a hash chain that shows changes."""

from dpselect.ledger.anchor_file import FileAnchor
from dpselect.ledger.anchor_table import TableAnchor
from dpselect.ledger.anchors import Anchor, Head
from dpselect.ledger.ledger import Ledger
from dpselect.ledger.records import Account, Entry, Receipt, Verified
from dpselect.ledger.roles import Role

__all__ = ["Account", "Anchor", "Entry", "FileAnchor", "Head", "Ledger", "Receipt", "Role", "TableAnchor", "Verified"]
