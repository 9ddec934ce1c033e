"""Files over HTTP: resumed where they broke off, and under their name only when their sum is right.

A host that could not be reached is not tried again in the same run: without a network the list of
what is missing is complete at once, not after minutes of time limits.
"""

from __future__ import annotations

import contextlib
import ssl
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from urllib.parse import urljoin, urlsplit

import urllib3
from urllib3.exceptions import HTTPError
from urllib3.util import Retry, Timeout

from provision.message import Message, say
from provision.vm.collecting.net import NotHad, proxy_for, require_safe, why, wrong_sum
from provision.vm.collecting.sums import file_sums, listed_sum

CHUNK = 1 << 16  # so much of a transfer is lost when it breaks off
SMALL = 4 << 20
LARGEST = 8 << 30
ROUNDS = 6
MOVES = 8
LATER = (429, 500, 502, 503, 504)
SLOWEST, SLOW_AFTER = 4096, 60.0


@dataclass(frozen=True, slots=True)
class Patience:
    """Seconds: until a host must take a call and then say something, and before it is asked again.

    Each further pause is twice as long; what a busy server asks for is not waited for.
    """

    connect: float = 10.0
    read: float = 30.0
    pause: float = 1.0


def nobody(size: int, total: int) -> None:
    """Hears how much of a file has come, and tells nobody."""


