"""The files of a machine: Debian packages, unpacked once and kept under a key of the recipe.

What a bundle brings (python3-venv, tmux and others) is left out, and kept beside them as .deb.
"""

from __future__ import annotations

import hashlib
import json
import tempfile
from pathlib import Path

from provision.local.cache import remove_tree
from provision.vm.collecting.plan import read_plan
from tests.machines.bootstrap import bootstrap
from tests.machines.places import alone, cache

GUEST = Path(__file__).parent / "guest"
SUITE = "bookworm"
PYTHON = "3.11"
PACKAGES = (
    # What a cloud image has ...
    *("systemd", "systemd-sysv", "dbus", "openssh-server", "sudo", "python3", "ca-certificates"),
    *("iproute2", "iputils-ping", "procps", "kmod", "mount", "util-linux", "less", "curl"),
    # ... what k3s carries in itself, and the stand-in does not ...
    *("runc", "containernetworking-plugins", "iptables", "nftables", "conntrack", "socat"),
    # ... and what the stand-in makes its certificates with.
    *("ethtool", "openssl"),
)
BUILD_SECONDS = 900.0
# Which packages the bundled ones bring is what apt would install into this very machine.
FETCH = (
    'APT_CONFIG="$MMDEBSTRAP_APT_CONFIG" apt-get --yes --download-only --no-install-recommends'
    ' -o Dir::Cache::archives="{debs}" install {names}'
)


def rootfs() -> Path:
    """The folder of the files, made now when it is not there; `debs` lies beside it."""
    target = cache() / "rootfs" / _key()
    with alone(target.parent):
        # One that is there is never replaced: machines that are up lie over it.
        if not target.is_dir():
            draft = Path(tempfile.mkdtemp(prefix=".new-", dir=target.parent))
            try:
                _make(draft)
                draft.rename(target)
            finally:
                remove_tree(draft)
    return target / "root"


def debs() -> tuple[Path, ...]:
    """The packages that a machine lacks and the lab needs, with all that they need."""
    return tuple(sorted((rootfs().parent / "debs").glob("*.deb")))


def _make(draft: Path) -> None:
    folder = draft / "debs"
    (folder / "partial").mkdir(parents=True)
    bootstrap(
        f"--include={','.join(PACKAGES)}",
        f"--customize-hook={FETCH.format(debs=folder, names=' '.join(read_plan().debs))}",
        f'--customize-hook={GUEST / "setup.sh"} "$1"',
        SUITE,
        draft / "root",
        within=BUILD_SECONDS,
    )


def _key() -> str:
    texts = {p.name: p.read_text("utf-8") for p in sorted(GUEST.iterdir())}
    recipe = json.dumps([SUITE, PACKAGES, read_plan().debs, FETCH, texts], sort_keys=True)
    return f"{SUITE}-{hashlib.sha256(recipe.encode()).hexdigest()[:16]}"
