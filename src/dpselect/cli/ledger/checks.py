"""``dpselect ledger verify|anchor|backup|restore``: whether a ledger is intact, and what to do if it is not."""

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
    """Check that the entries are unchanged, and that no limit was exceeded.

    A ledger alone cannot show that all of it was rewritten, or that it was
    replaced by an older copy. Its anchor can, and so can any receipt.

    Args:
        ledger: File or database of the ledger.
        account: Name of an account. Default: all.
        anchor: File that records the latest entry of each account.
        expect: An entry that you noted, as ACCOUNT:ENTRY:HASH. May be given several times.
        certificates: Folder of certificates (*.json) whose receipts are looked up.
        only_new: Begin at the entry that the anchor recorded, without reading earlier entries.
        as_json: Print one JSON object per line instead of a table.
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
    """Record the latest entry of each account outside the ledger.

    Keep the anchor where it is not lost or restored together with the ledger:
    on another disk.

    Args:
        ledger: File or database of the ledger.
        to: File to append to.
        as_json: Print one JSON object per line instead of a table.
    """
    from dpselect.ledger import Ledger

    with Ledger(ledger) as opened:
        heads = opened.anchor(to)
    show_heads(heads, as_json=as_json)


@ledger_app.command
def backup(ledger: str, /, *, to: Path, as_json: Json = False) -> None:
    """Copy the ledger into a new file while others continue to charge, and verify the copy.

    Args:
        ledger: File of the ledger. For a database on a server, make a dump instead.
        to: File of the copy, which must not exist yet.
        as_json: Print one JSON object per line instead of a table.
    """
    from dpselect.ledger import Ledger

    with Ledger(ledger) as opened:
        found = opened.backup(to)
    show_verified(found, as_json=as_json)


@ledger_app.command
def restore(copy: str, /, *, to: Path, anchor: str, as_json: Json = False) -> None:
    """Replace a lost ledger by a copy, unless charges are missing in it.

    The anchor knows whether charges were made after the copy.

    Args:
        copy: Copy made by `ledger backup`.
        to: File of the ledger. Move away an existing file first.
        anchor: File that records the latest entry of each account.
        as_json: Print one JSON object per line instead of a table.
    """
    from dpselect.ledger import Ledger
    from dpselect.ledger.sqlite_file import new_place

    place = new_place(to, "to")
    with Ledger(copy, anchor=anchor) as restored:
        restored.verify()
        restored.backup(place)
    with Ledger(place, anchor=anchor) as restored:
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
    """The name of an account may contain colons."""
    *account, entry, digest = text.split(":") if text.count(":") > 2 else ("", "", "")
    return ":".join(account), ":", f"{entry}:{digest}"


def _receipts(folder: Path) -> list[Known]:
    """The receipts of all certificates in a folder and its subfolders that were charged to a ledger."""
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
