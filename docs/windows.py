"""Whether every page of the built site fits into a window: ``python docs/windows.py docs/_build/html``.

A browser looks: on a wide screen and on a phone no page may be wider than its window, and no code may be cut off. What
does not fit is wrapped, or its block scrolls. Needs Chromium on the path; where there is none, this says so and ends.
"""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
import sys
import tempfile
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

WIDTHS = (1280, 390)
"""Pixels: a notebook, a phone."""

NAMES = ("chromium", "chromium-browser", "google-chrome")

# Each page is opened in a frame as wide as the window it stands for. A browser without a screen has no narrow windows.
_MEASURE = """<!doctype html><title>measured</title><pre id="found"></pre><script>
const pages = PAGES, widths = WIDTHS, found = [];
function cutOff(page, width) {
  const said = [], root = page.documentElement, style = each => page.defaultView.getComputedStyle(each);
  if (root.scrollWidth > width) said.push(`the page is ${root.scrollWidth} pixels wide`);
  for (const block of page.querySelectorAll("pre, table, math, img, svg, .sig")) {
    const box = block.getBoundingClientRect();
    if (!box.width || box.right <= width + 1 && block.scrollWidth <= block.clientWidth + 1) continue;
    let each = block, scrolls = false;  // the theme lets the whole page scroll, which hides what is cut off
    for (; each && each.tagName != "ARTICLE"; each = each.parentElement)
      scrolls ||= ["auto", "scroll"].includes(style(each).overflowX);
    if (box.right > width + 1 && !scrolls || block.tagName == "PRE" && style(block).overflowX == "hidden")
      said.push(`${block.tagName.toLowerCase()} is cut off: ${block.textContent.trim().slice(0, 60)}`);
  }
  return said;
}
async function opened(page, width) {
  const frame = document.createElement("iframe");
  frame.style.cssText = `width: ${width}px; height: 900px; border: 0`;
  const loaded = new Promise(done => frame.onload = done);
  frame.src = page;
  document.body.append(frame);
  await loaded;
  const said = cutOff(frame.contentDocument, width);
  frame.remove();
  return said;
}
onload = async () => {
  for (const page of pages) for (const width of widths)
    for (const said of await opened(page, width)) found.push(`${page} at ${width}: ${said}`);
  document.getElementById("found").textContent = JSON.stringify({looked: pages.length * widths.length, found});
};
</script>"""


def faults(site: Path, browser: str) -> list[str]:
    """What does not fit on the pages of `site`, one line each."""
    pages = sorted(path.relative_to(site).as_posix() for path in site.rglob("*.html") if path.name != "measured.html")
    program = _MEASURE.replace("PAGES", json.dumps(pages)).replace("WIDTHS", json.dumps(WIDTHS))
    probe = site / "measured.html"
    probe.write_text(program, encoding="utf-8")
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(site)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        with tempfile.TemporaryDirectory() as profile:
            command = [browser, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={profile}"]
            command += ["--virtual-time-budget=3600000", "--dump-dom"]
            command.append(f"http://127.0.0.1:{server.server_address[1]}/measured.html")
            dumped = subprocess.run(command, capture_output=True, text=True, timeout=600, check=True).stdout
    finally:
        server.shutdown()
        server.server_close()
        probe.unlink()
    told = re.search(r'<pre id="found">(.+?)</pre>', dumped, re.DOTALL)
    if told is None:
        return ["the browser ended before it had looked at every page"]
    result = json.loads(html.unescape(told[1]))
    if result["looked"] != len(pages) * len(WIDTHS) or not pages:
        return [f"the browser looked at {result['looked']} windows instead of {len(pages) * len(WIDTHS)}"]
    return list(result["found"])


_CONTROL = """<!doctype html><body style="margin: 0">
<div style="width: 1400px; height: 9px"></div><pre style="overflow: hidden">CODE</pre>""".replace("CODE", "x" * 999)
"""A page with both faults, at every width."""


def sees_faults(browser: str) -> bool:
    """Whether the browser finds the faults of a page that has them: otherwise it would find none anywhere."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "control.html").write_text(_CONTROL, encoding="utf-8")
        found = faults(Path(folder), browser)
    expected = [(width, words) for width in WIDTHS for words in ("pixels wide", "pre is cut off")]
    return all(any(f"at {width}:" in each and words in each for each in found) for width, words in expected)


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        """Say nothing of each file."""


def main(site: Path) -> int:
    """Print what does not fit; the exit status is 1 if there is anything."""
    browser = next(filter(None, map(shutil.which, NAMES)), None)
    if browser is None:
        print("Chromium is not installed: nobody has looked whether the pages fit into a window.")
        return 0
    found = faults(site, browser) if sees_faults(browser) else ["the browser does not notice what is cut off"]
    print(*found, sep="\n", end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
