"""Another site, whose pages want something from the server that the browser has open."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread


class OtherSite:
    """A server of pages on this machine; `pages` maps paths to what they hold."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.pages: dict[str, str] = {}
        self.stolen: list[str] = []
        """Everything that pages have sent here."""


@contextmanager
def other_site() -> Iterator[OtherSite]:
    """It answers to every name, such as ``http://evil.elsewhere.test:8000``, until the block ends."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            path, _, query = self.path.partition("?")
            if query:
                site.stolen.append(query)
            body = site.pages.get(path, "").encode()
            self.send_response(200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            """Nothing: tests print nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    site = OtherSite(server.server_address[1])
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield site
    finally:
        server.shutdown()
        server.server_close()
        thread.join(10)
