"""A durable record of spending: accounts with limits, charges before draws, a hash chain that shows changes."""

from typing import TYPE_CHECKING

from dpselect.on_use import on_use

if TYPE_CHECKING:
    from dpselect.ledger.accounts import Account as Account
    from dpselect.ledger.accounts import Head as Head
    from dpselect.ledger.entries import Entry as Entry
    from dpselect.ledger.entries import Receipt as Receipt
    from dpselect.ledger.ledger import Ledger as Ledger
else:
    __getattr__, __dir__, __all__ = on_use(__name__, __file__)
