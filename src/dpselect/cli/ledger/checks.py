"""``dpselect ledger verify|anchor|backup|restore``: is it whole, and what if it is not."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from dpselect.cli.ledger.commands import ledger_app
from dpselect.cli.ledger.output import show_accounts, show_heads, show_verified
from dpselect.cli.options import Flag, Json, Names
from dpselect.errors import InvalidCertificateError, InvalidParameterError, Shown

Known = tuple[str, int, str]
_EXPECTED = "ACCOUNT:ENTRY:HASH, such as clicks:17:4f0c... of a receipt"


@ledger_app.command(name="verify")
def verify_chain(
    ledger: str,
    account: str | None = None,
    /,
    *,
    anchor: str | None = None,
    expect: Names = None,
    certificates: Path | None = None,
    only_new: Flag = False,
    as_json: Json = False,
) -> None:
    """Check that the entries are those once written, and that no limit was passed.

    A ledger alone cannot show that it was written anew as a whole, or that an
    older copy was put in its place. Its anchor can, and so can any receipt.

    Args:
        ledger: The ledger.
        account: Name of an account. Default: all.
        anchor: File or database in which it was noted how far each account had come.
        expect: An entry that was noted elsewhere, as ACCOUNT:ENTRY:HASH. May be given several times.
        certificates: Folder of certificates (*.json), whose receipts are looked up.
        only_new: Begin at what the anchor noted, without reading what lies before.
        as_json: Print one JSON object a line instead of a table.
    """
    from dpselect.ledger import Ledger

    known = [_known(each) for each in expect or []]
    if certificates is not None:
        known += _receipts(certificates)
    with Ledger(ledger, anchor=anchor) as opened:
        found = opened.verify(account, expected=known, only_new=only_new)
    show_verified(found, as_json=as_json)


@ledger_app.command
def anchor(ledger: str, /, *, to: str, as_json: Json = False) -> None:
    """Note how far each account has come, outside of the ledger.

    Keep the anchor where whoever restores or loses the ledger does not restore
    or lose it, too: on another disk, or in another database.

    Args:
        ledger: The ledger.
        to: File that is appended to, or the URL of another database.
        as_json: Print one JSON object a line instead of a table.
    """
    from dpselect.ledger import Ledger

    with Ledger(ledger) as opened:
        heads = opened.anchor(to)
    show_heads(heads, as_json=as_json)


@ledger_app.command
def backup(ledger: str, /, *, to: Path, as_json: Json = False) -> None:
    """Copy the ledger into a new file while others go on charging, and verify the copy.

    Args:
        ledger: The ledger, a SQLite file. Of a database on a server make a dump.
        to: File of the copy, which must not be there yet.
        as_json: Print one JSON object a line instead of a table.
    """
    from dpselect.ledger import Ledger

    with Ledger(ledger) as opened:
        found = opened.backup(to)
    show_verified(found, as_json=as_json)


@ledger_app.command
def restore(copy: str, /, *, to: Path, anchor: str, write_off: Flag = False, as_json: Json = False) -> None:
    """Put a copy in the place of a ledger that is lost.

    Charges that were made after the copy are missing in it. The anchor knows
    what they came to: without --write-off such a copy is refused, with it they
    are counted as spent.

    Args:
        copy: The copy, as `ledger backup` made it.
        to: File of the ledger. What was there has to be moved away first.
        anchor: File or database in which it was noted how far each account had come.
        write_off: Count what the copy lacks as spent.
        as_json: Print one JSON object a line instead of a table.
    """
    from dpselect.errors import LedgerRolledBackError
    from dpselect.ledger import Ledger
    from dpselect.ledger.restoring import new_place

    place = new_place(to, "to")
    with Ledger(copy, anchor=anchor) as restored:
        try:
            restored.verify()
        except LedgerRolledBackError:
            if not write_off:
                raise
        restored.backup(place)
    with Ledger(place, anchor=anchor) as restored:
        if write_off:
            restored.write_off()
        restored.verify()
        found = restored.accounts()
    show_accounts(found, as_json=as_json)


def _known(text: str) -> Known:
    account, _, rest = text.partition(":") if text.count(":") == 2 else _from_the_right(text)
    entry, _, digest = rest.partition(":")
    digest = digest.lower()
    is_hash = len(digest) == 64 and not set(digest) - set("0123456789abcdef")
    if not account or not (entry.isascii() and entry.isdigit() and len(entry) < 19) or not is_hash:
        raise InvalidParameterError("--expect", Shown(repr(text[:40])), _EXPECTED)
    return account, int(entry), digest


def _from_the_right(text: str) -> tuple[str, str, str]:
    """The name of an account may hold colons itself."""
    *account, entry, digest = text.split(":") if text.count(":") > 2 else ("", "", "")
    return ":".join(account), ":", f"{entry}:{digest}"


def _receipts(folder: Path) -> list[Known]:
    """Of all certificates in a folder, and those within it, that were charged to a ledger."""
    if not folder.is_dir():
        raise InvalidParameterError("--certificates", Shown("<path>"), "a folder of certificates")
    known: list[Known] = []
    for path in sorted(each for each in folder.rglob("*") if each.suffix.lower() == ".json"):
        try:
            receipt = json.loads(path.read_text(encoding="utf-8"))["receipt"]
            if receipt is not None:
                account, entry, digest = (receipt[name] for name in ("account", "sequence", "hash"))
                if type(account) is not str or type(entry) is not int or type(digest) is not str:
                    raise ValueError("no receipt")
                known.append((account, entry, digest))
        except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
            raise InvalidCertificateError("--certificates", Shown(f"<{path.name}>"), "certificates only") from None
    if not known:
        expected = "at least one certificate (*.json) with a receipt"
        raise InvalidParameterError("--certificates", Shown("<folder>"), expected)
    print(f"Receipts to look up: {len(known)}.", file=sys.stderr)
    return known
