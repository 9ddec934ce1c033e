"""What is around a request: why it failed, which proxy it takes, what an address may be."""

from __future__ import annotations

import ipaddress
import ssl
from collections.abc import Mapping
from urllib.parse import urlsplit

from urllib3.exceptions import (
    HTTPError,
    MaxRetryError,
    NameResolutionError,
    NewConnectionError,
    ProxyError,
    SSLError,
    TimeoutError,
)

from provision.message import Message, say


class NotHad(Exception):
    """Something could not be had from an address; `reason` says why, for people.

    `status` is what an HTTP server answered, 0 when none did; `is_wrong`: the checksum is.
    """

    def __init__(self, reason: Message, *, status: int = 0, is_wrong: bool = False) -> None:
        super().__init__(str(reason))
        self.reason = reason
        self.status = status
        self.is_wrong = is_wrong

    @property
    def is_gone(self) -> bool:
        """Whoever was asked says that there is no such thing."""
        return self.status in (404, 410)


def wrong_sum(url: str, algorithm: str, found: str, wanted: str) -> NotHad:
    """Something came that is not what was asked for."""
    return NotHad(
        say(
            "the {algorithm} of {url} is {found}, but {wanted} is wanted",
            algorithm=algorithm,
            url=url,
            found=found,
            wanted=wanted,
        ),
        is_wrong=True,
    )


def require_safe(url: str) -> None:
    """NotHad unless it is HTTPS; plain HTTP is for this machine itself, where tests serve it."""
    parts = urlsplit(url)
    if parts.scheme == "https" and parts.hostname:
        return
    if parts.scheme != "http" or not is_loopback(parts.hostname or ""):
        raise NotHad(say("{url} is not HTTPS", url=url))


def is_loopback(host: str) -> bool:
    """Whether a host's name or address means this machine."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def proxy_for(url: str, environ: Mapping[str, str]) -> str:
    """The proxy of the environment for an address, or "": HTTPS_PROXY, ALL_PROXY and NO_PROXY.

    Either spelling counts, the small one first; this machine itself is never asked through one.
    """
    parts = urlsplit(url)
    host = parts.hostname or ""
    if is_loopback(host) or _is_excepted(host, _named("no_proxy", environ)):
        return ""
    proxy = _named(f"{parts.scheme}_proxy", environ) or _named("all_proxy", environ)
    return proxy if "://" in proxy or not proxy else f"http://{proxy}"


def why(error: HTTPError) -> Message:
    """The cause of a failed request in a few plain words."""
    inner = error.reason if isinstance(error, MaxRetryError) and error.reason else error
    if isinstance(inner, ProxyError):
        return say("the proxy cannot be reached")
    if isinstance(inner, NameResolutionError):
        return say("its name is not known here")
    if isinstance(inner, SSLError):
        cause = inner.args[0] if inner.args else inner
        text = cause.verify_message if isinstance(cause, ssl.SSLCertVerificationError) else cause
        return say("its certificate is not trusted here: {text}", text=text)
    if isinstance(inner, TimeoutError) and not isinstance(inner, NewConnectionError):
        return say("it does not answer in time")
    if isinstance(inner, NewConnectionError):
        return say("it cannot be reached")
    return say("the connection broke off")


def _named(name: str, environ: Mapping[str, str]) -> str:
    return environ.get(name, "") or environ.get(name.upper(), "")


def _is_excepted(host: str, names: str) -> bool:
    for name in (n.strip().lstrip(".") for n in names.split(",")):
        if name == "*" or (name and (host == name or host.endswith(f".{name}"))):
            return True
    return False
