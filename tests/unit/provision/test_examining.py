"""Examining a place: each thing that can be off is told by what it is, with the next move."""

from __future__ import annotations

import datetime as dt
import os
import socket
import time
from dataclasses import replace
from email.utils import formatdate
from pathlib import Path

import pytest
import yaml

from provision.health import Diagnosis, Health
from provision.local.answering import (
    Answer,
    _judge_clock,
    _judge_training,
    _judge_version,
    _judge_webhooks,
)
from provision.local.certificates import ensure_certificates
from provision.local.components import load_inventory
from provision.local.examining import examine, examine_components, examine_ports
from provision.local.keeping import examine_certificates, examine_disk, examine_programs
from provision.local.kubeconfig import kubeconfig
from provision.local.place import TOOLS, Place
from provision.message import say
from provision.settings import Settings
from provision.state import PlaceState
from provision.target import ComponentStatus, PlaceSpec

PORT = 23456
STATE = PlaceState(
    id="p",
    lab="kueue_quota",
    created="",
    ports={"apiserver": PORT},
    versions={"kube-apiserver": "v1.36.3", "kueue": "v0.19.2"},
    is_prepared=True,
)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    home = tmp_path / "kueue_quota"
    spec = PlaceSpec("kueue_quota", home, home / "gsb-kueue", ("team-a",), ())
    return Place(spec, load_inventory())


