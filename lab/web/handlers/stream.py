"""The event stream of the page: server-sent events, the newest of everything first."""

from __future__ import annotations

import json

from jupyter_server.auth.decorator import authorized
from tornado import web
from tornado.iostream import StreamClosedError

from lab.web.handlers.base import LabHandler
from lab.web.handlers.data import newsroom_of
from lab.web.stream import Listener

HEARTBEAT_SECONDS = 15.0


class StreamHandler(LabHandler):
    """GET `/learn/api/stream`: stays open; a comment now and then shows that it is alive."""

    _listener: Listener | None = None

    @web.authenticated
    @authorized
    async def get(self) -> None:
        """Tell until the other side has gone."""
        self.set_header("Content-Type", "text/event-stream; charset=utf-8")
        self.set_header("Cache-Control", "no-store")
        self.set_header("X-Accel-Buffering", "no")
        newsroom, speech = newsroom_of(self), self.speech
        listener = self._listener = newsroom.join()
        number = 0
        try:
            self.write(": here\n\n")
            await self.flush()
            while not listener.is_gone:
                events = await listener.next(HEARTBEAT_SECONDS)
                for event in events:
                    number += 1
                    data = json.dumps(event.tell(speech))
                    self.write(f"event: {event.kind}\nid: {number}\ndata: {data}\n\n")
                if not events:
                    self.write(": still here\n\n")
                await self.flush()
        except StreamClosedError:
            return
        finally:
            newsroom.leave(listener)

    def on_connection_close(self) -> None:
        """The browser has gone."""
        super().on_connection_close()
        if self._listener is not None:
            self._listener.leave()
