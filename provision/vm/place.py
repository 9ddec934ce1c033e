"""The controller's side of a place: a forward to the API, the recorder, a forward to the page.

They are components like those of the local target, kept up by the same supervisor.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from provision.errors import TargetError
from provision.files import write_atomically
from provision.local.components import companion_set
from provision.local.plan import Component, Folders, Probe, make_blanks, make_plan
from provision.message import say
from provision.target import PlaceSpec
from provision.vm.inside.facts import PAGE, PORTS
from provision.vm.kubeconfigs import api_probe
from provision.vm.machine import ALIAS, FOLDER

TUNNEL = "tunnel"
API = "apiserver"
API_PORT = 6443
STOP_SECONDS = 5
# Nothing is shared with other connections, and a forward that cannot be made ends the process.
_FORWARD = (
    *("-N", "-o", "ControlMaster=no", "-o", "ControlPath=none"),
    *("-o", "ExitOnForwardFailure=yes"),
)
_KUBECTL = r"""#!/bin/sh
# kubectl on the lab's machine: files that it is to read must lie there, or come by "-f -".
words=kubectl
for word in "$@"; do
  words="$words '$(printf '%s\n' "$word" | sed "s/'/'\\\\''/g")'"
done
exec ssh -F '{config}' {alias} -- {sudo}"$words"
"""


class VmPlace:
    """The files of one place; nothing here starts or asks a process."""

    def __init__(self, spec: PlaceSpec, agent: str = "") -> None:
        """`agent` is the socket of the person's ssh agent, used where no key file is named."""
        self.spec = spec
        self.folders = Folders(spec.home)
        self.kubeconfig = spec.home / "kubeconfig"
        self.grader_kubeconfig = spec.home / "grader.kubeconfig"
        self.tools = spec.home / "bin"
        self.ssh_config = spec.home / FOLDER / "ssh_config"
        self._agent = agent
        self._page = next((c for c in spec.companions if c.name == PAGE), None)
        self._companions = tuple(c for c in spec.companions if not c.is_on_demand)

    def port_names(self) -> tuple[str, ...]:
        """The names of the ports that this place wants."""
        names = (API, *(c.name for c in self._companions))
        return names if self._page is None else (*names, PAGE)

    def names(self) -> tuple[str, ...]:
        """The names of the components here."""
        names = (TUNNEL, *(c.name for c in self._companions))
        return names if self._page is None else (*names, PAGE)

    def plan(self, ports: Mapping[str, int], versions: Mapping[str, str]) -> tuple[Component, ...]:
        """The components as they run on these ports; writes nothing."""
        sets = (companion_set(self._companions),)
        blanks = make_blanks(self.folders, ports, sets, ())
        companions = make_plan(sets, self.folders, blanks, versions, sys.executable)
        found = [self._tunnel(ports), *(replace(c, after=(TUNNEL,)) for c in companions)]
        if self._page is not None:
            found.append(self._page_forward(ports, self._page.ready_path))
        return tuple(found)

    def plan_of(
        self, ports: Mapping[str, int], versions: Mapping[str, str]
    ) -> tuple[Component, ...]:
        """The same for ports that are kept; empty when some are not among them yet."""
        return self.plan(ports, versions) if set(self.port_names()) <= ports.keys() else ()

    def make_folders(self) -> None:
        """Make the folders that components write to."""
        for name in ("logs", "conf", "run", "bin", "pki"):
            (self.spec.home / name).mkdir(parents=True, exist_ok=True, mode=0o700)

    def lay_kubectl(self, *, is_root: bool) -> None:
        """Write the small program that stands for the machine's kubectl."""
        config = str(self.ssh_config).replace("'", "'\\''")
        sudo = "" if is_root else "sudo -n "
        text = _KUBECTL.format(config=config, alias=ALIAS, sudo=sudo)
        write_atomically(self.tools / "kubectl", text, mode=0o700)

    def digest(self, config: str, key: str) -> str:
        """Of all that the components read at their start; `key` is that of the bundle."""
        digest = hashlib.sha256(f"{config}\n{key}\n".encode())
        for path in (self.ssh_config, self.grader_kubeconfig):
            digest.update(path.read_bytes() if path.is_file() else b"-")
        return digest.hexdigest()

    def log(self, component: str) -> Path:
        """Where the log of a component is."""
        return self.folders.logs / f"{component}.log"

    def _tunnel(self, ports: Mapping[str, int]) -> Component:
        return self._forward(TUNNEL, ports[API], API_PORT, api_probe(self.spec.home, ports[API]))

    def _page_forward(self, ports: Mapping[str, int], ready_path: str) -> Component:
        probe = Probe(f"http://127.0.0.1:{ports[PAGE]}{ready_path}")
        forward = self._forward(PAGE, ports[PAGE], PORTS[PAGE], probe)
        return replace(forward, is_needed=False, is_on_demand=True, after=(TUNNEL,))

    def _forward(self, name: str, here: int, there: int, probe: Probe) -> Component:
        way = f"127.0.0.1:{here}:127.0.0.1:{there}"
        return Component(
            name=name,
            argv=("ssh", "-F", str(self.ssh_config), *_FORWARD, "-L", way, ALIAS),
            env=self._surroundings(),
            probe=probe,
            after=(),
            log=self.log(name),
            version="",
            stop_seconds=STOP_SECONDS,
        )

    def _surroundings(self) -> tuple[tuple[str, str], ...]:
        """A forward that logs in with the keys of an agent must be able to ask it."""
        try:
            has_key = "IdentityFile" in self.ssh_config.read_text("utf-8")
        except OSError:
            has_key = True
        return (("SSH_AUTH_SOCK", self._agent),) if self._agent and not has_key else ()


def nothing_yet(lab: str) -> TargetError:
    """The error for a place that was never brought up."""
    return TargetError(
        say("There is no machine for {lab} yet.", lab=lab),
        next_move=say("Run `make provision TARGET=vm LAB={lab}`.", lab=lab),
    )
