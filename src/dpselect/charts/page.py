"""A chart as a web page that needs no network."""

from __future__ import annotations

import html
import json
from string import Template
from typing import Any

from dpselect.charts.extra import renderer

_PAGE = Template("""\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>$title</title>
<script>
$library
</script>
</head>
<body>
<div id="chart"></div>
<script>
vegaEmbed("#chart", $chart, $options);
</script>
</body>
</html>
""")

_OPTIONS = {
    "mode": "vega-lite",
    "renderer": "svg",
    "actions": {"export": True, "source": False, "compiled": False, "editor": False},
}
"""The menu saves the picture; it has no link that would hand the data to a web site."""


def page(chart: Any) -> str:
    """The page: the drawing library, then the chart's specification, and nothing to be fetched."""
    specification = chart.to_dict()
    # The plotting library's own page leaves "<" as it is, and a label with "</script>" in it would end the script.
    written = json.dumps(specification, allow_nan=False).replace("<", "\\u003c")
    return _PAGE.substitute(
        title=html.escape(str(specification.get("description", "chart"))),
        library=renderer().javascript_bundle(),
        chart=written,
        options=json.dumps(_OPTIONS),
    )
