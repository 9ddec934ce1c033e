from __future__ import annotations

import base64
import hashlib
import json
import os
import zipfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from provision.errors import TargetError, UsageError
from provision.target import Progress, silent
from provision.versions import kueue_written_for, training_for
from provision.vm.bundle.checking import Artefact, Bundle, Kind, check_bundle, read_bundle
from provision.vm.collecting.collector import Collected, collect
from provision.vm.collecting.debs import collect_debs, is_same_release, resolve
from provision.vm.collecting.journal import Journal
from provision.vm.collecting.net import NotHad
from provision.vm.collecting.plan import Plan, Wanted, cloud_image, collected, read_plan
from provision.vm.collecting.sums import fits
from provision.vm.collecting.wheels import LOCK_FILE, collect_wheels, locked_for
from tests.fakes.http_host import FakeRegistry, Host, digest, http_host

PROJECT = Path(__file__).parents[3]
K3S, MANIFEST, DISK = b"k3s" * 1000, b"kind: List\n", b"disk" * 1000


@pytest.fixture
def host():
    with http_host() as host:
        yield host


@pytest.fixture
def plan(host: Host) -> Plan:
    fake = FakeRegistry(host)
    host.serve("/v1/k3s", K3S)
    host.serve("/v2/manifests.yaml", MANIFEST)
    record = {"assets": [{"name": "manifests.yaml", "digest": digest(MANIFEST)}]}
    host.serve("/api", json.dumps(record).encode())
    host.serve("/latest/disk.qcow2", DISK)
    host.serve("/latest/SUMS", f"{digest(DISK)[7:]}  disk.qcow2\n".encode())
    pinned = fake.push("busybox", "1", [b"layer"])
    image, sums = fake.name("busybox", "1"), host.url("/latest/SUMS")
    wanted = (
        Wanted("k3s", Kind.BINARY, "v1", url=host.url("/v1/k3s"), checksum=digest(K3S)),
        Wanted(
            "kueue", Kind.MANIFEST, "v2", url=host.url("/v2/manifests.yaml"), sums=host.url("/api")
        ),
        Wanted("busybox", Kind.IMAGES, "1", image=image, checksum=pinned),
        Wanted(
            *("disk", Kind.DISK, "3"),
            url=host.url("/3/disk.qcow2"),
            checksum=digest(b"what is gone"),
            instead=host.url("/latest/disk.qcow2"),
            sums=sums,
            only="qemu",
        ),
    )
    return Plan("linux/amd64", "debian-99", "3.11.2", wanted, ("tmux",))


@pytest.fixture
def page(tmp_path: Path) -> Path:
    folder = tmp_path / "page"
    folder.mkdir()
    (folder / "xterm.mjs").write_text("export {}\n")
    return folder