@pytest.fixture(scope="module")
def pki(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pki")
    ensure_certificates(folder, now=dt.datetime.now(dt.UTC))
    return folder


def found(diagnoses) -> dict[str, Diagnosis]:
    return {d.name: d for d in diagnoses}


def test_a_place_that_never_was(place: Place, tmp_path: Path):
    told = found(examine(place, Settings(cache=tmp_path / "cache"), None, (), (), ()))
    assert told["disk"].health is Health.GOOD
    assert told["place"].health is Health.BAD
    assert "make provision" in str(told["place"].next_move)
    assert not place.spec.home.exists()


def test_too_little_room(place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("provision.local.keeping.ROOM_BYTES", 1 << 60)
    (told,) = examine_disk(place, Settings(cache=tmp_path / "cache"))
    assert told.health is Health.BAD
    assert str(tmp_path) in str(told.what)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_cannot_be_written(place: Place, tmp_path: Path):
    place.spec.home.mkdir(mode=0o500)
    (told,) = examine_disk(place, Settings(cache=tmp_path / "cache"))
    assert told.health is Health.BAD


def test_programs_that_were_pruned(place: Place, tmp_path: Path):
    place.make_folders()
    program = tmp_path / "program"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    for link in (place.folders.parts / "etcd", *(place.tools / name for name in TOOLS)):
        link.symlink_to(program)
    (told,) = examine_programs(place)
    assert told.health is Health.GOOD
    (place.folders.parts / "kueue").symlink_to(tmp_path / "gone")
    (told,) = examine_programs(place)
    assert told.health is Health.BAD
    assert "kueue" in str(told.what)


def write_kubeconfigs(place: Place, pki: Path, port: int = PORT) -> None:
    place.make_folders()
    if not place.folders.pki.exists():
        place.folders.pki.symlink_to(pki)
    for path, identity in ((place.kubeconfig, "learner"), (place.grader_kubeconfig, "grader")):
        path.write_text(kubeconfig(f"https://127.0.0.1:{port}", pki, identity, user=identity))


def test_certificates_and_kubeconfigs_that_hold(place: Place, pki: Path):
    write_kubeconfigs(place, pki)
    told = found(examine_certificates(place, STATE))
    assert {d.health for d in told.values()} == {Health.GOOD}
    assert set(told) == {"certificates", "kubeconfig.learner", "kubeconfig.grader"}
    assert "days" in str(told["certificates"].what)


@pytest.mark.parametrize(
    ("years", "health", "word"),
    [(-20, Health.BAD, "ended"), (2, Health.BAD, "clock"), (-1.7, Health.NOTE, "first to end")],
)
def test_certificates_of_another_time(place: Place, tmp_path: Path, years, health, word):
    now = dt.datetime.now(dt.UTC) + dt.timedelta(days=365 * years)
    ensure_certificates(tmp_path / "pki", now=now)
    write_kubeconfigs(place, tmp_path / "pki")
    told = found(examine_certificates(place, STATE))["certificates"]
    assert told.health is health
    assert word in str(told.what)
    assert told.next_move is not None


def test_a_certificate_that_is_gone(place: Place, tmp_path: Path):
    ensure_certificates(tmp_path / "pki", now=dt.datetime.now(dt.UTC))
    write_kubeconfigs(place, tmp_path / "pki")
    (tmp_path / "pki" / "kwok.crt").write_text("spoiled")
    told = found(examine_certificates(place, STATE))["certificates"]
    assert told.health is Health.BAD
    assert "kwok" in str(told.what)


def test_kubeconfigs_that_are_off(place: Place, pki: Path):
    write_kubeconfigs(place, pki, port=1)
    told = found(examine_certificates(place, STATE))["kubeconfig.learner"]
    assert "127.0.0.1:1," in str(told.what)
    for text in ("", "[", "a: 1", "\x00", yaml.safe_dump({"clusters": [], "users": []})):
        place.kubeconfig.write_text(text)
        told = found(examine_certificates(place, STATE))["kubeconfig.learner"]
        assert told.health is Health.BAD, text
        assert str(place.kubeconfig) in str(told.what)
    place.kubeconfig.unlink()
    assert "no such file" in str(
        found(examine_certificates(place, STATE))["kubeconfig.learner"].what
    )


def test_a_port_that_somebody_else_has():
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        port = server.getsockname()[1]
        (told,) = examine_ports({"kueue": port}, set())
        assert told.health is Health.NOTE
        assert str(port) in str(told.what)
        assert str(os.getpid()) in str(told.what)
        (told,) = examine_ports({"kueue": port}, {os.getpid()})
        assert told.health is Health.GOOD
    (told,) = examine_ports({"kueue": port}, set())
    assert told.health is Health.GOOD


def status(name: str, *, running: bool = True, ready: bool = True, needed: bool = True):
    detail = None if ready else say("it is not ready: {reason}", reason="HTTP 500")
    return ComponentStatus(
        name, running, ready, detail, 1 if running else None, "v1", Path("/log"), is_needed=needed
    )


def test_components():
    told = found(
        examine_components(
            STATE,
            (
                status("etcd"),
                status("kueue", ready=False),
                status("kwok", running=False, ready=False),
                status("recorder", running=False, ready=False, needed=False),
                replace(status("page", running=False, needed=False), is_on_demand=True),
            ),
        )
    )
    assert {name: d.health for name, d in told.items()} == {
        "component.etcd": Health.GOOD,
        "component.kueue": Health.BAD,
        "component.kwok": Health.BAD,
        "component.recorder": Health.NOTE,
        "component.page": Health.GOOD,
    }
    assert "HTTP 500" in str(told["component.kueue"].what)
    assert "make logs NAME=kwok" in str(told["component.kwok"].next_move)
    (down,) = examine_components(STATE, (status("etcd", running=False, ready=False),))
    assert down.health is Health.BAD


def test_while_the_api_server_is_not_ready_the_cluster_is_not_asked(place: Place, tmp_path: Path):
    place.make_folders()
    told = found(
        examine(
            place,
            Settings(cache=tmp_path),
            STATE,
            (),
            (status("kube-apiserver", ready=False),),
            (),
        )
    )
    for name in ("versions", "clock", "webhooks"):
        assert told[name].health is Health.SKIPPED
        assert "kube-apiserver" in str(told[name].what)


def answer(code: int = 200, *, date: str = "", **body) -> Answer:
    return Answer(code, body, date, 0.1)


TAKEN = answer(201, spec={"suspend": True})
REFUSED = answer(403, message="denied")


@pytest.mark.parametrize(
    ("taken", "refused", "word"),
    [
        (TAKEN, REFUSED, ""),
        (answer(500, message="failed calling webhook: refused"), REFUSED, "failed calling"),
        (answer(201, spec={"suspend": False}), REFUSED, "did not see it"),
        (answer(201, spec={}), REFUSED, "did not see it"),
        (TAKEN, TAKEN, "impossible queue"),
        (Answer(0, {}, "", 2.0, say("no answer")), REFUSED, "no answer"),
    ],
)
def test_webhooks(taken: Answer, refused: Answer, word: str):
    told = _judge_webhooks(taken, refused)
    assert told.health is (Health.BAD if word else Health.GOOD)
    assert word in str(told.what)


@pytest.mark.parametrize(
    ("taken", "word"),
    [
        (TAKEN, ""),
        (REFUSED, "was not taken"),
        (answer(201, spec={}), "Kueue's webhook did not see it"),
        (Answer(0, {}, "", 2.0, say("no answer")), "no answer"),
    ],
)
def test_webhooks_of_trainings(taken: Answer, word: str):
    told = _judge_training(taken)
    assert told.name == "webhooks.trainer"
    assert told.health is (Health.BAD if word else Health.GOOD)
    assert word in str(told.what)


@pytest.mark.parametrize(("off", "health"), [(0, Health.GOOD), (-3600, Health.BAD), (60, "bad")])
def test_clock(off: int, health: Health):
    told = _judge_clock(answer(date=formatdate(time.time() + off, usegmt=True)))
    assert told.health == health


def test_an_answer_without_a_time():
    assert _judge_clock(answer()).health is Health.BAD


def test_versions(place: Place):
    told = found(_judge_version(place, STATE, answer(gitVersion="v1.36.3")))
    assert told["versions"].health is Health.GOOD
    assert told["versions.kueue"].health is Health.NOTE
    told = found(_judge_version(place, STATE, answer(gitVersion="v1.30.0")))
    assert told["versions"].health is Health.BAD
    assert "v1.30.0" in str(told["versions"].what)
    told = found(_judge_version(place, STATE, answer(503, message="not today")))
    assert "not today" in str(told["versions"].what)
