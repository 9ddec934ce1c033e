"""A shell that stands in the workspace, with kubectl, its completion and the lab's kubeconfig."""

from __future__ import annotations

import errno
import os
import shlex
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NoReturn

from lab.places import Place, require_folder
from lab.solving import environment

BASHRC = """\
[ -r /etc/bash.bashrc ] && . /etc/bash.bashrc
[ -r "$HOME/.bashrc" ] && . "$HOME/.bashrc"
export PATH={path} KUBECONFIG={kubeconfig}
command -v _get_comp_words_by_ref >/dev/null 2>&1 || {{
  [ -r /usr/share/bash-completion/bash_completion ] && . /usr/share/bash-completion/bash_completion
}}
command -v _get_comp_words_by_ref >/dev/null 2>&1 || {{
  # Without that package: what kubectl's completion asks of it, less its care for colons.
  _get_comp_words_by_ref() {{
    words=("${{COMP_WORDS[@]}}") cword=$COMP_CWORD
    cur=${{words[cword]}} prev=${{words[cword - 1]}}
  }}
  __ltrim_colon_completions() {{ :; }}
  _filedir() {{ mapfile -t COMPREPLY < <(compgen -f -- "$cur"); }}
}}
. <(kubectl completion bash)
alias k=kubectl
complete -o default -F __start_kubectl k
PS1='({lab}) \\W\\$ '
"""


# make calls the failure of a last command its own; a trap, unlike a signal that is ignored, is not
# handed on.
_WELL = 'trap : INT QUIT; "$@"; exit 0'


def become(command: Sequence[str], variables: Mapping[str, str]) -> NoReturn:
    """Become a shell that ends well, however its last command ended; OSError without that shell."""
    if not os.access(command[0], os.X_OK) or Path(command[0]).is_dir():
        code = errno.EACCES if Path(command[0]).exists() else errno.ENOENT
        raise OSError(code, os.strerror(code))
    os.execve("/bin/sh", ["/bin/sh", "-c", _WELL, "sh", *command], dict(variables))


def prepare_shell(
    place: Place, base: Mapping[str, str], bin_dir: Path
) -> tuple[list[str], dict[str, str]]:
    """The command and environment of the learner's shell; writes only below the place's home.

    `bin_dir` is where `lab` itself is, so that it can be called in the shell.
    """
    require_folder(place.workspace)
    variables = environment(place, base)  # first: it refuses a place that was never provisioned
    place.workspace.mkdir(parents=True, exist_ok=True)
    variables["LAB_SHELL"] = "1"
    variables["PATH"] += f"{os.pathsep}{bin_dir}"
    shell = base.get("SHELL") or shutil.which("bash", path=base.get("PATH")) or "/bin/sh"
    if Path(shell).name != "bash":
        return [shell], variables
    rc = place.home / "shell" / "bashrc"
    rc.parent.mkdir(parents=True, exist_ok=True)
    rc.write_text(
        BASHRC.format(
            path=shlex.quote(variables["PATH"]),
            kubeconfig=shlex.quote(variables["KUBECONFIG"]),
            lab=place.lab.slug,
        ),
        encoding="utf-8",
    )
    return [shell, "--rcfile", str(rc), "-i"], variables
