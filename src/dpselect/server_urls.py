"""URLs of servers, which may contain a password: how they are shown, and how one is detected in the wrong place.

Libraries do not agree on where a password with ``#``, ``?`` or ``/`` ends: only what none takes for a part is shown.
"""

from __future__ import annotations

import re

_HOST = r"(?:[\w.-]*|\[[0-9A-Fa-f:.]+\])(?::[0-9]{1,5})?"
_HOSTS = f"{_HOST}(?:,{_HOST})*"

_PLAIN = re.compile(
    r"postgres(?:ql)?(?:\+\w+)?://"
    r"(?:(?P<user>[\w.%+~-]*)(?P<password>:[^@/?#:\[\]\s]*)?@)?"
    rf"(?P<server>{_HOSTS}(?:/[\w.%+~-]*)?)"
    r"(?P<options>\?[^@#]*)?"
)
"""Without an ``@`` but the one before the host: what is before it is the user and the password, to every reader."""

UNKNOWN = "postgresql://..."
HIDDEN = "<text that may hold a password>"

_LONG = 1000
"""Of a longer text the scheme stays, as to look for it takes the square of the length: too much is hidden then."""

_KEYWORD = re.compile(r"(?:pass(?:w(?:or)?d|phrase|file)|pwd)\s*=", re.IGNORECASE)
_SCHEME = re.compile(r"\W*(?:\w[\w+.-]*://|[A-Za-z]:\\)")  # or a drive of Windows
_PARAMETER = re.compile(r"\s*(?:host|hostaddr|port|dbname|user|password|passfile|service|sslmode|options)\s*=")


def is_server(text: str) -> bool:
    """Whether `text` can be the hosts and ports of a URL, such as ``db:5432`` or ``h1:1,[::1]:2``."""
    return re.fullmatch(_HOSTS, text) is not None


def without_password(url: str) -> str:
    """`url` as it may be shown: without its options, because any of them may also contain a password.

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


def table_name(url: str, name: str) -> str:
    """The name of a table on a server in messages, and in the identity of a question."""
    return f"{without_password(url)!r}, table={name!r}"


def may_hold_password(url: str) -> bool:
    """Whether `url` contains, or may contain, a password."""
    parts = _PLAIN.fullmatch(url)
    return parts is None or parts["password"] is not None or "password" in (parts["options"] or "").lower()


def may_tell_password(text: str) -> bool:
    r"""Whether `text`, given for something else, may be where a server is, with a password: a URL, or words of libpq's.

    >>> [may_tell_password(each) for each in ("mysql://ann:secret@db", "host=db password=secret", "ann:secret@db/shop")]
    [True, True, True]
    >>> [may_tell_password(each) for each in ("postgresql://ann@db:5433/shop", "ann@example.org", r"C:\ann@db\x.db")]
    [False, False, False]
    """
    rest = text if len(text) > _LONG else _SCHEME.sub("", text, count=1)
    return _KEYWORD.search(text) is not None or 0 <= rest.find(":") < rest.rfind("@")


def is_login(text: str) -> bool:
    """Whether `text` can hardly be anything else than where a server is, with a password."""
    return _KEYWORD.search(text) is not None or ("://" in text and may_tell_password(text))


def is_conninfo(text: str) -> bool:
    """Whether `text` begins as libpq's other way to say where a server is, such as ``host=db dbname=shop``."""
    return _PARAMETER.match(text) is not None
