"""What the tests of the roles share: where they are, and Ansible's own view of their variables."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import yaml

ANSIBLE = Path(__file__).parents[3] / "provision" / "vm" / "ansible"
ROLES = ("prereq", "k3s", "gpus", "kueue", "training", "grader")


def load(role: str, *parts: str) -> Any:
    """A YAML file of a role."""
    return yaml.safe_load((ANSIBLE / "roles" / role).joinpath(*parts).read_text("utf-8"))


def plugin(role: str, name: str) -> ModuleType:
    """A filter plugin of a role, which is no package."""
    file = ANSIBLE / "roles" / role / "filter_plugins" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(f"roles_{role}_{name}", file)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def play(folder: Path, role: str, given: Mapping[str, Any], tasks: list[dict[str, Any]]) -> None:
    """Play `tasks` on this machine, with the defaults, variables and filters of a role."""
    home = ANSIBLE / "roles" / role
    book = [
        {
            "hosts": "localhost",
            "connection": "local",
            "gather_facts": False,
            "vars": {"ansible_python_interpreter": sys.executable},
            "vars_files": [str(home / "defaults/main.yml"), str(home / "vars/main.yml")],
            "tasks": tasks,
        }
    ]
    (folder / "book.yml").write_text(json.dumps(book))
    (folder / "given.json").write_text(json.dumps(given))
    (folder / "ansible.cfg").write_text("[defaults]\n")
    environ = {
        **os.environ,
        "ANSIBLE_CONFIG": str(folder / "ansible.cfg"),
        "ANSIBLE_FILTER_PLUGINS": str(home / "filter_plugins"),
        "ANSIBLE_LOCAL_TEMP": str(folder / "tmp"),
        "ANSIBLE_REMOTE_TEMP": str(folder / "tmp"),
        "LC_ALL": "C.UTF-8",
    }
    program = Path(sys.executable).with_name("ansible-playbook")
    command = [program, "-i", "localhost,", "-e", f"@{folder / 'given.json'}", folder / "book.yml"]
    done = subprocess.run(
        command, env=environ, text=True, capture_output=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
