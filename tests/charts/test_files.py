"""Charts as files: complete, offline, and refused in one clear line where they cannot be written."""

from __future__ import annotations

import json
import pickle
import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dpselect as dps
from dpselect import charts
from dpselect.charts import Axis, Series
from dpselect.errors import InvalidParameterError, MissingExtraError
from tests.charts.pictures import pixels, saved
from tests.charts.styles import styles

X, Y = Axis(title="epsilon"), Axis(title="error")


def small(**options: Any) -> Any:
    series = [
        Series(name=name, x=np.array([0.0, 1.0]), y=np.array([height, height]))
        for name, height in (("a", 1.0), ("b", 2.0), ("c", 3.0))
    ]
    return charts.lines(series, x=X, y=Y, **{"title": "Three", **options})


def has_colour(picture: Any, colour: str) -> bool:
    channels = [int(colour[i : i + 2], 16) for i in (1, 3, 5)]
    return bool((abs(picture - channels) <= 3).all(axis=-1).any())


def test_a_png_shows_every_line_and_nothing_is_cut_at_its_rim() -> None:
    picture = pixels(saved(small(), ".png"))
    height, width, _ = picture.shape
    assert 1000 < width < 1200
    assert 600 < height < 800
    assert [has_colour(picture, colour) for colour, _ in styles()] == [style in (0, 2, 5) for style in range(6)]
    inner = picture[8:-8, 8:-8]
    assert inner.size < picture.size
    assert (picture.sum() - inner.sum()) == 255 * (picture.size - inner.size)  # the rim is white
    assert inner.min() < 60


def test_an_svg_is_one_of_known_size() -> None:
    text = saved(small(), ".svg").decode()
    assert re.match(r"<svg[^>]* width=\"\d+(\.\d+)?\" height=\"\d+(\.\d+)?\"", text)
    assert "<image" not in text
    assert "href" not in text


def test_json_is_the_specification() -> None:
    chart = small()
    assert json.loads(saved(chart, ".json")) == chart.to_dict()


def test_a_page_fetches_nothing_and_links_nowhere() -> None:
    page = saved(small(), ".html").decode()
    assert re.findall(r"<script[^>]*>", page) == ['<script type="text/javascript">'] * 2
    assert page.startswith('<!DOCTYPE html>\n<html lang="en">\n<head>\n  <title>Three</title>')
    around = page.partition("<script")[0] + page.rpartition("</script>")[2]
    assert re.findall(r"<(?:link|img|iframe|base)\b", around) == []
    assert re.findall(r"<script[^>]+src=|@import", page.partition("</script>")[2]) == []
    assert '"editor": false' in page
    assert "window.vegaEmbed" in page
    assert page.count("vegaEmbed(") >= 1


def test_no_label_ends_the_script_of_a_page() -> None:
    hostile = "</script><b>"
    chart = charts.bars([hostile, "<!--"], [1, 2], category="c", value="v", title=hostile)
    page = saved(chart, ".html").decode()
    assert page.count("</script>") == 2
    assert hostile not in page
    specification = page.rpartition("const spec = ")[2]
    decoded, _ = json.JSONDecoder().raw_decode(specification)
    assert decoded == chart.to_dict()  # and nothing was lost


def test_an_existing_file_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "CHART.JSON"
    path.write_text("old" * 100_000)
    charts.save(small(), str(path))
    assert json.loads(path.read_text())["title"] == {"text": ["Three"]}


@pytest.mark.parametrize("name", ["chart.pdf", "chart", ".png", "png", "chart.svg.gz", "chart.png "])
def test_other_suffixes_are_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(
        InvalidParameterError, match=r"^path=.*: expected a file name that ends in one of \.svg, \.png, "
    ):
        charts.save(small(), tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_files_that_cannot_be_written_are_refused_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "folder.json").mkdir()
    for path, reason in [
        (tmp_path / "missing" / "chart.json", "No such file or directory."),
        (tmp_path / "folder.json", "Is a directory."),
        (tmp_path / f"{'x' * 300}.json", "File name too long."),
    ]:
        with pytest.raises(InvalidParameterError, match=r"^path=.*: expected a file that can be written\. ") as refusal:
            charts.save(small(), path)
        assert str(refusal.value).endswith(reason)
        assert "\n" not in str(refusal.value)
        assert refusal.value.__cause__ is None


@pytest.mark.parametrize("path", [None, 3, b"chart.png", "cha\0rt.png"])
def test_what_is_no_path_is_refused(path: Any) -> None:
    with pytest.raises(InvalidParameterError, match=r"^path=.*: expected the path of a file"):
        charts.save(small(), path)


@pytest.mark.parametrize("chart", [None, "chart", {"mark": "bar"}])
def test_what_is_no_chart_is_refused(chart: Any, tmp_path: Path) -> None:
    with pytest.raises(InvalidParameterError, match=r"^chart="):
        charts.save(chart, tmp_path / "chart.svg")


def test_without_the_extra_every_chart_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "altair", None)
    mechanism = dps.PermuteAndFlip(epsilon=1.0, sensitivity=1.0)
    for ask in (small, lambda: dps.planning.plot_pmf(mechanism, [1, 2])):
        with pytest.raises(MissingExtraError) as refusal:
            ask()
        said = "plots: this needs the extra 'plots': pip install '.[plots]' in a checkout, or 'FILE.whl[plots]'"
        assert str(refusal.value) == said
        assert isinstance(refusal.value, ImportError)
        assert isinstance(refusal.value, dps.SelectionError)
    assert str(pickle.loads(pickle.dumps(refusal.value))) == str(refusal.value)


@pytest.mark.parametrize("suffix", [".svg", ".png", ".html"])
def test_without_the_renderer_pictures_say_how_to_get_it(suffix: str, monkeypatch: pytest.MonkeyPatch) -> None:
    chart = small()
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    with pytest.raises(MissingExtraError, match=re.escape("'.[plots]'")):
        saved(chart, suffix)
    assert saved(chart, ".json")


def test_nothing_is_loaded_before_it_is_needed() -> None:
    """A fresh interpreter that selects has no use for a plotting library."""
    import subprocess

    ask = "import sys, dpselect, dpselect.charts; print({'altair', 'vl_convert'} & set(sys.modules))"
    shown = subprocess.run([sys.executable, "-c", ask], capture_output=True, text=True, check=True).stdout
    assert shown.strip() == "set()"
