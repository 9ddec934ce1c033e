"""The roles as data: what they are told, how their tasks are called; reset mirrors site."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
import yaml

from tests.unit.vm.roles import ANSIBLE, ROLES, load

# Names are shown to people as progress: a short sentence that begins with what is done.
VERBS = re.compile(
    r"(Add|Apply|Ask|Bring|Check|Choose|Compare|Copy|Enable|End|Fetch|Find|Finish|Give|Have|"
    r"Install|Keep|Label|Lay|Learn|Let|Link|Look|Make|Mark|Note|Pack|Put|Read|Remove|Reset|"
    r"Restart|Run|Say|Start|Stop|Take|Tell|Unpack|Wait|Write) ."
)
FILES = sorted(ANSIBLE.glob("roles/*/tasks/*.yml"))


def tasks(found: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for task in found or []:
        yield task
        for part in ("block", "rescue", "always"):
            yield from tasks(task.get(part, []))


@pytest.mark.parametrize("file", FILES, ids=lambda f: f"{f.parts[-3]}/{f.stem}")
def test_each_task_is_named_by_a_short_sentence_with_a_verb(file):
    for task in tasks(yaml.safe_load(file.read_text("utf-8"))):
        name = task["name"]
        assert VERBS.match(name), name
        assert len(name) <= 64, name
        assert "\n" not in name
        assert "{{" not in name


@pytest.mark.parametrize("role", ROLES)
def test_each_role_says_what_it_is_told(role):
    specs = load(role, "meta", "argument_specs.yml")["argument_specs"]
    assert set(specs) >= {"main", "reset"}
    for name in load(role, "defaults", "main.yml") or {}:
        assert name.startswith(f"{role}_"), name
        assert name in {**specs["main"]["options"], **specs["reset"]["options"]}, name


def test_reset_is_the_mirror_of_site():
    site = yaml.safe_load((ANSIBLE / "site.yml").read_text("utf-8"))
    reset = yaml.safe_load((ANSIBLE / "reset.yml").read_text("utf-8"))
    there = [role["role"] for role in site[0]["roles"]]
    back = [task["ansible.builtin.import_role"]["name"] for task in reset[0]["tasks"]]
    assert tuple(there) == ROLES
    assert back == there[::-1]


@pytest.mark.parametrize("role", [role for role in ROLES if role != "grader"])
def test_a_reset_of_the_lab_leaves_the_machines_parts_alone(role):
    for task in tasks(load(role, "tasks", "reset.yml")):
        when = task["when"] if isinstance(task["when"], list) else [task["when"]]
        assert when[0] == "reset_depth == 'all'", task["name"]
