"""What the local target says when there is nothing to work on: no process is started here."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from provision.errors import TargetError, UsageError
from provision.local.components import load_inventory
from provision.local.place import Place
from provision.registry import open_target
from provision.settings import Settings
from provision.state import claim_home, new_state, save_state
from provision.target import PlaceSpec, Progress, Target


@pytest.fixture
def spec(tmp_path: Path) -> PlaceSpec:
    home = tmp_path / "kueue_quota"
    return PlaceSpec("kueue_quota", home, home / "gsb-kueue", ("team-a",), ())


@pytest.fixture
def target(spec: PlaceSpec, tmp_path: Path) -> Target:
    return open_target("local", spec, Settings(cache=tmp_path / "cache"))


def quiet(progress: Progress) -> None:
    """Nobody listens."""


def test_unknown_target_names_the_known_ones(spec: PlaceSpec):
    with pytest.raises(UsageError, match="no target vm2; there are: local"):
        open_target("vm2", spec, Settings(cache=Path("/c")))


def test_unknown_set_of_parts_is_named(spec: PlaceSpec):
    with pytest.raises(UsageError, match="no set of parts gang"):
        open_target("local", dataclasses.replace(spec, parts=("gang",)), Settings(cache=Path("/c")))


def test_place_that_never_was(target: Target, spec: PlaceSpec):
    status = target.status()
    assert not status.is_provisioned
    assert not status.is_ready
    assert status.components == ()
    for call in (target.info, lambda: target.reset(quiet), lambda: target.down(quiet)):
        with pytest.raises(TargetError, match="no cluster for kueue_quota yet") as caught:
            call()
        assert "make provision" in str(caught.value.next_move)
    assert not spec.home.exists()


def test_half_made_place_has_a_status(target: Target, spec: PlaceSpec):
    claim_home(spec.home, spec.lab)
    save_state(spec.home, new_state(spec.lab))
    status = target.status()
    assert not status.is_provisioned
    assert status.components == ()
    target.down(quiet)
    target.destroy(quiet)
    assert not spec.home.exists()


def test_destroy_of_nothing_is_no_error(target: Target):
    target.destroy(quiet)


def test_destroy_refuses_a_folder_that_is_not_ours(target: Target, spec: PlaceSpec):
    spec.home.mkdir()
    (spec.home / "thesis.tex").touch()
    with pytest.raises(TargetError, match="not a place of this lab"):
        target.destroy(quiet)
    assert (spec.home / "thesis.tex").exists()


def test_destroy_leaves_what_was_there_before_and_the_workspace(target: Target, spec: PlaceSpec):
    spec.home.mkdir()
    (spec.home / "thesis.tex").touch()
    claim_home(spec.home, spec.lab)
    spec.workspace.mkdir()
    (spec.workspace / "flavor.yaml").touch()
    (spec.home / "logs").mkdir()
    target.destroy(quiet)
    assert {p.name for p in spec.home.iterdir()} == {"thesis.tex", "gsb-kueue"}


def test_workspace_deeper_in_home_survives(spec: PlaceSpec):
    deep = dataclasses.replace(spec, workspace=spec.home / "people" / "kim" / "gsb-kueue")
    place = Place(deep, load_inventory())
    claim_home(spec.home, spec.lab)
    place.make_workspace()
    (deep.workspace / "flavor.yaml").touch()
    place.remove(frozenset())
    assert (deep.workspace / "flavor.yaml").exists()
    assert place.spec.workspace.exists()


def test_unknown_log_names_the_known_ones(target: Target, spec: PlaceSpec):
    assert target.log_path("kueue") == spec.home / "logs" / "kueue.log"
    with pytest.raises(UsageError, match="no log kubelet; there are: etcd, kube-apiserver"):
        target.log_path("kubelet")


def test_home_that_is_a_file(target: Target, spec: PlaceSpec):
    spec.home.touch()
    with pytest.raises(TargetError, match="is a file"):
        target.up(quiet)


def test_tools_are_in_the_place(target: Target, spec: PlaceSpec):
    assert target.tools_dir() == spec.home / "bin"
