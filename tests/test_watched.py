"""What watches reading and drawing does so: a test that forbids them fails where they happen."""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa
import pytest

import dpselect as dps
from tests.watched import before_drawing, before_each_pass, before_reading, forbid_drawing, forbid_reading, statements

PEOPLE = dps.Dataset(pa.table({"who": [1, 2, 2], "age": [30, 40, 50]}), unit="who")


def ask() -> dps.Release:
    return PEOPLE.median("age", bounds=(0, 99), step=1, epsilon=1.0)


@pytest.mark.parametrize(("forbid", "said"), [(forbid_reading, "rows were read"), (forbid_drawing, "something was")])
def test_what_is_forbidden_fails(
    forbid: Callable[[pytest.MonkeyPatch], None], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    forbid(monkeypatch)
    with pytest.raises(pytest.fail.Exception, match=said):
        ask()


def test_rows_are_read_in_one_pass_and_then_the_answer_is_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    happened = list[str]()
    asked = statements(monkeypatch)
    before_reading(monkeypatch, lambda: happened.append("reading"))
    before_each_pass(monkeypatch, lambda _: happened.append("a pass"))
    before_drawing(monkeypatch, lambda: happened.append("drawing"))
    ask()
    assert happened == ["reading", "a pass", "drawing"]
    assert [each["max_rows_per_unit"] for each in asked] == [1]
