"""What a place keeps on disk: room, programs, certificates and kubeconfigs; only looked at."""

from __future__ import annotations

import base64
import binascii
import datetime as dt
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import yaml
from cryptography import x509

from provision.health import Diagnosis, bad, good, note
from provision.local.certificates import AUTHORITIES, RENEW_BEFORE
from provision.local.place import ROOM_BYTES, TOOLS, Place
from provision.message import Message, say
from provision.settings import Settings
from provision.state import PlaceState

RENEW = say("make provision makes them anew")


def examine_disk(place: Place, settings: Settings) -> Iterator[Diagnosis]:
    """Room for the place, and that its folder can be written."""
    home = _nearest(place.spec.home)
    free = shutil.disk_usage(home).free
    if free < ROOM_BYTES:
        yield bad(
            "disk",
            say(
                "{free} MB of disk are free in {path}; the cluster needs {needed} MB",
                free=free >> 20,
                path=home,
                needed=ROOM_BYTES >> 20,
            ),
            say("free some space; nothing is lost meanwhile"),
        )
    elif not os.access(home, os.W_OK | os.X_OK):
        yield bad(
            "disk",
            say("{path} cannot be written", path=home),
            say("mend its permissions, or name another folder in LAB_HOME"),
        )
    else:
        cache = shutil.disk_usage(_nearest(settings.cache)).free
        yield good(
            "disk",
            say(
                "{free} GB of disk are free for the place, {cache} GB for built parts",
                free=f"{free / 1e9:.1f}",
                cache=f"{cache / 1e9:.1f}",
            ),
        )


def examine_programs(place: Place) -> Iterator[Diagnosis]:
    """The built programs and kubectl, which lie in the cache and may be pruned from there."""
    folder = place.folders.parts
    links = sorted(folder.iterdir()) if folder.is_dir() else []
    links += [place.tools / name for name in TOOLS]
    missing = [link.name for link in links if not (link.is_file() and os.access(link, os.X_OK))]
    if missing:
        yield bad(
            "programs",
            say("programs are missing: {names}", names=", ".join(missing)),
            say("make provision builds them again"),
        )
    else:
        yield good("programs", say("{count} programs are in place", count=len(links)))


def examine_certificates(place: Place, state: PlaceState) -> Iterator[Diagnosis]:
    """Whether all certificates hold now, and when the first one ends."""
    now = dt.datetime.now(dt.UTC)
    names = [*(a.name for a in AUTHORITIES), *(leaf.name for leaf in place.leaves())]
    ends: dict[str, dt.datetime] = {}
    for name in names:
        certificate = _read_certificate(place.folders.pki / f"{name}.crt")
        why = _why_useless(certificate, now)
        if certificate is None or why is not None:
            yield bad("certificates", say("certificate {name}: {why}", name=name, why=why), RENEW)
            return
        ends[name] = certificate.not_valid_after_utc
    first = min(ends, key=lambda name: ends[name])
    days = (ends[first] - now).days
    what = say(
        "{count} certificates hold; the first to end is {name}, in {days} days",
        count=len(ends),
        name=first,
        days=days,
    )
    is_late = ends[first] - now <= RENEW_BEFORE
    yield note("certificates", what, RENEW) if is_late else good("certificates", what)
    for name, path in (("learner", place.kubeconfig), ("grader", place.grader_kubeconfig)):
        yield _examine_kubeconfig(name, path, state, now)


def _examine_kubeconfig(name: str, path: Path, state: PlaceState, now: dt.datetime) -> Diagnosis:
    """The file names this place's API server, and its own certificate holds."""
    server = f"https://127.0.0.1:{state.ports.get('apiserver', 0)}"
    try:
        content = yaml.load(path.read_text("utf-8"), Loader=yaml.CSafeLoader)
        found = content["clusters"][0]["cluster"]["server"]
        pem = base64.b64decode(content["users"][0]["user"]["client-certificate-data"])
        why = _why_useless(x509.load_pem_x509_certificate(pem), now)
    except FileNotFoundError:
        why = say("no such file")
    except (OSError, yaml.YAMLError, UnicodeDecodeError, binascii.Error):
        why = say("it cannot be read")
    except (LookupError, TypeError, ValueError):
        why = say("it is not as it was written")
    else:
        if why is None and found != server:
            why = say("it names the server {found}, not {server}", found=found, server=server)
    if why is None:
        return good(f"kubeconfig.{name}", say("the kubeconfig {path} is right", path=path))
    return bad(
        f"kubeconfig.{name}",
        say("the kubeconfig {path} cannot be used: {why}", path=path, why=why),
        say("make provision writes it anew"),
    )


def _read_certificate(path: Path) -> x509.Certificate | None:
    try:
        return x509.load_pem_x509_certificate(path.read_bytes())
    except (OSError, ValueError):
        return None


def _why_useless(certificate: x509.Certificate | None, now: dt.datetime) -> Message | None:
    if certificate is None:
        return say("it cannot be read")
    if certificate.not_valid_after_utc <= now:
        ended = certificate.not_valid_after_utc.isoformat(timespec="seconds")
        return say("it ended at {time}", time=ended)
    if certificate.not_valid_before_utc > now:
        begins = certificate.not_valid_before_utc.isoformat(timespec="seconds")
        return say("it holds only from {time} on: see the clock of this machine", time=begins)
    return None


def _nearest(path: Path) -> Path:
    """The path itself, or the folder above it that exists."""
    while not path.exists() and path != path.parent:
        path = path.parent
    return path
