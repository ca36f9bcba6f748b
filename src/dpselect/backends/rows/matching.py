"""What stands in a row, turned into the unit and the candidate or number it names, or null; this can never fail.

Rules, row by row, the same for every row:

- A unit that is null, NaN or, as text, blank or one of the usual words for "missing" is nobody: the row is left out.
  It is never one more person, or all the unknown would share one contribution.
- Whole numbers are compared as whole numbers: in text ``7``, ``07``, ``+7``, ``7.0`` and surrounding blanks are 7,
  but ``1.5`` is not 2, and ``1e3``, ``0x1F`` and ``1_000`` are not whole numbers.
- Numbers in text are written in decimal, with an exponent or without: ``7``, ``+7.50``, ``.5``, ``1e3``, blanks around;
  ``1,5``, ``$7``, ``0x1F``, ``1_000``, ``inf`` and ``nan`` are none. They are the double nearest to what is written.
"""

from __future__ import annotations

from dpselect.backends.columns import Holds
from dpselect.backends.rows.arrow import Array, pa, pc
from dpselect.summaries import CandidateKind

MISSING = ("NA", "N/A", "NaN", "nan", "NULL", "Null", "null", "None", "<NA>")
"""Words that data tools write for a missing value; as the text of a unit they are nobody."""

_LONGEST = 64
"""Digits of a digest by SHA-256."""

_BLANKS = "' ' || chr(9) || chr(10) || chr(11) || chr(12) || chr(13)"
_WHOLE_NUMBER = r"[ \t]*[+-]?[0-9]+(\.0*)?[ \t]*"
_DECIMAL_NUMBER = r"[ \t]*[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?[ \t]*"
_DATE = r"[ \t]*[0-9]{4}-[0-9]{2}-[0-9]{2}[ \t]*"

_TYPES = {
    CandidateKind.INTEGER: "BIGINT",
    CandidateKind.NUMBER: "DOUBLE",
    CandidateKind.TEXT: "VARCHAR",
    CandidateKind.DATE: "DATE",
    CandidateKind.BOOLEAN: "BOOLEAN",
}

_AS_TEXT = (Holds.ANYTHING, Holds.TEXT, Holds.DECIMALS, Holds.NOTHING)
"""What arrives as text from the readers."""


def known_units(column: Array, holds: Holds) -> Array:
    """Text units without the blanks around them, null where they are nobody; other columns as they are.

    >>> known_units(pa.array([" ann ", "n/a", "N/A", ""]), Holds.TEXT).to_pylist()
    ['ann', 'n/a', None, None]
    """
    if holds not in (Holds.ANYTHING, Holds.TEXT):
        return column
    trimmed = pc.ascii_trim_whitespace(column)
    return pc.if_else(pc.is_in(trimmed, value_set=pa.array(["", *MISSING], trimmed.type)), None, trimmed)


def unit_condition(holds: Holds) -> str:
    """SQL for whether a row belongs to anybody, from column ``unit`` as `known_units` left it."""
    if holds in (Holds.FLOATS, Holds.SHORT_FLOATS):
        return "unit IS NOT NULL AND NOT isnan(unit)"
    return "unit IS NOT NULL"


def unit_expression(holds: Holds) -> str:
    """SQL for who a row belongs to, from column ``unit`` as `known_units` left it, where `unit_condition` holds.

    In place of a text of more than `_LONGEST` bytes stands a digest, longer than any unit that stands for itself. Of
    long text the engine keeps more in memory than it spills, wherever it sorts or groups, and how long a person's name
    is must not decide whether there is memory enough.

    Proof: ``proofs/counting.md``.
    """
    if holds in _AS_TEXT:
        return f"CASE WHEN strlen(unit) > {_LONGEST} THEN '-' || sha256(unit) ELSE unit END"
    if holds is Holds.BYTES:
        return f"CASE WHEN octet_length(unit) > {_LONGEST} THEN ('-' || sha256(unit))::BLOB ELSE unit END"
    return "unit"


def value_expression(kind: CandidateKind, holds: Holds, *, name: str = "value") -> str:
    """SQL for what a row says, from column `name`, in the type of the candidates; null if it can be none of them."""
    if holds in _AS_TEXT:
        return _from_text(kind, name)
    if kind is CandidateKind.INTEGER and holds in (Holds.FLOATS, Holds.SHORT_FLOATS):
        return f"CASE WHEN {name} = trunc({name}) THEN TRY_CAST({name} AS BIGINT) END"
    return f"TRY_CAST({name} AS {_TYPES[kind]})"


def number_expression(holds: Holds, *, name: str = "value") -> str:
    """SQL for the number in a row, from column `name`, as the nearest double; null if it is none."""
    if holds in (Holds.FLOATS, Holds.SHORT_FLOATS):
        return f"CASE WHEN isnan({name}) THEN NULL ELSE {name} END"
    return value_expression(CandidateKind.NUMBER, holds, name=name)


def _from_text(kind: CandidateKind, name: str) -> str:
    match kind:
        case CandidateKind.TEXT:
            return name
        case CandidateKind.BOOLEAN:
            word = f"lower(trim({name}, {_BLANKS}))"
            return f"CASE {word} WHEN 'true' THEN true WHEN 'false' THEN false END"
        case CandidateKind.INTEGER:
            pattern = _WHOLE_NUMBER
        case CandidateKind.NUMBER:
            pattern = _DECIMAL_NUMBER
        case CandidateKind.DATE:
            pattern = _DATE
    return f"TRY_CAST(CASE WHEN regexp_full_match({name}, '{pattern}') THEN {name} END AS {_TYPES[kind]})"
