"""Forms of questions about the adult table, empty or filled in, as the pages make them of what is typed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from dpselect.web import Site
from dpselect.web.forms import Form
from tests.question_words import DECLARED

ADULT = str(Path(__file__).parents[2] / "examples" / "data" / "adult.csv")


def site(source: str = ADULT, unit: str = "person_id") -> Any:
    """What the pages are about."""
    return Site(source=source, unit=unit)


def empty(name: str, about: Any = None) -> Any:
    """The form of the question of this name before anything is typed."""
    return Form.read(DECLARED[name], about or site())


def filled(name: str, typed: Mapping[str, str]) -> Any:
    """The same after this was typed."""
    return Form.read(DECLARED[name], site(), typed)


def plan_of(form: Any) -> Any:
    """What the page says of it before it is confirmed; None if something is missing or wrong."""
    return form.plan()


def instead_of_planning(patch: pytest.MonkeyPatch, act: Callable[..., Any]) -> None:
    """From here on this happens where a page would say what a question costs."""
    patch.setattr(Form, "plan", act)
