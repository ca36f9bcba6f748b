"""A page in the browser to choose, plan and release on: ``dpselect serve``. Needs the extra ``web``.

`site` is what the pages are about, `server` keeps others out, and `choosing` and `pages` are the pages before and after
a confirmation. Why it is built so: ``docs/decisions/0027-a-page-to-ask-on.md``.
"""

from dpselect.errors import MissingExtraError

try:
    from dpselect.web.server import Guard, application, serve
    from dpselect.web.site import Folder, Site
except ImportError as missing:
    if (missing.name or "").startswith("dpselect"):
        raise
    raise MissingExtraError("pages in a browser", "web") from missing

__all__ = ["Folder", "Guard", "Site", "application", "serve"]
