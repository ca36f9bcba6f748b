"""What of a server's URL is shown: never a part of a password, whoever reads the URL."""

from __future__ import annotations

from contextlib import suppress

import psycopg
import pytest
import sqlalchemy as sa
from hypothesis import given
from hypothesis import strategies as st
from psycopg.conninfo import conninfo_to_dict

from dpselect.errors import (
    UNKNOWN,
    InvalidParameterError,
    is_login,
    may_hold_password,
    may_tell_password,
    table_name,
    without_password,
)
from dpselect.ledger.sqlite import Address, _names_file, names_a_server  # pyright: ignore[reportPrivateUsage]

ODD = st.text("ab12#?/@:[]%;,&=. +é", max_size=6)
SECRET = "sesame"


def passwords(url: str) -> set[str]:
    """What libpq and SQLAlchemy take for the password, as far as they accept the URL."""
    found = set[str]()
    with suppress(psycopg.Error, UnicodeError):
        found.add(str(conninfo_to_dict(url).get("password", "")))
    with suppress(sa.exc.ArgumentError, ValueError):
        found.add(sa.make_url(url).password or "")
    return {password for password in found if SECRET in password}


def test_a_path_with_the_drive_of_windows_is_no_url() -> None:
    assert _names_file(r"C:\data\budget.db", windows=True)
    assert not _names_file(r"C:\data\budget.db", windows=False)
    assert not _names_file("sqlite:///budget.db", windows=True)


@given(ODD, ODD, ODD, st.sampled_from(["", "/shop", ":5432/shop", "/shop?sslmode=require", "?password=sesame"]))
def test_no_part_of_a_password_is_shown(user: str, before: str, after: str, rest: str) -> None:
    url = f"postgresql://{user}:{before}{SECRET}{after}@db{rest}"
    for shown in (without_password(url), table_name(url, "t")):
        assert SECRET not in shown
        assert not any(password in shown for password in passwords(url))
    assert may_hold_password(url)
    if without_password(url) != UNKNOWN:  # then nothing before the @ of the host but the user is shown
        assert without_password(url) == f"postgresql://{user + '@' if user else ''}db{rest.partition('?')[0]}"


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("postgresql://ann:sesame@db:5433/shop", "postgresql://ann@db:5433/shop"),
        ("postgres://ann@db/shop", "postgresql://ann@db/shop"),
        ("postgresql:///shop?host=/tmp&password=sesame", "postgresql:///shop"),
        ("postgresql://[::1]:5433/shop", "postgresql://[::1]:5433/shop"),
        ("postgresql://ann:sesame@h1:1,h2:2/shop", "postgresql://ann@h1:1,h2:2/shop"),
        ("postgresql://ann:p%40w@db/shop", "postgresql://ann@db/shop"),
        ("postgresql://ann:2024#sesame@db/shop", UNKNOWN),
        ("postgresql://ann:12?3sesame@db/shop", UNKNOWN),
        ("postgresql://ann:12/3sesame@db/shop", UNKNOWN),
        ("postgresql://an/n:sesame@db/shop", UNKNOWN),
        ("postgresql://ann:a@sesame@db/shop", UNKNOWN),
        ("postgresql://ann@db/shop;password=sesame", UNKNOWN),
        ("postgresql://ann@db/shop#sesame", UNKNOWN),
        ("postgresql://ann@db/shop\nsesame", UNKNOWN),
    ],
)
def test_what_is_shown(url: str, shown: str) -> None:
    assert without_password(url) == shown


@pytest.mark.parametrize("url", ["postgresql://ann:2024#sesame@db/shop", "postgresql://an/n:sesame@db/shop"])
def test_what_a_ledger_shows(url: str) -> None:
    assert Address.given(url).shown == UNKNOWN


def test_what_looks_like_an_address_of_a_server() -> None:
    for hosts in ("db:5432", "h1:1,[::1]:2"):
        assert Address.given(f"postgresql://{hosts}/shop").shown == f"postgresql://{hosts}/shop"
    with pytest.raises(InvalidParameterError):
        Address.given("postgresql://db:port/shop")
    assert is_login("mysql://ann:secret@db")
    assert is_login("host=db password=secret")
    assert not is_login("at 05:40 by ann@db")
    assert names_a_server("host=db dbname=shop")
    assert not names_a_server("host.db")
    for secret in ("mysql://ann:secret@db", "host=db password=secret", "ann:secret@db/shop"):
        assert may_tell_password(secret)
    for plain in ("postgresql://ann@db:5433/shop", "ann@example.org", r"C:\ann@db\x.db"):
        assert not may_tell_password(plain)
    assert not may_hold_password("postgresql://ann@db/shop")
