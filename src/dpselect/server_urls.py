"""URLs of PostgreSQL servers, which may hold a password: what of them may be shown.

Libraries do not agree on where a password ends that has characters with a meaning of their own in URLs, such as ``#``,
``?`` or ``/``, and each of them accepts some of these. A part of a URL is shown only if no reading takes it for a part
of a password.
"""

from __future__ import annotations

import re

_HOST = r"(?:[\w.-]*|\[[0-9A-Fa-f:.]+\])(?::[0-9]{1,5})?"

_PLAIN = re.compile(
    r"postgres(?:ql)?(?:\+\w+)?://"
    r"(?:(?P<user>[\w.%+~-]*)(?P<password>:[^@/?#:\[\]\s]*)?@)?"
    rf"(?P<server>{_HOST}(?:,{_HOST})*(?:/[\w.%+~-]*)?)"
    r"(?P<options>\?[^@#]*)?"
)
"""Without an ``@`` but the one before the host: what is before it is the user and the password, to every reader."""

UNKNOWN = "postgresql://..."


def without_password(url: str) -> str:
    """`url` as it may be shown: nothing of its options either, as any of them may hold a password, too.

    >>> without_password("postgresql://ann:secret@db.example.org:5433/shop?password=secret")
    'postgresql://ann@db.example.org:5433/shop'
    >>> without_password("postgresql://ann:2026#secret@db.example.org/shop")
    'postgresql://...'
    """
    parts = _PLAIN.fullmatch(url)
    if parts is None:
        return UNKNOWN
    user = f"{parts['user']}@" if parts["user"] else ""
    return f"postgresql://{user}{parts['server']}"


def may_hold_password(url: str) -> bool:
    """Whether `url` has, or may have, a password or options in it.

    >>> may_hold_password("postgresql://ann@db/shop"), may_hold_password("postgresql://ann:2026?secret@db/shop")
    (False, True)
    """
    parts = _PLAIN.fullmatch(url)
    return parts is None or parts["password"] is not None or "password" in (parts["options"] or "").lower()