@pytest.fixture
def lock(tmp_path: Path) -> Path:
    """A lock file with one package, and its wheel where pip is told to look."""
    links = tmp_path / "links"
    links.mkdir()
    wheel = links / "tiny-1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as file:
        file.writestr(
            "tiny-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: tiny\nVersion: 1.0\n"
        )
        file.writestr("tiny-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        file.writestr("tiny-1.0.dist-info/RECORD", "")
    path = tmp_path / "lock.txt"
    path.write_text(
        f"tiny==1.0 \\\n    --hash={digest(wheel.read_bytes())} \\\n    --hash=sha256:{'0' * 64}\n"
        f"old==1 ; python_full_version >= '3.11.5' \\\n    --hash=sha256:{'0' * 64}\n"
    )
    return path


def environ(lock: Path) -> dict[str, str]:
    return {
        "PATH": os.environ["PATH"],
        "PIP_NO_INDEX": "1",
        "PIP_FIND_LINKS": str(lock.parent / "links"),
        "PIP_CONFIG_FILE": os.devnull,
    }


def fetched(bundle: Bundle) -> set[Artefact]:
    """All but our own wheel: it is what the sources are at that moment."""
    return {a for a in bundle.artefacts if a.name != "gpu-queue-lab"}


def test_a_bundle_is_collected_and_is_whole(
    plan: Plan, page: Path, lock: Path, tmp_path: Path, host: Host
):
    told: list[Progress] = []
    out = tmp_path / "out"
    made = collect(out, plan, page=page, environ=environ(lock), tell=told.append, lock_file=lock)
    bundle = read_bundle(out)
    assert bundle == made.bundle
    check_bundle(bundle, platform="linux/amd64", system="debian-99")
    proofs = {a.name: a.proof for a in bundle.artefacts}
    assert proofs == {
        "k3s": "pinned",
        "kueue": "published",
        "busybox": "pinned",
        "disk": "published",
        "tiny": "pinned",
        "gpu-queue-lab": "",
    }
    assert bundle.one("disk", "disk").source == host.url("/latest/disk.qcow2")
    assert [str(p.stage) for p in told][:2] == ["fetching k3s v1", "fetching kueue v2"]
    assert "Debian packages are not in it" in str(made.remarks[0])
    assert str(made.remarks[1]).endswith("not pinned here: kueue, disk.")
    hidden = {p.name for p in out.rglob(".*")}
    assert hidden == {".collected.json", ".collecting.lock"}


def test_a_second_run_asks_nobody(plan: Plan, page: Path, lock: Path, tmp_path: Path, host: Host):
    out, env = tmp_path / "out", environ(lock)
    first = collect(out, plan, page=page, environ=env, tell=silent, lock_file=lock)
    asked = len(host.asked)
    (lock.parent / "links" / "tiny-1.0-py3-none-any.whl").unlink()
    second = collect(out, plan, page=page, environ=env, tell=silent, lock_file=lock)
    assert fetched(second.bundle) == fetched(first.bundle)
    assert len(host.asked) == asked


def test_an_altered_file_and_another_version_are_fetched_again(
    plan: Plan, page: Path, lock: Path, tmp_path: Path, host: Host
):
    out, env = tmp_path / "out", environ(lock)
    collect(out, plan, page=page, environ=env, tell=silent, lock_file=lock)
    (out / "images" / "busybox.tar").write_bytes(b"altered")
    newer = b"newer"
    host.serve("/v9/k3s", newer)
    changed = replace(
        plan.artefacts[0], version="v9", url=host.url("/v9/k3s"), checksum=digest(newer)
    )
    after = replace(plan, artefacts=(changed, *plan.artefacts[1:]))
    bundle = collect(out, after, page=page, environ=env, tell=silent, lock_file=lock).bundle
    check_bundle(bundle)
    assert (out / "k3s").read_bytes() == newer
    assert bundle.one("k3s", "binary").version == "v9"


def test_all_that_cannot_be_had_is_told_at_once_and_the_rest_is_kept(
    plan: Plan, lock: Path, tmp_path: Path, host: Host
):
    host.serve("/api", b'{"assets": []}')
    del host.routes["/latest/disk.qcow2"]
    (lock.parent / "links" / "tiny-1.0-py3-none-any.whl").unlink()
    out = tmp_path / "out"
    with pytest.raises(TargetError) as caught:
        collect(out, plan, page=None, environ=environ(lock), tell=silent, lock_file=lock)
    told = str(caught.value).splitlines()
    assert told[0] == "These could not be had:"
    assert told[1] == f"- kueue v2: {host.url('/api')} has no checksum of manifests.yaml"
    assert told[2].startswith(f"- disk 3: {host.url('/latest/disk.qcow2')} answers 404")
    assert told[3].startswith("- Python packages: pip: No matching distribution found for tiny")
    assert told[4] == "- our own wheel: it needs xterm.js from npm"
    assert len(told) == 5
    assert "BUNDLE=folder" in str(caught.value.next_move)
    assert caught.value.exit_code == 3
    assert not (out / "bundle.yaml").exists()
    assert (out / "k3s").read_bytes() == K3S


def test_two_runs_at_once_take_turns(
    plan: Plan, page: Path, lock: Path, tmp_path: Path, host: Host
):
    def run(_: int) -> Collected:
        return collect(
            tmp_path / "out", plan, page=page, environ=environ(lock), tell=silent, lock_file=lock
        )

    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(run, range(2))
    assert fetched(first.bundle) == fetched(second.bundle)
    assert host.asked.count("/v1/k3s") == 1


def test_a_folder_of_other_things_is_left_alone(plan: Plan, tmp_path: Path):
    (tmp_path / "letter.txt").write_text("dear")
    with pytest.raises(UsageError, match="holds other things than a bundle"):
        collect(tmp_path, plan, page=None, environ={}, tell=silent)
    assert [p.name for p in tmp_path.iterdir()] == ["letter.txt"]


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"k3s": 1}', '{"k3s": {"wanted": "x"}}', "[" * 100_000]
)
def test_a_damaged_journal_is_begun_anew(plan: Plan, tmp_path: Path, text: str):
    k3s = plan.artefacts[0]
    (tmp_path / "k3s").write_bytes(K3S)
    (tmp_path / ".collected.json").write_text(text)
    journal = Journal(tmp_path)
    assert journal.find(k3s) is None
    artefact = collected(k3s, digest(K3S)[7:], is_pinned=True)
    journal.note(k3s, artefact)
    assert Journal(tmp_path).find(k3s) == artefact
    assert Journal(tmp_path).find(replace(k3s, version="v2")) is None
    (tmp_path / "k3s").write_bytes(b"altered")
    assert Journal(tmp_path).find(k3s) is None


def test_the_plan_is_whole_and_says_what_is_not_known():
    plan = read_plan()
    assert (plan.platform, plan.os, plan.machine) == ("linux/amd64", "debian-12", "x86_64")
    files = [w.file for w in plan.artefacts]
    assert len(files) == len(set(files))
    assert {"k3s", "images/k3s-images.tar.zst", "manifests/kueue.yaml"} <= set(files)
    for wanted in plan.artefacts:
        assert wanted.checksum or wanted.sums or wanted.image, wanted.name
        assert bool(wanted.url) != bool(wanted.image), wanted.name
    assert plan.one("kueue", Kind.MANIFEST).version == plan.one("kueue-image", Kind.IMAGES).version
    assert plan.one("k3s", Kind.BINARY).version == plan.one("k3s-images", Kind.IMAGES).version
    assert "%2B" in plan.one("k3s", Kind.BINARY).url
    assert cloud_image().checksum.startswith("sha512:")
    plain = plan.without("qemu", "fake-gpu-operator")
    assert not any(w.only for w in plain.for_parts(()).artefacts)


