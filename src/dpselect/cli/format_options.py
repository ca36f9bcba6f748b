"""The options that declare how the cells of a file are written."""

from __future__ import annotations

from dataclasses import dataclass

from cyclopts import Parameter

from dpselect.cli.help_text import SHARED
from dpselect.cli.options import Flag, Text
from dpselect.formats import Format


@Parameter(name="*", group=SHARED)
@dataclass(frozen=True, kw_only=True)
class FormatOptions:
    """A declared format: the words of `dpselect.Format`."""

    delimiter: Text | None = None
    """Character between the cells of a CSV file, or tab, semicolon or pipe. Default: comma; tab in .tsv files."""

    encoding: str = "utf-8"
    """Encoding of a CSV file: utf-8, latin-1, iso-8859-15, cp1250, cp1251, cp1252, utf-16, utf-16-le or utf-16-be."""

    thousands: Text | None = None
    """Mark between groups of three digits, such as ','. Default: none, and 1,234 is not a number."""

    decimal: Text = "."
    """Decimal mark: . or ,"""

    date_format: Text | None = None
    """Format of dates, in the words %Y %y %m %b %d, such as %d.%m.%Y. Default: %Y-%m-%d."""

    strip: Text = ""
    """Characters to take away from both ends of numbers and behind their signs, such as '$%'. 5% is then 5."""

    ignore_case: Flag = False
    """Compare text and groups without regard to capitals."""

    trim: Flag = False
    """Compare text and groups without the blanks around them."""

    sheet: Text | None = None
    """Name of the sheet of an Excel file. Default: the only one."""

    @property
    def format(self) -> Format:
        """The same in Python."""
        return Format(
            delimiter=self.delimiter,
            encoding=self.encoding,
            thousands=self.thousands,
            decimal=self.decimal,
            date_format=self.date_format,
            strip=self.strip,
            ignore_case=self.ignore_case,
            trim=self.trim,
            sheet=self.sheet,
        )


AS_USUAL = FormatOptions()
"""Nothing declared."""
