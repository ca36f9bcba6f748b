"""Passwords that were typed are removed from messages, because others see screens and logs are kept."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from dpselect.server_urls import HIDDEN, may_tell_password

SHOWN_OF_EACH = 40
"""Largest number of characters of an argument that messages quote before they cut it off."""

_WORD = re.compile(r"\S+")


def without_passwords(text: str, arguments: Sequence[str]) -> str:
    """`text` without those `arguments` that may contain a password, and without any word that looks like one.

    >>> without_passwords("Not understood: 'host=db password=a b'. See --help.", ["host=db password=a b"])
    "Not understood: '<text that may hold a password>'. See --help."
    >>> without_passwords("ledger postgresql://ann@db/shop: it is gone; nobody:secret@db", [])
    'ledger postgresql://ann@db/shop: it is gone; <text that may hold a password>'
    """
    forms = {form for each in arguments for form in _forms(each)}
    for form in sorted(forms, key=len, reverse=True):
        text = text.replace(form, HIDDEN)
    return _WORD.sub(lambda word: HIDDEN if may_tell_password(word[0]) else word[0], text)


def _forms(argument: str) -> Iterator[str]:
    """The ways in which messages quote it: whole, or one side of its equals sign; unchanged, or as Python writes it."""
    for part in (argument, *argument.partition("=")[::2]):
        if may_tell_password(part):
            for cut in (part, part[:SHOWN_OF_EACH]):
                yield cut
                yield repr(cut)[1:-1]
