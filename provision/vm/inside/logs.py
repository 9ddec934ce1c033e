"""Logs inside the machine: systemd keeps those of services, the cluster those of Kueue and
of what else runs in it.

`lab logs` reads files, so the newest lines are copied into one when they are asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from provision.logs import unknown_log
from provision.vm.inside.facts import (
    K3S_UNIT,
    PLATFORM,
    PLATFORM_UNIT,
    UNITS,
    deployments_of,
)
from provision.vm.inside.units import Systemd
from provision.vm.kubectl import Kubectl

LINES = 2000


def copy_log(
    component: str,
    folder: Path,
    systemd: Systemd,
    kubectl: Callable[[], Kubectl],
    parts: Sequence[str] = (),
) -> Path:
    """A file in `folder` with the newest lines of a component; UsageError for an unknown one.

    `parts` are those of the lab, whose components are known, too.
    """
    units = {"k3s": K3S_UNIT, **UNITS}
    if PLATFORM in parts:
        units[PLATFORM] = PLATFORM_UNIT
    deployed = deployments_of(parts)
    file = folder / f"{component}.log"
    if component in units:
        systemd.copy_journal(units[component], file, LINES)
    elif component in deployed:
        namespace, name = deployed[component]
        where = (f"--namespace={namespace}", "logs", f"deployment/{name}")
        text = kubectl().text(*where, f"--tail={LINES}")
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        file.write_text(text, "utf-8")
    else:
        raise unknown_log(component, (*units, *deployed))
    return file
