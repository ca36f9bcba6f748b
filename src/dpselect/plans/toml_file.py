"""The file of a plan: TOML, whose keys are the arguments of `dpselect.Plan`."""

from __future__ import annotations

import os
import tomllib
from pathlib import Path
from typing import Any, cast

from dpselect.errors import InvalidParameterError, Shown

_LARGEST = 10_000_000


def read_toml(path: str | os.PathLike[str]) -> tuple[dict[str, Any], Path]:
    """The content of the file, and the folder that paths in it start from.

    Raises:
        InvalidParameterError: there is no such file, or it is not TOML; the error says in which line.
    """
    if not isinstance(cast(object, path), str | os.PathLike) or "\0" in str(path):
        raise InvalidParameterError("plan", path, "the path of a file in TOML")
    place = Path(path)
    shown = Shown(repr(str(place)))
    try:
        if place.stat().st_size > _LARGEST:
            raise InvalidParameterError("plan", shown, "a file of at most 10 MB, which lists questions and no data")
        text = place.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InvalidParameterError("plan", shown, "a file in UTF-8") from None
    except OSError as failure:
        reason = f"{os.strerror(failure.errno)}." if failure.errno else ""
        raise InvalidParameterError("plan", shown, "a readable file in TOML", reason) from None
    try:
        return tomllib.loads(text.replace("\r\n", "\n")), place.absolute().parent
    except (ValueError, RecursionError) as error:  # also of too many digits, or brackets in brackets
        found = f"{error}. " if isinstance(error, tomllib.TOMLDecodeError) and len(str(error)) < 200 else ""
        hint = f"{found}Texts are in double quotes, and each question begins with [questions.its_name]."
        raise InvalidParameterError("plan", shown, "a file in TOML", hint) from None


def in_folder(path: str, folder: Path) -> str:
    """A path that is not absolute, from `folder`. A URL of a server stays as it is, and so does an absolute path.

    >>> in_folder("people.csv", Path("/plans")), in_folder("sqlite:///budget.db", Path("/plans"))
    ('/plans/people.csv', 'sqlite:////plans/budget.db')
    >>> in_folder("postgresql://ann@db/shop", Path("/plans"))
    'postgresql://ann@db/shop'
    """
    scheme, separator, rest = path.partition("sqlite:///")
    if separator and not scheme:
        return separator + (rest if os.path.isabs(rest) else str(folder / rest))
    return path if "://" in path else str(folder / path)
