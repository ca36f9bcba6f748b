"""A durable record of spending: accounts with limits, charges before draws, a hash chain that shows changes."""

from typing import TYPE_CHECKING

from dpselect.on_use import on_use

if TYPE_CHECKING:
    from dpselect.ledger.accounts import Account as Account
    from dpselect.ledger.accounts import Head as Head
    from dpselect.ledger.ledger import Ledger as Ledger
    from dpselect.ledger.records import Entry as Entry
    from dpselect.ledger.records import Receipt as Receipt
else:
    __getattr__, __dir__, __all__ = on_use(__name__, __file__)
