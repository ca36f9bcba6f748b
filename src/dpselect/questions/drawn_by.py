"""What draws one candidate: permute-and-flip, or the exponential mechanism where a caller or a plan chooses it."""

from __future__ import annotations

from dpselect.errors import InvalidParameterError, typed
from dpselect.mechanisms import ExponentialMechanism, PermuteAndFlip

EXPONENTIAL = "exponential"
FLIP = "permute-and-flip"

DRAWN_BY: dict[str, type[PermuteAndFlip] | type[ExponentialMechanism]] = {
    FLIP: PermuteAndFlip,
    EXPONENTIAL: ExponentialMechanism,
}
"""The mechanisms, by what callers call them."""


def checked_method(method: object, **deciding: object) -> type[PermuteAndFlip] | type[ExponentialMechanism]:
    """The mechanism that `method` names; permute-and-flip for None.

    Args:
        method: what the caller said.
        **deciding: other arguments that decide what draws. With a method they have to be None or False.

    Raises:
        InvalidParameterError: there is no such method, or another argument decides.

    >>> checked_method(None, with_counts=True).__name__, checked_method("exponential").__name__
    ('PermuteAndFlip', 'ExponentialMechanism')
    """
    if method is None:
        return PermuteAndFlip
    kind = DRAWN_BY.get(method) if isinstance(method, str) else None
    if kind is None:
        raise InvalidParameterError("method", typed(method), f"'{FLIP}', '{EXPONENTIAL}' or None")
    for name, value in deciding.items():
        if value is not None and value is not False:
            raise InvalidParameterError("method", typed(method), f"None with `{name}`, which decides what draws")
    return kind


def method_of(mechanism: str) -> str | None:
    """The method with which a certificate that names this mechanism can be planned again."""
    return EXPONENTIAL if mechanism == ExponentialMechanism.__name__ else None
