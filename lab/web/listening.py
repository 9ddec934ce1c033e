"""Where the page may listen besides loopback, and by which names it may be called there."""

from __future__ import annotations

import ipaddress
import socket
import ssl
from dataclasses import dataclass

import psutil

from provision.errors import LabError, UsageError
from provision.message import say


@dataclass(frozen=True, slots=True)
class Beyond:
    """A wish to be reached from elsewhere: an address of this machine, files for TLS or ""."""

    address: str = ""
    certificate: str = ""
    key: str = ""

    def checked(self) -> Beyond:
        """The same if it can be served; loopback is no wish. UsageError or LabError otherwise."""
        if bool(self.certificate) != bool(self.key):
            raise UsageError(say("--tls-cert and --tls-key belong together."))
        address = "127.0.0.1" if self.address == "localhost" else self.address
        try:
            is_loopback = not address or ipaddress.ip_address(address).is_loopback
        except ValueError:
            raise UsageError(
                say("{address} is no IP address.", address=repr(address)[:60]),
                next_move=say("Name one of this machine, or 0.0.0.0 for all of them."),
            ) from None
        if is_loopback:
            if self.certificate:
                raise UsageError(say("--tls-cert is for an --address beyond loopback."))
            return Beyond()
        if self.certificate:
            tls(self.certificate, self.key)
        return self

    def hosts(self) -> tuple[str, ...]:
        """What a browser may write as Host there: any other name is somebody's trick."""
        if not self.address:
            return ()
        if not ipaddress.ip_address(self.address).is_unspecified:
            return (self.address, *_names())
        return (*_own_addresses(), *_names())

    def called(self) -> str:
        """The host of a link to it."""
        chosen = ipaddress.ip_address(self.address)
        if chosen.is_unspecified:
            return socket.gethostname()
        return f"[{chosen}]" if chosen.version == 6 else str(chosen)


def tls(certificate: str, key: str) -> ssl.SSLContext:
    """What serves TLS with these files; LabError when they cannot be used."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    try:
        context.load_cert_chain(certificate, key)
    except (OSError, ssl.SSLError) as error:
        raise LabError(
            say("{path} cannot be used for TLS: {reason}.", path=certificate, reason=error),
            next_move=say("Name a certificate and its key, both as PEM files that you may read."),
        ) from error
    return context


def _names() -> tuple[str, ...]:
    return tuple(dict.fromkeys((socket.gethostname(), socket.getfqdn())))


def _own_addresses() -> tuple[str, ...]:
    found = [
        address.address.partition("%")[0]
        for addresses in psutil.net_if_addrs().values()
        for address in addresses
        if address.family in (socket.AF_INET, socket.AF_INET6)
    ]
    return tuple(dict.fromkeys(found))
