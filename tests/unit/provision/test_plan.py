"""The plan of the local target, pinned as text: every argument of every process."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from provision.errors import TargetError, UsageError
from provision.local.components import companion_set, load_inventory
from provision.local.plan import (
    Component,
    Folders,
    kueue_gates,
    make_blanks,
    make_plan,
    port_names,
    start_order,
)
from provision.local.running import stop_levels
from provision.local.supervising import supervisor_config
from provision.target import Companion

GOLDEN = Path(__file__).parents[2] / "golden" / "provision"
VERSIONS = {
    "etcd": "v3.0.0",
    "kube-apiserver": "v1.0.0",
    "kube-controller-manager": "v1.0.0",
    "kube-scheduler": "v1.0.0",
    "kwok": "v0.1.0",
    "kueue": "v0.19.2",
}


def the_plan() -> tuple[Component, ...]:
    inventory = load_inventory()
    sets = inventory.chosen(())
    folders = Folders(Path("/place"))
    ports = {name: 21000 + i for i, name in enumerate(port_names(sets))}
    blanks = make_blanks(folders, ports, sets, kueue_gates(inventory, VERSIONS["kueue"]))
    return make_plan(sets, folders, blanks, VERSIONS, "/venv/bin/python")


def as_text(plan: tuple[Component, ...]) -> str:
    lines: list[str] = []
    for component in plan:
        lines += [f"{component.name} {component.version}", f"  run    {component.argv[0]}"]
        lines += [f"         {word}" for word in component.argv[1:]]
        lines += [f"  after  {', '.join(component.after) or '-'}"]
        if component.opens:
            lines += [f"  opens  {component.opens.url}"]
        lines += [f"  probe  {component.probe.url}"]
        lines += [
            f"         trusts {component.probe.authority}, shows {component.probe.certificate}"
        ]
        lines += [f"  log    {component.log}", ""]
    return "\n".join(lines)


def agree(text: str, name: str) -> None:
    path = GOLDEN / name
    if os.environ.get("GOLDEN"):
        path.write_text(text)
    assert text == path.read_text(), f"rewrite {path} with GOLDEN=1 and read the difference"


def test_plan_is_as_it_was_reviewed():
    agree(as_text(the_plan()), "plan.txt")


def test_supervisor_configuration_is_as_it_was_reviewed():
    config = supervisor_config(the_plan(), Path("/place"), Path("/place/run/s.sock"), "0123abcd")
    agree(config, "supervisord.conf")


def test_every_listener_is_on_loopback():
    for component in the_plan():
        assert not any("0.0.0.0" in word or "[::]" in word for word in component.argv)


def test_percent_signs_survive_the_supervisor():
    odd = replace(the_plan()[0], argv=("/a b/50%", "x'y"), env=(("A", "1%"),))
    config = supervisor_config((odd,), Path("/p%q"), Path("/s"), "id")
    assert "command='/a b/50%%' 'x'\"'\"'y'" in config
    assert 'environment=A="1%%"' in config
    assert "directory=/p%%q" in config


def test_order_puts_each_after_what_it_needs():
    names = [c.name for c in the_plan()]
    assert names[:2] == ["etcd", "kube-apiserver"]
    assert start_order({"b": ["a"], "a": []}) == ("a", "b")


def test_circle_is_named():
    with pytest.raises(TargetError, match=r"circle: (a, b, a|b, a, b)"):
        start_order({"a": ["b"], "b": ["a"]})


def test_stop_is_the_reverse_and_etcd_is_last():
    levels = stop_levels({c.name: c.after for c in the_plan()})
    assert levels[-2:] == (("kube-apiserver",), ("etcd",))
    assert "kueue" in levels[0]


def test_unknown_blank_is_an_error():
    blanks = make_blanks(Folders(Path("/p")), {}, (), ())
    with pytest.raises(TargetError, match="cannot be filled"):
        blanks.fill("$nothing")


def test_unknown_set_is_named_with_the_known_ones():
    with pytest.raises(UsageError, match="no set of parts gang; known are base"):
        load_inventory().chosen(("gang",))


@pytest.mark.parametrize(
    ("version", "has_gate"), [("v0.19.2", True), ("v0.19.0", True), ("v0.20.0", False)]
)
def test_gates_go_to_older_versions_only(version: str, has_gate: bool):
    gates = kueue_gates(load_inventory(), version)
    assert ("UnadmittedWorkloadsObservability=true" in gates) == has_gate
    assert "VisibilityOnDemand=false" in gates


def test_broken_inventory_names_the_file(tmp_path: Path):
    path = tmp_path / "components.yaml"
    path.write_text("schema: 2\n")
    with pytest.raises(TargetError, match=r"components\.yaml cannot be understood"):
        load_inventory(path)


def test_a_companion_runs_a_module_beside_the_cluster_and_is_not_needed() -> None:
    wanted = Companion(
        "note-taker", "a.module", ("--to=$home/x", "--port=$port_note_taker"), ("etcd", "@moment")
    )
    sets = (*load_inventory().chosen(()), companion_set([wanted]))
    folders = Folders(Path("/place"))
    ports = {name: 21000 + i for i, name in enumerate(port_names(sets))}
    blanks = make_blanks(folders, ports, sets, ())
    plan = make_plan(sets, folders, blanks, VERSIONS, "/venv/bin/python")
    by_name = {component.name: component for component in plan}
    mine, port = by_name["note-taker"], ports["note-taker"]
    assert mine.argv == (
        *("/venv/bin/python", "-I", "-m", "a.module"),
        *("--to=/place/x", f"--port={port}"),
    )
    assert mine.probe.url == f"http://127.0.0.1:{port}/readyz"
    assert mine.after == ("etcd", "@moment")
    assert not mine.is_needed
    assert not mine.is_on_demand
    assert all(c.is_needed for name, c in by_name.items() if name != "note-taker")


def test_a_companion_on_demand_says_where_it_is_ready() -> None:
    wanted = Companion("page", "a.module", ready_path="/learn/ready", is_on_demand=True)
    sets = (*load_inventory().chosen(()), companion_set([wanted]))
    ports = {name: 21000 + i for i, name in enumerate(port_names(sets))}
    blanks = make_blanks(Folders(Path("/place")), ports, sets, ())
    [page] = [
        c
        for c in make_plan(sets, Folders(Path("/place")), blanks, VERSIONS, "/venv/bin/python")
        if c.is_on_demand
    ]
    assert page.probe.url == f"http://127.0.0.1:{ports['page']}/learn/ready"
