"""The page for those who come without a link: what to do, and a field for the token."""

from __future__ import annotations

from typing import Any

from jupyter_server.auth.login import LoginFormHandler

from lab.text import LANGUAGES, Speech
from lab.web.page import SETTING
from provision.message import say

POLICY = (
    "default-src 'none'; style-src 'self'; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'"
)


class LoginHandler(LoginFormHandler):
    """GET and POST `/login`, drawn by our own template."""

    @property
    def content_security_policy(self) -> str:
        """A style sheet of ours and a form, nothing else."""
        return POLICY

    @property
    def template_namespace(self) -> dict[str, Any]:
        """What the template may name, with its sentences in the language of the page."""
        asked = self.get_query_argument("lang", "")
        language = asked if asked in LANGUAGES else self.settings[SETTING].language
        speech = Speech(language)
        words = {
            "how": say("This page opens by the link that make open prints."),
            "token": say("Or enter the token, the part of the link after token="),
            "enter": say("Log in"),
            "wrong": say("That is not the token of this page."),
        }
        spoken = {name: speech.of(message) for name, message in words.items()}
        return {**super().template_namespace, "words": spoken, "language": language}
