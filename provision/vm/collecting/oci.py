"""Container images and charts from a registry, without docker, skopeo or root.

A learner's machine has none of these, and all that is needed is a few GETs: a token, the index of
a tag, the manifest for our platform, its configuration and layers, each named by the digest that it
is checked against. An image becomes a tar in OCI's layout with the short index of `docker save`
beside it: `ctr images import` and k3s read either.

https://github.com/opencontainers/distribution-spec, .../image-spec (image-layout.md)
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

from provision.message import say
from provision.vm.collecting.http import Web
from provision.vm.collecting.net import NotHad, is_loopback, wrong_sum

HUB, HUB_HOST = "docker.io", "registry-1.docker.io"
CHART_LAYER = "application/vnd.cncf.helm.chart.content.v1.tar+gzip"
INDEXES = (
    "application/vnd.oci.image.index.v1+json",
    "application/vnd.docker.distribution.manifest.list.v2+json",
)
MANIFESTS = (
    "application/vnd.oci.image.manifest.v1+json",
    "application/vnd.docker.distribution.manifest.v2+json",
)
DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
_CHALLENGE = re.compile(r'(\w+)="([^"]*)"')


@dataclass(frozen=True, slots=True)
class Reference:
    """A full image name: `docker.io/library/busybox:1.36` in its parts."""

    host: str
    repository: str
    tag: str

    @classmethod
    def of(cls, name: str) -> Reference:
        """Read a full name, with host and tag; ValueError for another."""
        host, _, rest = name.partition("/")
        repository, _, tag = rest.rpartition(":")
        if not (host and repository and tag) or "/" in tag:
            raise ValueError(name)
        return cls(host, repository, tag)

    @property
    def base(self) -> str:
        """The address of the repository; HTTPS but for this machine itself."""
        host = HUB_HOST if self.host == HUB else self.host
        scheme = "http" if is_loopback(urlsplit(f"//{host}").hostname or "") else "https"
        return f"{scheme}://{host}/v2/{self.repository}"

    def __str__(self) -> str:
        return f"{self.host}/{self.repository}:{self.tag}"


@dataclass(frozen=True, slots=True)
class Blob:
    """One piece of an image by its digest, as manifests describe it."""

    digest: str
    size: int
    media_type: str


@dataclass(frozen=True, slots=True)
class Manifest:
    """An image for one platform: the manifest's own bytes, and what they name."""

    content: bytes
    media_type: str
    config: Blob
    layers: tuple[Blob, ...]

    @property
    def digest(self) -> str:
        """The sha256 of its bytes."""
        return f"sha256:{hashlib.sha256(self.content).hexdigest()}"


class Registry:
    """The pulls of one run."""

    def __init__(self, web: Web) -> None:
        self._web = web
        self._tokens: dict[str, str] = {}

    def manifest(self, reference: Reference, platform: str, digest: str = "") -> Manifest:
        """The manifest for a platform. `digest` is that of the tag's index, "" for what it is now.

        NotHad when it cannot be had, does not fit its digest, or has no such platform.
        """
        content, media_type = self._document(reference, digest or reference.tag)
        raw = _parsed(reference, content)
        if media_type in INDEXES or "manifests" in raw:
            chosen = _chosen(reference, raw, platform)
            content, media_type = self._document(reference, chosen)
            raw = _parsed(reference, content)
        try:
            layers = tuple(_blob(x) for x in raw["layers"])
            return Manifest(content, media_type, _blob(raw["config"]), layers)
        except (KeyError, TypeError, ValueError) as error:
            raise _garbled(reference) from error

    def blob(self, reference: Reference, blob: Blob, target: Path) -> str:
        """Get a blob into a file; its sha256 in hex. One that is there already is not asked for."""
        url = f"{reference.base}/blobs/{blob.digest}"
        try:
            return self._web.download(url, target, blob.digest, self._headers(reference))
        except NotHad as error:
            if error.status != 401:
                raise
        # Tokens last five minutes; an image may take longer to come.
        self._tokens.pop(reference.base, None)
        self._document(reference, reference.tag)
        return self._web.download(url, target, blob.digest, self._headers(reference))

    def _document(self, reference: Reference, name: str) -> tuple[bytes, str]:
        """A manifest or index by tag or digest, its bytes checked, and its media type."""
        url = f"{reference.base}/manifests/{name}"
        headers = {"Accept": ", ".join((*INDEXES, *MANIFESTS))}
        body, status, found = self._web.small(
            url, {**headers, **self._headers(reference)}, accepts=(200, 401)
        )
        if status == 401:
            self._log_in(reference, found.get("WWW-Authenticate", ""))
            body, _, found = self._web.small(url, {**headers, **self._headers(reference)})
        digest = name if DIGEST.fullmatch(name) else found.get("Docker-Content-Digest", "")
        sha256 = hashlib.sha256(body).hexdigest()
        if digest and digest != f"sha256:{sha256}":
            raise wrong_sum(url, "sha256", sha256, digest.removeprefix("sha256:"))
        return body, found.get("Content-Type", "").partition(";")[0]

    def _headers(self, reference: Reference) -> Mapping[str, str]:
        token = self._tokens.get(reference.base)
        return {"Authorization": f"Bearer {token}"} if token else {}

    def _log_in(self, reference: Reference, challenge: str) -> None:
        """Get the token that everybody gets for reading a public repository."""
        facts = dict(_CHALLENGE.findall(challenge))
        realm = facts.pop("realm", "")
        if not challenge.lower().startswith("bearer ") or not realm:
            raise NotHad(say("{host} wants a login", host=reference.host))
        asked = {k: v for k, v in facts.items() if k in ("service", "scope")}
        asked.setdefault("scope", f"repository:{reference.repository}:pull")
        body, _, _ = self._web.small(f"{realm}?{urlencode(asked)}")
        raw = _parsed(reference, body)
        token = raw.get("token") or raw.get("access_token")
        if not isinstance(token, str) or not token.isprintable():
            raise NotHad(say("{host} wants a login", host=reference.host))
        self._tokens[reference.base] = token


def _parsed(reference: Reference, content: bytes) -> Mapping[str, Any]:
    try:
        raw = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise _garbled(reference) from error
    if not isinstance(raw, dict):
        raise _garbled(reference)
    return raw


def _chosen(reference: Reference, raw: Mapping[str, Any], platform: str) -> str:
    """The digest of the manifest for a platform such as "linux/amd64"."""
    system, _, machine = platform.partition("/")
    try:
        for entry in raw["manifests"]:
            found = entry.get("platform", {})
            if (found.get("os"), found.get("architecture")) == (system, machine):
                return _blob(entry).digest
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise _garbled(reference) from error
    raise NotHad(say("{image} is not there for {platform}", image=reference, platform=platform))


def _blob(raw: Mapping[str, Any]) -> Blob:
    digest, size = raw["digest"], raw["size"]
    if not DIGEST.fullmatch(digest) or not isinstance(size, int):
        raise ValueError("digest")
    return Blob(digest, size, str(raw.get("mediaType", "")))


def _garbled(reference: Reference) -> NotHad:
    return NotHad(say("{host} answers what is no image", host=reference.host))
