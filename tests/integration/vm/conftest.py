"""One machine for all tests of the vm target, provisioned once; each test says in what state."""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import Surroundings
from tests.integration.cli import Lab
from tests.integration.vm.site import Provision, Site, processes_of
from tests.machines.booting import boot, halt
from tests.machines.bundling import make_bundle
from tests.machines.needs import missing
from tests.machines.places import cache
from tests.machines.record import Record
from tests.telling import STAGES

NAME, SUBNET = "labtest", 100


@pytest.fixture(scope="package")
def machine() -> Iterator[Record]:
    """A fresh machine that answers on SSH. Skips, and is counted, where none can be had."""
    if reasons := missing():
        pytest.skip("a machine for the vm target needs " + ", ".join(reasons))
    cache().mkdir(parents=True, exist_ok=True)
    with (cache() / ".machine.lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            pytest.fail(f"the machine {NAME} is in use by another run of the tests")
        halt(NAME)
        with STAGES.measure("boot"):
            record = boot(NAME, SUBNET)
        yield record
        with STAGES.measure("power off"):
            left = halt(NAME)
        assert left == (), "left behind"


@pytest.fixture(scope="package")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All that the machine is provisioned from."""
    if reasons := missing():
        pytest.skip("a machine for the vm target needs " + ", ".join(reasons))
    with STAGES.measure("bundle"):
        return make_bundle(tmp_path_factory.mktemp("bundle") / "bundle").folder


@pytest.fixture(scope="package")
def site(
    bundle: Path,
    machine: Record,
    surroundings: Surroundings,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Site]:
    """The machine, and one who has it for the lab; nothing is provisioned yet."""
    home = tmp_path_factory.mktemp("vm")
    variables = {
        **surroundings(home),
        "TARGET": "vm",
        "VM": "ssh",
        "HOST": f"root@{machine.address}",
        "KEY": str(machine.identity),
        "BUNDLE": str(bundle),
        "GPUS": "device-plugin",
    }
    site = Site(machine, bundle, Lab(variables), STAGES)
    try:
        yield site
    finally:
        site.lab.run("down")
    assert processes_of(home) == [], "left behind"


@pytest.fixture(scope="package")
def pristine(site: Site) -> frozenset[str]:
    """What is on the machine before anything is put there."""
    return site.snapshot()


@pytest.fixture(scope="package")
def first(site: Site, pristine: frozenset[str]) -> Provision:
    """The first provision of the machine."""
    assert pristine
    return site.provision("provision, first")


@pytest.fixture
def provisioned(site: Site, first: Provision) -> Site:
    """The provisioned machine, in whatever state the test before left it."""
    assert first.changed
    return site


@pytest.fixture
def solved(site: Site, first: Provision) -> Site:
    """The machine with all steps solved, for tests that leave it so."""
    assert first.changed
    if {site.lab.check("all")["verdict"], site.check_inside("all")["verdict"]} != {"PASS"}:
        site.lab.done("reset", "--yes", within=300)
        site.solve_all()
    return site
