"""A page in the browser to choose, plan and release on: ``dpselect serve``. Needs the extra ``web``.

`site` is what the pages are about, `server` keeps others out, and `choosing` and `pages` are the pages before and after
a confirmation. Why it is built so: ``docs/decisions/0027-a-page-to-ask-on.md``.
"""

from dpselect.errors import MissingExtraError

try:
    import jinja2 as _jinja2  # noqa: F401  # pyright: ignore
    import starlette as _starlette  # noqa: F401  # pyright: ignore
    import uvicorn as _uvicorn  # noqa: F401  # pyright: ignore
except ImportError as missing:
    raise MissingExtraError("pages in a browser", "web") from missing

from dpselect.web.server import Guard, application, serve
from dpselect.web.site import Folder, Site

__all__ = ["Folder", "Guard", "Site", "application", "serve"]
