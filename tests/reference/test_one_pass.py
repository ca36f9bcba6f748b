"""One pass finds what each summary finds alone."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.reference.one_pass import Place, Row, alone, together

rows = st.lists(
    st.fixed_dictionaries({"unit": st.sampled_from(["ann", "bob", None]), "x": st.integers(0, 4)}), max_size=12
)


def small(row: Row) -> int | None:
    return row["x"] if isinstance(row["x"], int) and row["x"] < 3 else None


def is_odd(row: Row) -> int | None:
    return 0 if isinstance(row["x"], int) and row["x"] % 2 else None


def any_of_five(row: Row) -> int | None:
    return int(str(row["x"]))


ASKED: list[tuple[Place, int]] = [(small, 3), (is_odd, 1), (any_of_five, 5)]


@given(rows=rows, bits=st.integers(1, 12))
def test_together_is_alone(rows: list[Row], bits: int) -> None:
    assert together(rows, ASKED, bits=bits) == [alone(rows, *each) for each in ASKED]


def test_rows_of_nobody_and_repeated_rows_would_be_noticed() -> None:
    """Control of the test above."""
    one: list[Row] = [{"unit": "ann", "x": 1}]
    assert (
        together([*one, {"unit": None, "x": 2}, *one], ASKED)
        == together(one, ASKED)
        == [[0, 1, 0], [1], [0, 1, 0, 0, 0]]
    )
    assert together([*one, {"unit": "bob", "x": 2}], ASKED) != together(one, ASKED)
