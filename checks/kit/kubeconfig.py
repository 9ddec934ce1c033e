"""Kubeconfig files, read without running anything that they may name."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from checks.kit.paths import dig_list, dig_map, dig_text
from checks.kit.yamltree import BadYaml, read_yaml
from checks.outcome import CannotTell
from provision.message import Message, say


@dataclass(frozen=True, slots=True)
class Kubeconfig:
    """A kubeconfig file, and the server URL and certificate authority of its current context."""

    path: Path
    content: dict[str, object]
    server: str
    authority: str

    def spoiled(self, why: str) -> CannotTell:
        """The refusal for a file whose content turned out to be of no use."""
        return _unusable(self.path, say("{why}", why=why))


def read_kubeconfig(path: Path) -> Kubeconfig:
    """The file's current context; CannotTell naming the kubeconfig when it cannot be used."""
    try:
        documents = read_yaml(path.read_text("utf-8"))
    except FileNotFoundError:
        raise _unusable(path, say("no such file")) from None
    except (OSError, UnicodeDecodeError) as error:
        raise _unusable(path, say("it cannot be read")) from error
    except BadYaml as bad:
        raise _unusable(path, bad.why) from None
    content = documents[0][0] if documents else None
    if not isinstance(content, dict):
        raise _unusable(path, say("it is empty"))
    context = _named(content, "contexts", dig_text(content, "current-context"))
    cluster = dig_map(
        _named(content, "clusters", dig_text(context, "context", "cluster")), "cluster"
    )
    server = dig_text(cluster, "server")
    if not server:
        raise _unusable(path, say("its current context names no server"))
    authority = dig_text(cluster, "certificate-authority-data")
    return Kubeconfig(path, content, server, authority)


def require_same_cluster(learner: Path, grader: Path) -> None:
    """CannotTell when the learner's kubeconfig cannot be used or names another cluster."""
    theirs, ours = read_kubeconfig(learner), read_kubeconfig(grader)
    if theirs.server != ours.server or theirs.authority != ours.authority:
        raise _unusable(
            learner,
            say("it names the server {theirs}, not {ours}", theirs=theirs.server, ours=ours.server),
        )


def _named(content: dict[str, object], key: str, name: str) -> object:
    return next((item for item in dig_list(content, key) if dig_text(item, "name") == name), {})


def _unusable(path: Path, why: Message) -> CannotTell:
    return CannotTell(
        say("the kubeconfig {path} cannot be used: {why}", path=path, why=why),
        next_move=say("make provision writes it anew"),
    )
