"""xterm.js is fetched once, by the lock file; and what is said when it cannot be."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from lab.web import assets
from provision.errors import LabError
from provision.local.bundle import write_bundle
from provision.local.cache import PartCache
from provision.target import Progress

# Stands in for npm: makes the files that the real one unpacks, and notes how it was called.
NPM = """#!/bin/sh
if [ "$1" = --version ]; then echo "{version}"; exit 0; fi
echo "$@" >> "{log}"
{more}
for file in {files}; do
  mkdir -p "node_modules/@xterm/$(dirname $file)"; echo "$file" > "node_modules/@xterm/$file"
done
"""


class Machine:
    """A PATH with a fake npm, and a cache."""

    def __init__(self, folder: Path) -> None:
        self.cache, self.log, self.bin = folder / "cache", folder / "log", folder / "bin"
        self.bin.mkdir()
        self.told: list[Progress] = []

    def install(self, *, version: str = "10.1.0", more: str = "") -> None:
        files = " ".join(path.removeprefix("@xterm/") for path in assets.FILES.values())
        text = NPM.format(version=version, log=self.log, more=more, files=files)
        for name, content in (("npm", text), ("node", "#!/bin/sh\n")):
            (self.bin / name).write_text(content)
            (self.bin / name).chmod(0o755)

    @property
    def env(self) -> Mapping[str, str]:
        return {"PATH": f"{self.bin}:/usr/bin:/bin", "PIP_INDEX_URL": "http://127.0.0.1:9/none"}

    def fetch(self) -> Path:
        return assets.fetch(self.cache, self.env, self.told.append)

    def calls(self) -> list[str]:
        return self.log.read_text().splitlines() if self.log.exists() else []


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_they_are_fetched_once_and_without_scripts(machine: Machine) -> None:
    machine.install()
    folder = machine.fetch()
    assert {file.name for file in folder.iterdir()} == set(assets.FILES)
    assert assets.are_there(machine.cache)
    assert machine.fetch() == folder
    [call] = machine.calls()
    assert call.startswith("ci ")
    assert "--ignore-scripts" in call
    assert [file.name for file in (machine.cache / "page").iterdir()] == [folder.name]


def test_a_file_that_went_missing_is_fetched_again(machine: Machine) -> None:
    machine.install()
    (machine.fetch() / "xterm.mjs").unlink()
    assert (machine.fetch() / "xterm.mjs").is_file()


def test_npm_that_fails_leaves_nothing_and_says_why(machine: Machine) -> None:
    machine.install(more="echo 'npm error code EINTEGRITY' >&2; exit 1")
    with pytest.raises(LabError, match="could not be fetched: code EINTEGRITY") as caught:
        machine.fetch()
    assert "all else works without the page" in str(caught.value.next_move)
    assert list((machine.cache / "page").iterdir()) == []


@pytest.mark.parametrize("version", ["6.14.1", "odd"])
def test_an_old_npm_is_not_asked(machine: Machine, version: str) -> None:
    machine.install(version=version)
    env = {**machine.env, "PIP_NO_INDEX": "1", "HOME": str(machine.cache)}
    with pytest.raises(LabError, match="could not be fetched"):
        assets.fetch(machine.cache, env, machine.told.append)
    assert machine.calls() == []


def test_a_cache_that_cannot_be_written_is_named(machine: Machine) -> None:
    machine.install()
    machine.cache.write_text("a file")
    with pytest.raises(LabError, match="is in the way"):
        machine.fetch()


def test_a_bundle_brings_them_without_npm(machine: Machine, tmp_path: Path) -> None:
    machine.install()
    machine.fetch()
    bundle = tmp_path / "parts.tar"
    write_bundle([], PartCache(machine.cache), bundle, machine.told.append, 0.0)
    env = {"PATH": "/usr/bin:/bin", "BUNDLE": str(bundle), "HOME": str(tmp_path)}
    folder = assets.fetch(tmp_path / "offline", env, machine.told.append)
    assert {file.name for file in folder.iterdir()} == set(assets.FILES)
    assert len(machine.calls()) == 1


def test_what_other_lock_files_left_is_pruned(machine: Machine) -> None:
    machine.install()
    folder = machine.fetch()
    (machine.cache / "page" / "old").mkdir()
    (machine.cache / "page" / "old" / "xterm.mjs").write_text("x" * 1000)
    assert assets.prune(machine.cache) == 1000
    assert list((machine.cache / "page").iterdir()) == [folder]


def test_the_lock_file_has_a_hash_for_each_package_and_names_no_host() -> None:
    lock = json.loads(assets.LOCK_FILE.read_text())
    packages = {name: fields for name, fields in lock["packages"].items() if name}
    assert all(fields["integrity"].startswith("sha512-") for fields in packages.values())
    assert not any("resolved" in fields for fields in packages.values())
    wanted = json.loads((assets.NPM / "package.json").read_text())["dependencies"]
    shipped = {n for n, fields in packages.items() if not fields.get("dev")}
    assert shipped == {f"node_modules/{name}" for name in wanted}
    assert "--hash=sha256:" in assets.NODE_LOCK.read_text()