class Web:
    """The requests of one run. `environ` is asked for proxies only.

    `listen` hears, while a file comes, its bytes so far and all of them, 0 when that is not said.
    """

    def __init__(self, environ: Mapping[str, str], patience: Patience = Patience()) -> None:
        self.listen: Callable[[int, int], None] = nobody
        self._environ = environ
        self._unreachable: dict[str, Message] = {}
        self._pools: dict[str, urllib3.PoolManager] = {}
        self._timeout = Timeout(connect=patience.connect, read=patience.read)
        self._retry = Retry(
            total=4,
            connect=1,
            read=1,
            status_forcelist=LATER,
            backoff_factor=patience.pause,
            respect_retry_after_header=False,
            raise_on_status=False,
        )

    def __enter__(self) -> Web:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for pool in self._pools.values():
            pool.clear()

    def small(
        self, url: str, headers: Mapping[str, str] | None = None, accepts: tuple[int, ...] = (200,)
    ) -> tuple[bytes, int, Mapping[str, str]]:
        """A document of at most 4 MiB, its status and its headers, which know no case."""
        with self._asked(url, headers or {}, accepts) as response:
            body = response.read(SMALL + 1)
            if len(body) > SMALL:
                raise _too_large(url)
            return body, response.status, response.headers

    def published_sum(self, url: str, file: str) -> str:
        """`sha256:<hex>` of a file from the address where it is published; NotHad without."""
        body, _, _ = self.small(url)
        if found := listed_sum(body.decode("utf-8", errors="replace"), file):
            return found
        raise NotHad(say("{url} has no checksum of {file}", url=url, file=file))

    def download(
        self, url: str, target: Path, checksum: str, headers: Mapping[str, str] | None = None
    ) -> str:
        """Get a file, and give it its name when its sum is `checksum`; its sha256 in hex.

        What an earlier run has got of it is gone on with. NotHad when it cannot be had.
        """
        target.parent.mkdir(parents=True, exist_ok=True)
        algorithm, _, wanted = checksum.partition(":")
        part = target.with_name(f".{target.name}.{wanted[:12]}.part")
        while True:
            is_new = not part.exists()
            self._complete(url, part, headers or {})
            sums = file_sums(part, algorithm)
            if sums.get(algorithm) == wanted:
                part.replace(target)
                return sums["sha256"]
            part.unlink()
            if is_new:  # what was left by an earlier run is not to blame
                raise wrong_sum(url, algorithm, sums.get(algorithm, "-"), wanted)

    def _complete(self, url: str, part: Path, headers: Mapping[str, str]) -> None:
        """Ask for the rest as long as each answer brings some of it."""
        for number in range(ROUNDS):
            before = part.stat().st_size if part.exists() else 0
            try:
                self._append(url, part, before, headers)
            except NotHad:
                has_come = part.exists() and part.stat().st_size != before
                if not has_come or number == ROUNDS - 1:
                    raise
            else:
                return

    def _append(self, url: str, part: Path, offset: int, headers: Mapping[str, str]) -> None:
        """Go on with a file from `offset`, or from its beginning where the server cannot."""
        wanted = {**headers, "Accept-Encoding": "identity"}
        if offset:
            wanted["Range"] = f"bytes={offset}-"
        with self._asked(url, wanted, (200, 206, 416)) as response:
            if response.status == 416:
                return  # nothing is left; the sum says whether that is true
            begins = response.headers.get("Content-Range", "").startswith(f"bytes {offset}-")
            is_rest = response.status == 206 and begins
            size, started = (offset if is_rest else 0), time.monotonic()
            total = size + int(response.length_remaining or 0)
            with part.open("ab" if is_rest else "wb") as file:
                for chunk in response.stream(CHUNK):
                    file.write(chunk)
                    size += len(chunk)
                    self.listen(size, total)
                    _check_pace(url, size, size - offset, time.monotonic() - started)

    @contextlib.contextmanager
    def _asked(
        self, url: str, headers: Mapping[str, str], accepts: tuple[int, ...]
    ) -> Iterator[urllib3.BaseHTTPResponse]:
        """The response, moves followed, its body still to be read."""
        for _ in range(MOVES):
            response = self._request(url, headers)
            try:
                place = response.get_redirect_location()
                if not place:
                    if response.status not in accepts:
                        raise _refused(url, response)
                    yield response
                    return
            except HTTPError as error:
                raise NotHad(say("{url}: {reason}", url=url, reason=why(error))) from error
            finally:
                response.close()
            there = urljoin(url, place)
            if urlsplit(there)[:2] != urlsplit(url)[:2]:
                headers = {k: v for k, v in headers.items() if k != "Authorization"}
            if url.startswith("https:") and not there.startswith("https:"):
                raise NotHad(say("{url} is not HTTPS", url=there))
            url = there
        raise NotHad(say("{url} leads in a circle", url=url))

    def _request(self, url: str, headers: Mapping[str, str]) -> urllib3.BaseHTTPResponse:
        require_safe(url)
        host = urlsplit(url).netloc
        if (reason := self._unreachable.get(host)) is not None:
            raise NotHad(reason)
        try:
            return self._pool(url).request(
                "GET",
                url,
                headers={"User-Agent": "gpu-queue-lab", **headers},
                retries=self._retry,
                timeout=self._timeout,
                preload_content=False,
                redirect=False,
            )
        except HTTPError as error:
            reason = say("{host}: {reason}", host=host, reason=why(error))
            self._unreachable[host] = reason
            raise NotHad(reason) from error

    def _pool(self, url: str) -> urllib3.PoolManager:
        proxy = proxy_for(url, self._environ)
        if proxy not in self._pools:
            context = ssl.create_default_context()
            self._pools[proxy] = (
                urllib3.ProxyManager(proxy, ssl_context=context)
                if proxy
                else urllib3.PoolManager(ssl_context=context)
            )
        return self._pools[proxy]


def _refused(url: str, response: urllib3.BaseHTTPResponse) -> NotHad:
    shown = f"{response.status} {response.reason or ''}".strip()
    return NotHad(say("{url} answers {status}", url=url, status=shown), status=response.status)


def _too_large(url: str) -> NotHad:
    return NotHad(say("what {url} sends is too large", url=url))


def _check_pace(url: str, size: int, gained: int, seconds: float) -> None:
    if size > LARGEST:
        raise _too_large(url)
    if seconds > SLOW_AFTER and gained < SLOWEST * seconds:
        raise NotHad(say("{url} comes too slowly", url=url))
