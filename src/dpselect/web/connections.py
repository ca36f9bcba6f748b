"""Connections that end: whoever begins a request and does not send the rest of it is not waited for."""

from __future__ import annotations

import asyncio
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

PATIENCE_SECONDS = 20.0
"""From the first byte of a request, or from the opening of its connection, to the last byte of its form."""


class Connection(H11Protocol):
    """A connection whose requests arrive whole within `PATIENCE_SECONDS`, or that is closed.

    Answers may take as long as they take: the time ends with the last byte that the browser sends.
    """

    _end: asyncio.TimerHandle | None = None
    _is_begun = False

    def connection_made(self, transport: Any) -> None:
        """Begin to wait for the first request."""
        super().connection_made(transport)
        self._wait()

    def data_received(self, data: bytes) -> None:
        """Go on with a request, or begin to wait for the rest of the next one."""
        if not self._is_begun:  # a browser may open a connection long before it needs it
            self._stop_waiting()
            self._is_begun = True
        super().data_received(data)
        self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait for nothing more."""
        self._stop_waiting()
        super().connection_lost(exc)

    def send_400_response(self, msg: str) -> None:
        """Refuse what is no request; where the answer has begun already, close."""
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            super().send_400_response(msg)
        else:
            self.transport.close()

    def _wait(self) -> None:
        if self.transport.is_closing() or self.conn.their_state not in (h11.IDLE, h11.SEND_BODY):
            self._stop_waiting()
            self._is_begun = False
        elif self._end is None:
            self._end = self.loop.call_later(PATIENCE_SECONDS, self.transport.close)

    def _stop_waiting(self) -> None:
        if self._end is not None:
            self._end.cancel()
            self._end = None
