"""Charges made ahead: all questions of a plan are charged in one transaction, and each is drawn later.

The entry of such a charge says that it was made ahead. It may be drawn for once, by the process that commits an entry
that begins this draw and costs nothing. So a charge ahead without such an entry was never drawn for, and after a crash
the next attempt uses it. One with such an entry may have been drawn for, and a new attempt is charged again.

Proof: ``proofs/ledger.md``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa

from dpselect.ledger import store
from dpselect.ledger.charge_request import ChargeRequest
from dpselect.ledger.damage import readable
from dpselect.ledger.reading import question_of, receipt_of
from dpselect.ledger.records import Receipt

AHEAD, BEGINS = "ahead", "begins"
"""Fields of entries: of a charge that was made ahead, and of one that begins the draw for it, with its number."""


def charged_ahead(
    connection: sa.Connection, row: store.AccountRow, charge: ChargeRequest, *, ledger: str
) -> tuple[list[Receipt], list[Receipt]]:
    """The receipts of charges ahead for this question under its request: those not drawn for, and those begun.

    The hash of a certificate is not compared if the charge has none.
    """
    if charge.request is None:
        return [], []
    waiting: dict[int, Receipt] = {}
    begun: list[Receipt] = []
    for entry in store.entries_under(connection, row, charge.request, ledger=ledger):
        with readable(ledger, row.terms.name, entry["sequence"]):
            body: Mapping[str, Any] = json.loads(entry["body"])
            if question_of(entry) != charge.request_hash:
                continue
            if BEGINS in body:
                found = waiting.pop(body[BEGINS], None)
                begun += [] if found is None else [found]
            elif AHEAD in body and charge.certificate_hash in (None, body.get("question")):
                waiting[entry["sequence"]] = receipt_of(entry)
    return list(waiting.values()), begun


def beginning(charge: ChargeRequest, receipt: Receipt) -> dict[str, Any]:
    """The fields of the entry that begins the draw for a charge ahead."""
    return {BEGINS: receipt.sequence, "request": charge.request, "asked": charge.request_hash}
