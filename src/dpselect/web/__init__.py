"""A page in the browser to choose, plan and release on: ``dpselect serve``. Needs the extra ``web``.

`site` is what the pages are about, `server` keeps others out, and `choosing` and `pages` are the pages before and after
a confirmation. Why it is built so: ``docs/decisions/0027-a-page-to-ask-on.md``.
"""

from dpselect.errors import import_extra

for each in ("starlette", "uvicorn", "jinja2"):
    import_extra(each, "pages in a browser", "web")

from dpselect.web.server import Guard, application, serve  # noqa: E402
from dpselect.web.site import Folder, Site  # noqa: E402

__all__ = ["Folder", "Guard", "Site", "application", "serve"]
