"""Where a place is, by the environment; HOME unset, files and links in the way."""

import json
from pathlib import Path

import pytest

from lab.casework.kit import kit_place
from lab.places import Places, require_folder
from provision.errors import LabError, UsageError
from provision.state import claim_home, new_state, save_state


def places(environment, *, is_root=False):
    return Places({"LAB_CACHE": "/cache", **environment}, is_root=is_root)


@pytest.mark.parametrize(
    ("environment", "is_root", "home", "workspace"),
    [
        ({"HOME": "/home/a"}, False, "/home/a/.local/state/gpu-queue-lab", "/home/a/gsb-kueue"),
        ({"HOME": "/root"}, True, "/root/.local/state/gpu-queue-lab", "/root/gsb-kueue"),
        (
            {"HOME": "/home/a", "XDG_STATE_HOME": "/s"},
            False,
            "/s/gpu-queue-lab",
            "/home/a/gsb-kueue",
        ),
        ({"LAB_HOME": "/l"}, True, "/l", "/l/kueue_quota/gsb-kueue"),
        ({"LAB_HOME": "/l", "LAB_WORKSPACE": "/w"}, False, "/l", "/w"),
    ],
)
def test_home_and_workspace(environment, is_root, home, workspace):
    place = places(environment, is_root=is_root).open()
    assert place.home == Path(home) / "kueue_quota"
    assert place.workspace == Path(workspace)


@pytest.mark.parametrize("environment", [{}, {"HOME": ""}, {"HOME": "relative"}])
def test_home_unset_is_a_usage_error(environment):
    with pytest.raises(UsageError) as caught:
        places(environment)
    assert "HOME" in str(caught.value)
    assert "LAB_HOME" in str(caught.value.next_move)


def test_lab_provisioned_last_is_remembered(tmp_path):
    where = places({"LAB_HOME": str(tmp_path)})
    where.remember("kueue_quota")
    assert where.slug(None) == "kueue_quota"
    assert where.slug("other") == "other"
    where.forget("kueue_quota")
    assert not (tmp_path / "current").exists()


@pytest.mark.parametrize("content", [b"", b"\xff\xfe", b"../../etc\n"])
def test_broken_pointer_is_ignored(tmp_path, content):
    (tmp_path / "current").write_bytes(content)
    assert places({"LAB_HOME": str(tmp_path)}).slug(None) == "kueue_quota"


def test_workspace_that_is_a_file_or_a_link(tmp_path):
    file = tmp_path / "file"
    file.write_text("mine")
    link = tmp_path / "link"
    link.symlink_to(tmp_path)
    for path, kind in ((file, "a file"), (link, "a link")):
        with pytest.raises(LabError, match=kind):
            require_folder(path)
    assert file.read_text() == "mine"
    require_folder(tmp_path)
    require_folder(tmp_path / "absent")


def kept(tmp_path, kind):
    home = tmp_path / "kueue_quota"
    claim_home(home, "kueue_quota", kind)
    save_state(home, new_state("kueue_quota", kind))
    return {"LAB_HOME": str(tmp_path), "HOME": "/home/a"}


def test_a_place_is_opened_with_the_target_that_it_was_made_with(tmp_path):
    environment = kept(tmp_path, "vm")
    assert not places(environment).open().target.is_here
    assert not places({**environment, "TARGET": "vm"}).open().target.is_here


def test_a_target_that_contradicts_is_refused_and_the_place_still_listed(tmp_path):
    environment = {**kept(tmp_path, "vm"), "TARGET": "local"}
    with pytest.raises(UsageError) as caught:
        places(environment).open()
    assert "is of the target vm, but TARGET is local" in str(caught.value)
    assert "make destroy" in str(caught.value.next_move)
    assert [place.lab.slug for place in places(environment).all()] == ["kueue_quota"]


def test_a_place_from_before_there_were_kinds_is_a_local_one(tmp_path):
    environment = kept(tmp_path, "local")
    for name in ("place.json", ".place.json.copy"):
        state = json.loads((tmp_path / "kueue_quota" / name).read_text())
        del state["kind"]
        (tmp_path / "kueue_quota" / name).write_text(json.dumps(state))
    assert places(environment).open().target.is_here


def test_the_workspace_of_a_machine_is_roots_wherever_the_place_is(tmp_path):
    environment = {**kept(tmp_path, "vm"), "LAB_WORKSPACE": str(tmp_path / "mine")}
    assert places(environment).open().workspace == Path("/root/gsb-kueue")


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ({"HOST": "root@192.0.2.10"}, "HOST is root@192.0.2.10"),
        ({"HOST": "192.0.2.10"}, "HOST is 192.0.2.10"),
        ({"VM": "qemu"}, "VM is qemu"),
        ({"VM": "ssh", "HOST": "root@h", "KEY": "/k"}, "HOST is root@h"),
    ],
)
def test_a_machine_named_without_a_target_is_no_local_place(tmp_path, said, words):
    environment = {"LAB_HOME": str(tmp_path), **said}
    with pytest.raises(UsageError, match=words) as caught:
        places(environment).open()
    following = str(caught.value.next_move)
    assert following.startswith("Add TARGET=vm, or leave ")
    assert all(name in following for name in said if name != "KEY")
    assert not places({**environment, "TARGET": "vm"}).open().target.is_here
    assert places({**environment, "TARGET": "local"}).open().target.is_here


def test_a_machine_named_at_a_local_place_is_refused_and_at_one_in_a_machine_taken(tmp_path):
    environment = {**kept(tmp_path, "local"), "HOST": "root@192.0.2.10"}
    with pytest.raises(UsageError, match="which is for the target vm") as caught:
        places(environment).open()
    assert f"the place {tmp_path / 'kueue_quota'} is local" in str(caught.value.next_move)
    save_state(tmp_path / "kueue_quota", new_state("kueue_quota", "vm"))
    assert not places(environment).open().target.is_here


@pytest.mark.parametrize(
    "said",
    [
        {"HOST": "laptop"},  # as tcsh has it
        {"HOST": "x86_64-conda-linux-gnu"},
        {"HOST": "127.0.0.1"},
        {"HOST": "0.0.0.0"},
        {"HOST": "", "VM": ""},
        {"BUNDLE": "/b"},
    ],
)
def test_what_is_no_login_or_serves_both_targets_is_no_reason_to_refuse(tmp_path, said):
    assert places({"LAB_HOME": str(tmp_path), **said}).open().target.is_here


def test_the_kit_stays_local_whatever_machine_is_named(tmp_path):
    environment = {"LAB_CACHE": "/c", "VM": "ssh", "HOST": "root@h", "TARGET": "vm"}
    assert kit_place(environment, tmp_path, "kueue_quota").target.is_here


def test_an_unknown_target_is_told_with_those_for_people(tmp_path):
    with pytest.raises(UsageError, match=r"There is no target foo; there are: local, vm\.$"):
        places({"LAB_HOME": str(tmp_path), "TARGET": "foo"}).open()
