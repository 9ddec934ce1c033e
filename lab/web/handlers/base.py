"""What the handlers share: the page they belong to, and the language of a call."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, cast

from jupyter_server.base.handlers import APIHandler, JupyterHandler
from jupyter_server.extension.handler import ExtensionHandlerMixin

from lab.text import LANGUAGES, Speech
from lab.web.page import SETTING, Page
from provision.errors import LabError, UsageError
from provision.message import say

RESOURCE = "lab"  # the name under which an authorizer knows all that is ours


class LabHandler(ExtensionHandlerMixin, JupyterHandler):
    """A handler of ours."""

    auth_resource = RESOURCE

    @property
    def page(self) -> Page:
        """The page of this server."""
        return cast(Page, self.settings[SETTING])

    @property
    def speech(self) -> Speech:
        """Sentences in the language of the call: `?lang=`, else that of the launch."""
        asked = self.request.query_arguments.get("lang", [b""])[-1].decode("ascii", "replace")
        return Speech(asked if asked in LANGUAGES else self.page.language, in_shell=True)


class LabAPIHandler(LabHandler, APIHandler):
    """JSON for the page's own scripts; nothing of it is kept by a browser."""

    def set_default_headers(self) -> None:
        """Headers of every answer."""
        super().set_default_headers()
        self.set_header("Cache-Control", "no-store")

    def asked(self) -> Mapping[str, Any]:
        """The object in the body of the call, empty when there is none; UsageError for another."""
        try:
            body: Any = json.loads(self.request.body) if self.request.body else {}
        except (ValueError, RecursionError):
            body = None
        if not isinstance(body, dict):
            raise UsageError(say("The call cannot be understood: a JSON object is asked for."))
        return body

    def refuse(self, status: int, error: LabError) -> None:
        """Answer with what is wrong and the next move, in the language of the call."""
        self.set_status(status)
        following = self.speech.of(error.next_move) if error.next_move else ""
        self.finish({"error": self.speech.of(error.what), "next": following})

    def write_error(self, status_code: int, **_: object) -> None:
        """The same form for what Jupyter Server refuses, and for what nobody foresaw."""
        reason = say(
            "The page's server answered {code} {reason}.", code=status_code, reason=self._reason
        )
        following = self.speech.of(say("Load the page again; see make logs NAME=page."))
        self.finish({"error": self.speech.of(reason), "next": following})
