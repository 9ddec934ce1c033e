"""Where labs live: `$LAB_HOME/<lab>`, the learner's workspace, and the lab provisioned last."""

from __future__ import annotations

import ipaddress
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from lab.catalog import lab_slugs, load_lab
from lab.cluster import cluster_objects
from lab.model import Lab
from provision.errors import LabError, UsageError
from provision.message import say
from provision.registry import open_target
from provision.settings import Settings
from provision.state import kind_of
from provision.target import Companion, PlaceSpec, Target

CURRENT = "current"
HISTORY = "history.jsonl"
RECORDER = "recorder"
PAGE = "page"
LOCAL, VM, INSIDE = "local", "vm", "inside"
FIRST_LAB = "kueue_quota"
KUEUE_API = "kueue.x-k8s.io/v1beta2"


# The learner's page, started by `lab open`.
PAGE_PROGRAM = Companion(
    name=PAGE,
    module="lab.web",
    args=("--home=$home", "--port=$port_page"),
    needs=("kube-apiserver",),
    ready_path="/learn/ready",
    is_on_demand=True,
)


@dataclass(frozen=True, slots=True)
class Place:
    """One lab at one place: what it is, where its files are, and the target it runs on."""

    lab: Lab
    home: Path
    workspace: Path
    target: Target

    @property
    def progress_file(self) -> Path:
        """The learner's attempts and passes, one JSON object a line."""
        return self.home / "progress.jsonl"

    @property
    def verdicts(self) -> Path:
        """The newest verdict on each step, one file each."""
        return self.home / "verdicts"

    @property
    def history_file(self) -> Path:
        """What changed in the cluster, as the recorder wrote it."""
        return self.home / HISTORY

    @property
    def saved(self) -> Path:
        """Dated copies of learner files, made before anything replaces them."""
        return self.home / "saved"


class Places:
    """All places below one `LAB_HOME`, as the environment names it."""

    def __init__(self, environment: Mapping[str, str], *, is_root: bool) -> None:
        self._environment = environment
        self._is_root = is_root
        self.root = self._root()

    def slug(self, wanted: str | None) -> str:
        """The lab meant by a command: named, by `LAB`, the one provisioned last, or the first."""
        return wanted or self._environment.get("LAB") or self._current() or FIRST_LAB

    def open(self, wanted: str | None = None) -> Place:
        """The place of a lab, whether it was provisioned or not."""
        slug = self.slug(wanted)
        return self._open(slug, self._kind(self.root / slug))

    def _open(self, slug: str, kind: str) -> Place:
        lab = load_lab(slug)
        home = self.root / lab.slug
        workspace = self._workspace(lab, kind)
        spec = PlaceSpec(
            lab=lab.slug,
            home=home,
            workspace=workspace,
            namespaces=lab.namespaces,
            nodes=lab.nodes,
            parts=lab.parts,
            companions=(_recorder(lab), PAGE_PROGRAM),
            kueue=lab.kueue_settings,
            frameworks=lab.frameworks,
            objects=cluster_objects(lab),
        )
        settings = Settings.from_environment(self._environment)
        return Place(lab, home, workspace, open_target(kind, spec, settings))

    def all(self) -> tuple[Place, ...]:
        """The places of all labs that have a folder below `LAB_HOME`."""
        return tuple(
            self._open(slug, kind_of(self.root / slug) or LOCAL)
            for slug in lab_slugs()
            if (self.root / slug).is_dir()
        )

    def remember(self, slug: str) -> None:
        """From now on, commands that name no lab mean this one."""
        temporary = self.root / f".{CURRENT}.{os.getpid()}"
        temporary.write_text(slug + "\n", encoding="utf-8")
        temporary.replace(self.root / CURRENT)

    def forget(self, slug: str) -> None:
        """Undo `remember` if it was this lab."""
        if self._current() == slug:
            (self.root / CURRENT).unlink(missing_ok=True)

    def _current(self) -> str | None:
        try:
            slug = (self.root / CURRENT).read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError):
            return None
        return slug if slug in lab_slugs() else None

    def _root(self) -> Path:
        if home := self._environment.get("LAB_HOME"):
            return Path(home).absolute()
        if state := self._environment.get("XDG_STATE_HOME"):
            return Path(state).absolute() / "gpu-queue-lab"
        return self._user_home() / ".local" / "state" / "gpu-queue-lab"

    def _kind(self, home: Path) -> str:
        """The target that the place was made with, or `TARGET` where there is no place yet."""
        wanted, made = self._environment.get("TARGET", "").strip(), kind_of(home)
        if not wanted and made in (None, LOCAL):
            _require_no_machine(self._environment, home, made)
        if made is None:
            return wanted or LOCAL
        if wanted not in ("", made):
            raise UsageError(
                say(
                    "The place {home} is of the target {made}, but TARGET is {wanted}.",
                    home=home,
                    made=made,
                    wanted=wanted,
                ),
                next_move=say(
                    "Leave TARGET out, or remove the place first (make destroy), "
                    "or name another folder in LAB_HOME."
                ),
            )
        return made

    def _workspace(self, lab: Lab, kind: str) -> Path:
        if kind == VM:  # in the machine, wherever its place is here
            return Path("/root") / lab.workspace
        if workspace := self._environment.get("LAB_WORKSPACE"):
            return Path(workspace).absolute()
        if self._environment.get("LAB_HOME"):
            return self.root / lab.slug / lab.workspace
        if self._is_root:
            return Path("/root") / lab.workspace
        return self._user_home() / lab.workspace

    def _user_home(self) -> Path:
        home = self._environment.get("HOME", "")
        if not home or not Path(home).is_absolute():
            raise UsageError(
                say("HOME is not set, so there is no folder for the lab."),
                next_move=say("Set HOME, or LAB_HOME and LAB_CACHE, to folders of your own."),
            )
        return Path(home)


