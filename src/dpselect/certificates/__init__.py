"""Certificates: what an answer carries, the schema of its text, and the check of all that it claims."""

from typing import TYPE_CHECKING

from dpselect.on_use import on_use

if TYPE_CHECKING:
    from dpselect.certificates.checking import Checked as Checked
    from dpselect.certificates.checking import check as check
    from dpselect.certificates.release import Release as Release
else:
    __getattr__, __dir__, __all__ = on_use(
        __name__,
        {
            "dpselect.certificates.checking": "Checked check",
            "dpselect.certificates.release": "Release",
        },
    )
