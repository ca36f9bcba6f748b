"""The page to learn on: two mechanisms drawn on five numbers, beside their exact probabilities."""

from __future__ import annotations

from collections.abc import Mapping

from starlette.requests import Request
from starlette.responses import Response

from dpselect.errors import InvalidParameterError
from dpselect.web.lesson import DRAWS, EXAMPLE, LETTERS, lesson
from dpselect.web.pages import Pages, route


def learn(pages: Pages, request: Request, typed: Mapping[str, str]) -> Response:
    """The numbers that were typed, or an example, and new draws."""
    given: dict[str, str] = {**dict(zip(LETTERS, EXAMPLE, strict=True)), "epsilon": "1", **request.query_params}
    held = {name: given[name].strip() for name in (*LETTERS, "epsilon")}
    errors: dict[str, str] = {}
    found = None
    try:
        found = lesson([held[letter] for letter in LETTERS], held["epsilon"])
    except InvalidParameterError as error:
        errors[error.name] = str(error)
    status = 400 if errors else 200
    return pages.shown(
        "learn.html",
        status=status,
        typed=held,
        letters=LETTERS,
        draws=DRAWS,
        lesson=found,
        errors=errors,
    )


ROUTES = (route("/learn", learn),)
