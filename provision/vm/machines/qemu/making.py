"""Laying a machine out: its keys, its seed, and at last its disk, which says that all is there."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from provision.errors import TargetError
from provision.files import write_atomically
from provision.message import say
from provision.vm.contacting import known_hosts_text
from provision.vm.machines.qemu.command import Files, disk_arguments
from provision.vm.machines.qemu.image import FOLDER, Image, disk_size, get_image
from provision.vm.machines.qemu.seed import Seed, new_pair, write_seed
from provision.vm.machines.qemu.source import Source
from provision.vm.machines.qemu.state import QemuState, damaged, new_instance, save_state
from provision.vm.machines.qemu.tools import Tools, run_img

COMMENT = "gpu-queue-lab"


def hostname_of(lab: str) -> str:
    """What the machine calls itself: a lab's slug as DNS allows it."""
    return re.sub(r"[^a-z0-9]+", "-", lab.lower()).strip("-")[:40] or "lab"


def lay_out(files: Files, image: Image, *, size: int, tools: Tools) -> QemuState:
    """Make keys, seed and a disk of `size` MiB anew; what a broken-off run left is overwritten."""
    if size < image.size:
        raise TargetError(
            say(
                "The image's disk has {image} MiB; the machine's, {size} MiB, cannot be smaller.",
                image=image.size,
                size=size,
            ),
            next_move=say("Set VM_DISK={fitting}G or more.", fitting=-(-image.size // 1024)),
        )
    state = QemuState(new_instance(), image.path.name)
    login, host = new_pair(), new_pair()
    write_atomically(files.key, login.private)
    write_atomically(files.known_hosts, known_hosts_text((host.public,)))
    hostname = hostname_of(files.folder.parent.name)
    write_seed(files.seed, Seed(state.instance, hostname, host, f"{login.public} {COMMENT}"))
    save_state(files.folder, state)
    draft = files.disk.with_name(".disk.new")
    draft.unlink(missing_ok=True)
    run_img(tools, *disk_arguments(image, draft, size))
    draft.chmod(0o600)
    draft.replace(files.disk)
    return state


def require_whole(files: Files) -> None:
    """TargetError when a part of a machine that was laid out is gone."""
    for path in (files.key, files.known_hosts, files.seed):
        if not path.is_file():
            raise damaged(path)


def require_image(
    state: QemuState, source: Source, tools: Tools, cache: Path, environ: Mapping[str, str]
) -> None:
    """The image that the disk lies over is in the cache; it is got again when it is gone.

    Raises TargetError when it is not the one that is set now: then nobody knows where it came from.
    """
    path = cache / FOLDER / state.image
    if path.is_file():
        return
    if source.name in ("", state.image) and get_image(source, tools, cache, environ).path == path:
        return
    raise TargetError(
        say("The machine's disk lies over the image {path}, which is gone.", path=path),
        next_move=say(
            "Put it back, or name the same image in VM_IMAGE; else run make destroy, then make "
            "provision TARGET=vm, which makes the machine anew."
        ),
    )


def grow_disk(files: Files, size: int, tools: Tools) -> bool:
    """Let the disk of a machine that is off grow to `size` MiB; False when it is larger already."""
    found = disk_size(files.disk, tools)
    if found < size:
        run_img(tools, "resize", "-q", "-f", "qcow2", str(files.disk), f"{size}M")
    return found <= size
