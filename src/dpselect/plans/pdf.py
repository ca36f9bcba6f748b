"""The report as a PDF file, by WeasyPrint, for archives and printers. It loads nothing either."""

from __future__ import annotations

import io
from contextlib import redirect_stdout
from importlib import import_module
from typing import Any

from dpselect.errors import MissingExtraError


def as_pdf(page: str) -> bytes:
    """The report as PDF.

    Args:
        page: what `dpselect.plans.report.report` made; its pictures are in it.

    Raises:
        MissingExtraError: the extra ``pdf`` is not installed, or the system's library Pango, which it needs.
    """
    weasyprint, fetcher = _library()
    return weasyprint.HTML(string=page, url_fetcher=fetcher).write_pdf()


def check_library() -> None:
    """Refuse early what would fail after everything was paid for; see `as_pdf`."""
    _library()


def _library() -> tuple[Any, Any]:
    try:
        with redirect_stdout(io.StringIO()):  # without Pango it prints a page there
            # By name: it has no types of its own, and need not be installed where types are checked.
            weasyprint: Any = import_module("weasyprint")
            urls: Any = import_module("weasyprint.urls")
    except (ImportError, OSError):  # the latter without Pango
        raise MissingExtraError("reports in PDF", "pdf") from None
    return weasyprint, urls.URLFetcher(allowed_protocols=["data"])
