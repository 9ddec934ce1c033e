"""What the lab in the machine lays out: kubectl is a program of the test that remembers."""

from __future__ import annotations

import base64
import json
import stat
from pathlib import Path

import pytest

from provision.drawing import drawn_word
from provision.errors import TargetError
from provision.state import ensure_life
from provision.target import PlaceSpec
from provision.vm.inside.furnishing import controller_command, furnish
from provision.vm.kubectl import Kubectl

# What was applied lies in a file; a diff is whether all of it lies there.
PROGRAM = """\
#!/bin/sh
here=$(dirname "$0")
shift
case $1 in
  diff) cat >"$here/asked"; grep -qxFf "$here/asked" "$here/there" 2>/dev/null &&
    ! grep -vxFf "$here/there" "$here/asked" >/dev/null ;;
  apply) [ ! -e "$here/refuses" ] || { echo "no matches for kind" >&2; exit 1; }
    cat >>"$here/there"; echo >>"$here/there"; echo x >>"$here/applied" ;;
  get) cat "$here/secret" ;;
esac
"""


@pytest.fixture
def kubectl(tmp_path: Path) -> Kubectl:
    program = tmp_path / "kubectl"
    program.write_text(PROGRAM)
    program.chmod(0o755)
    token = {"token": base64.b64encode(b"word").decode(), "ca.crt": "Q0E="}
    (tmp_path / "secret").write_text(json.dumps({"data": token}))
    return Kubectl(program, tmp_path / "kubeconfig")


@pytest.fixture
def spec(tmp_path: Path) -> PlaceSpec:
    home = tmp_path / "home"
    home.mkdir()
    ensure_life(home)
    flavor = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "the-labs-own"}}
    return PlaceSpec("l", home, Path("/w"), ("team-b",), (), ("platform",), objects=(flavor,))


def there(tmp_path: Path) -> list[dict[str, object]]:
    lines = (tmp_path / "there").read_text().splitlines()
    return [json.loads(line) for line in lines if line not in ("", "---")]


def test_kinds_come_first_and_a_second_time_nothing_is_applied(kubectl, spec, tmp_path):
    assert furnish(kubectl, spec) is True
    found = there(tmp_path)
    assert found[0]["kind"] == "CustomResourceDefinition"
    assert {"Secret", "WorkloadPriorityClass", "ValidatingAdmissionPolicy"} <= {
        str(document["kind"]) for document in found
    }
    assert found[-1]["metadata"] == {"name": "the-labs-own"}
    assert drawn_word(spec.home) in (tmp_path / "there").read_text()
    applied = (tmp_path / "applied").read_text()
    assert furnish(kubectl, spec) is False
    assert (tmp_path / "applied").read_text() == applied


def test_the_controllers_kubeconfig_is_its_own_and_follows_the_token(kubectl, spec, tmp_path):
    furnish(kubectl, spec)
    *_, option, port = controller_command(spec.home)
    file = Path(option.partition("=")[2])
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert json.loads(file.read_text())["users"][0]["user"] == {"token": "word"}
    assert port == "--port=18082"
    other = {"token": base64.b64encode(b"other").decode(), "ca.crt": "Q0E="}
    (tmp_path / "secret").write_text(json.dumps({"data": other}))
    assert furnish(kubectl, spec) is True
    assert json.loads(file.read_text())["users"][0]["user"] == {"token": "other"}


def test_another_life_of_the_cluster_brings_another_word(kubectl, spec, tmp_path):
    furnish(kubectl, spec)
    before = drawn_word(spec.home)
    while drawn_word(spec.home) == before:
        ensure_life(spec.home, is_new=True)
    assert furnish(kubectl, spec) is True
    assert drawn_word(spec.home) in (tmp_path / "there").read_text()


def test_what_the_cluster_refuses_is_told(kubectl, spec, tmp_path):
    (tmp_path / "refuses").touch()
    with pytest.raises(TargetError, match="no matches for kind"):
        furnish(kubectl, spec)