def _require_no_machine(environment: Mapping[str, str], home: Path, made: str | None) -> None:
    """Refuse to take VM or HOST for a local place: who names a machine does not mean this one."""
    names = [name for name in ("VM", "HOST") if _names_machine(name, environment.get(name, ""))]
    if not names:
        return
    name = names[-1]
    raise UsageError(
        say(
            "{name} is {value}, which is for the target vm, and TARGET is not given.",
            name=name,
            value=environment[name].strip(),
        ),
        next_move=say("Add TARGET=vm, or leave {name} out.", name=", ".join(names))
        if made is None
        else say(
            "Leave {name} out: the place {home} is local. For a machine, add TARGET=vm and name "
            "another folder in LAB_HOME, or remove this place first (make destroy).",
            name=", ".join(names),
            home=home,
        ),
    )


def _names_machine(name: str, value: str) -> bool:
    """Some shells and compilers keep a word of their own in HOST: that is no login."""
    if name != "HOST" or "@" in value:
        return bool(value.strip())
    try:
        address = ipaddress.ip_address(value.strip())
    except ValueError:
        return False
    return not address.is_loopback and not address.is_unspecified


def _recorder(lab: Lab) -> Companion:
    """The program that writes down what changes in the lab, through the account that only looks."""
    return Companion(
        name=RECORDER,
        module="checks.recording",
        args=(
            *(f"--history=$home/{HISTORY}", "--kubeconfig=$home/grader.kubeconfig"),
            *("--port=$port_recorder", f"--kueue={lab.facts.get('api_version', KUEUE_API)}"),
            *(f"--namespace={namespace}" for namespace in lab.namespaces),
            *(f"--record={k.kind}/{k.plural}/{k.version}" for k in lab.recorded),
        ),
        needs=("kube-apiserver", "@definitions"),
    )


def require_folder(path: Path) -> None:
    """A workspace must be a real folder: a file or a link in its place is refused, untouched."""
    if path.is_symlink():
        kind = say("a link")
    elif path.exists() and not path.is_dir():
        kind = say("a file")
    else:
        return
    raise LabError(
        say("The workspace {path} is {kind}, not a folder.", path=path, kind=kind),
        next_move=say("Move it away, or set LAB_WORKSPACE to another folder."),
    )
