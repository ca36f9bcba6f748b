"""Pictures of pages for the documents: taken by the tests where ``SCREENSHOTS`` names a folder to put them into.

A picture keeps 256 colours, which is a third of the size, and shows on a page of text and bars hardly anywhere.
"""

from __future__ import annotations

import base64
import os
import struct
import zlib
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_COLOURS, _FREQUENT = 256, 192
_READ = """
async png => {
    const bytes = Uint8Array.from(atob(png), each => each.charCodeAt(0));
    const picture = await createImageBitmap(new Blob([bytes], {type: "image/png"}));
    const canvas = new OffscreenCanvas(picture.width, picture.height).getContext("2d");
    canvas.drawImage(picture, 0, 0);
    const pixels = canvas.getImageData(0, 0, picture.width, picture.height).data;
    const reader = new FileReader();
    await new Promise(done => { reader.onload = done; reader.readAsDataURL(new Blob([pixels])); });
    return [picture.width, reader.result.split(",")[1]];
}
"""

_SETTLED = """
async () => {
    const frames = () => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)));
    do await frames(); while (![...document.images].every(each => each.complete));
    await frames();
}
"""
"""Waits for the pictures of this width and these colours."""


def take(
    page: Page, name: str, *, width: int = 1040, height: int | None = None, is_dark: bool = False, top: str = "body"
) -> None:
    """A picture of the page as it is now, if pictures are wanted: all of it, or as high as `height` from `top` on."""
    folder, before = os.environ.get("SCREENSHOTS"), page.viewport_size
    if not folder or before is None:
        return
    page.set_viewport_size({"width": width, "height": height or 480})
    page.emulate_media(color_scheme="dark" if is_dark else "light")
    page.locator(top).evaluate("each => each.scrollIntoView()")
    page.evaluate(_SETTLED)
    picture = page.screenshot(full_page=height is None, animations="disabled", caret="hide")
    browser = page.context.browser
    assert browser is not None
    Path(folder, f"{name}.png").write_bytes(with_few_colours(pixels_of(browser, picture)))
    page.set_viewport_size(before)
    page.emulate_media(color_scheme="light")


def with_few_colours(pixels: np.ndarray) -> bytes:
    """A PNG with a palette of the most frequent colours, and of those that differ most from them.

    Each other pixel gets the nearest one.
    """
    height, width, _ = pixels.shape
    packed = pixels.astype(np.uint32) @ np.array([1 << 16, 1 << 8, 1], dtype=np.uint32)
    colours, places, counts = np.unique(packed.ravel(), return_inverse=True, return_counts=True)
    wanted = _channels(colours)
    palette = wanted[np.argsort(counts)[::-1][:_FREQUENT]]
    far = np.concatenate([_squares(part, palette).min(axis=1) for part in np.array_split(wanted, 64)])
    while len(palette) < _COLOURS and far.any():
        palette = np.vstack([palette, wanted[far.argmax()]])
        far = np.minimum(far, _squares(wanted, palette[-1:])[:, 0])
    nearest = np.concatenate([_squares(part, palette).argmin(axis=1) for part in np.array_split(wanted, 64)])
    rows = nearest[places].astype(np.uint8).reshape(height, width)
    lines = np.hstack([np.zeros((height, 1), np.uint8), rows]).tobytes()  # 0: no filter
    return b"".join(
        (
            _SIGNATURE,
            _chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)),
            _chunk(b"PLTE", palette.astype(np.uint8).tobytes()),
            _chunk(b"IDAT", zlib.compress(lines, 9)),
            _chunk(b"IEND", b""),
        )
    )


def pixels_of(browser: Browser, png: bytes) -> np.ndarray:
    """Red, green and blue of a picture, of shape (height, width, 3): a browser can read it."""
    page = browser.new_page()
    try:
        width, text = page.evaluate(_READ, base64.b64encode(png).decode())
    finally:
        page.close()
    return np.frombuffer(base64.b64decode(text), np.uint8).reshape(-1, width, 4)[:, :, :3]


def _squares(colours: np.ndarray, palette: np.ndarray) -> np.ndarray:
    """Squares of the distances of each colour from each of the palette."""
    return ((colours[:, None, :] - palette) ** 2).sum(axis=2)


def _channels(packed: np.ndarray) -> np.ndarray:
    return np.stack([packed >> 16, packed >> 8 & 255, packed & 255], axis=1).astype(np.int64)


def _chunk(kind: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))