def test_a_part_is_collected_for_labs_that_ask_for_it_with_the_version_that_fits_kueue():
    plan = read_plan()

    def more(*parts: str) -> set[str]:
        without = {w.name for w in plan.for_parts(()).artefacts}
        return {w.name for w in plan.for_parts(parts).artefacts} - without

    assert more("jobset") == {"jobset", "jobset-image"}
    assert more("platform", "trainer") == {"trainer", "trainer-image"}
    fitting = training_for(kueue_written_for())
    assert plan.one("jobset-image", Kind.IMAGES).version == fitting.jobset
    trainer = plan.one("trainer", Kind.MANIFEST)
    assert (trainer.version, trainer.file) == (fitting.trainer, "manifests/trainer.zip")


def test_a_module_is_known_by_the_sum_of_its_files(tmp_path: Path):
    file = tmp_path / "m.zip"
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("m@v1/b", "2")
        archive.writestr("m@v1/a", "1")
    files = {"m@v1/a": b"1", "m@v1/b": b"2"}
    lines = "".join(f"{hashlib.sha256(files[n]).hexdigest()}  {n}\n" for n in files)
    right = base64.b64encode(hashlib.sha256(lines.encode()).digest()).decode()
    assert fits(file, f"h1:{right}") == hashlib.sha256(file.read_bytes()).hexdigest()
    assert fits(file, f"h1:{right[::-1]}") is None
    file.write_bytes(b"no zip")
    assert fits(file, f"h1:{right}") is None
    assert fits(file, "h1:") is None


def test_a_given_machine_may_be_of_another_release():
    assert read_plan("ubuntu-24.04").python == "3.12.3"
    with pytest.raises(TargetError, match=r"for ubuntu-22\.04"):
        read_plan("ubuntu-22.04")


def test_the_role_would_fetch_the_packages_that_a_bundle_holds():
    role = Path(PROJECT / "provision/vm/ansible/roles/prereq/defaults/main.yml").read_text("utf-8")
    assert tuple(yaml.safe_load(role)["prereq_packages"]) == read_plan().debs


def test_markers_are_answered_for_the_machine_and_not_for_here():
    lock = LOCK_FILE.read_text("utf-8")
    names = {x.name: x.version for x in locked_for(read_plan(), lock)}
    assert names["soupsieve"] == "2.10"
    assert "overrides" in names
    assert not {"colorama", "pywinpty"} & names.keys()


def test_a_wheel_that_the_lock_does_not_know_is_not_taken(plan: Plan, lock: Path, tmp_path: Path):
    wheels = tmp_path / "out" / "wheels"
    wheels.mkdir(parents=True)
    (wheels / "tiny-1.0-py3-none-any.whl").write_bytes(b"not the one")
    (wheels / "evil-1.0-py3-none-any.whl").write_bytes(b"nobody asked")
    (found,) = collect_wheels(plan, tmp_path / "out", environ(lock), lock)
    assert found.name == "tiny"
    assert (wheels / "tiny-1.0-py3-none-any.whl").read_bytes() != b"not the one"


def fake_apt(folder: Path, script: str) -> dict[str, str]:
    folder.mkdir()
    for name in ("apt-get", "dpkg-query"):
        (folder / name).write_text(f"#!/bin/sh\n{script}\n")
        (folder / name).chmod(0o755)
    return {"PATH": f"{folder}:{os.environ['PATH']}"}


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("echo 'E: Unable to locate package tmux' >&2; exit 100", "Unable to locate package tmux"),
        ("exit 1", "failed"),
        ("echo 'base required'; echo something else", "apt does not say"),
        ("exit 0", "apt does not say"),
    ],
)
def test_what_apt_cannot_is_told_in_its_words(
    plan: Plan, tmp_path: Path, monkeypatch, script: str, reason: str
):
    env = fake_apt(tmp_path / "bin", script)
    monkeypatch.setenv("PATH", env["PATH"])
    with pytest.raises(NotHad, match=reason):
        collect_debs(plan, tmp_path / "out", env)


HAS_LISTS = is_same_release(read_plan()) and any(Path("/var/lib/apt/lists").glob("*_Packages*"))


@pytest.mark.skipif(not HAS_LISTS, reason="this is no Debian 12 with apt's lists")
def test_apt_resolves_what_the_machine_lacks():
    names = {p.name: p for p in resolve(read_plan(), {**os.environ, "LC_ALL": "C"})}
    assert {
        "nano",
        "tmux",
        "python3-venv",
        "python3.11-venv",
        "python3",
        "libevent-core-2.1-7",
    } <= set(names)
    assert not {"libc6", "dpkg", "coreutils", "bash"} & set(names)
    assert names["bash-completion"].version.startswith("1:")
