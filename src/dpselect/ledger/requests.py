"""The answer of a request id: looked up before a charge, and stored after a draw."""

from __future__ import annotations

from dataclasses import replace

import sqlalchemy as sa

from dpselect.errors import InvalidCertificateError, LedgerDamagedError, RequestReusedError, Shown
from dpselect.ledger import store
from dpselect.ledger.chain import release_hash
from dpselect.ledger.charge_request import ChargeRequest
from dpselect.ledger.damage import readable
from dpselect.ledger.reading import question_of, receipt_of
from dpselect.ledger.records import Receipt
from dpselect.ledger.unsettled import answer_of, being_stored, warn_of


def answered(
    connection: sa.Connection, row: store.AccountRow, charge: ChargeRequest, *, wait_for_others: bool, ledger: str
) -> Receipt | None:
    """The receipt with the answer of the request, stored or still kept by this process; None if there is no answer.

    Args:
        connection: to the ledger.
        row: the account.
        charge: the request.
        wait_for_others: refuse an answer that another thread is storing at this moment.
        ledger: the ledger's address in messages.

    Warns:
        AnswerNotStoredWarning: the answer is not stored yet.

    Raises:
        RequestReusedError: the request id belongs to another question.
        LedgerDamagedError: the answer, or a charge under the id, is not what was written.
        BeingStoredError: another thread is storing the answer.
    """
    if charge.request is None:
        return None
    name = row.terms.name
    held = store.entries_under(connection, row, charge.request, ledger=ledger)
    for entry in held:
        with readable(ledger, name, entry["sequence"]):
            known = question_of(entry)
        if known != charge.request_hash:
            shown, hint = Shown(repr(charge.request)), "Nothing was charged. Use another id for another question."
            raise RequestReusedError("request", shown, "an id not used for another question", hint)
    found = [entry for entry in held if entry["release"] is not None]
    for entry in found:
        if release_hash(entry["hash"], entry["release"]) != entry["release_hash"]:
            text = f"the release for request {charge.request!r} was changed after it was stored."
            raise LedgerDamagedError(ledger, text)
    unstored = [entry for entry in held if answer_of(entry["hash"]) is not None]
    if not found and not unstored:
        return None
    first = (found or unstored)[0]
    with readable(ledger, name, first["sequence"]):
        receipt = receipt_of(first)
    if found:
        return receipt
    storing = being_stored(receipt.hash)
    if storing is not None and wait_for_others:
        raise storing
    why = "another try just now failed as well" if storing is None else "another thread has not been able to, so far"
    warn_of(receipt, why, ledger=ledger)
    return replace(receipt, release=answer_of(receipt.hash))


def stored_release(
    connection: sa.Connection, row: store.AccountRow, receipt: Receipt, request: str, release: str, *, ledger: str
) -> str:
    """`release`, now stored for the charge of `receipt`; or the release that its request had already.

    Raises:
        InvalidCertificateError: the receipt is not one of this ledger's.
    """
    held = store.entries_under(connection, row, request, ledger=ledger)
    mine = [entry for entry in held if entry["sequence"] == receipt.sequence]
    if not mine or mine[0]["hash"] != receipt.hash:
        raise InvalidCertificateError("receipt", receipt, "the receipt of a charge of this ledger")
    for entry in held:
        if entry["release"] is not None:
            return str(entry["release"])
    digest = release_hash(receipt.hash, release)
    store.insert_release(connection, row.terms.number, receipt.sequence, body=release, digest=digest)
    return release
