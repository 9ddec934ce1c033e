"""What the role prereq sees of a machine, and what it says about one that is not fit."""

import json
import os
import subprocess

import pytest
import yaml

from tests.unit.vm.roles import ANSIBLE, play

EXAMINE = ANSIBLE / "roles" / "prereq" / "files" / "examine.sh"
FIT = {
    "id": "debian",
    "version": "12",
    "arch": "x86_64",
    "systemd": "yes",
    "python3": "yes",
    "apt": "yes",
    "cloud_init": "no",
    "memory_mib": 3900,
    "disk_free_mib": 9000,
    "cgroup_memory": "yes",
    "overlay": "yes",
    "default_route": "yes",
    "api_port_taken": "no",
    "kubelet_port_taken": "no",
    "k3s_there": "no",
    "marked": "no",
    "unit_is_ours": "yes",
}
OURS = {"k3s_there": "yes", "marked": "yes", "api_port_taken": "yes", "kubelet_port_taken": "yes"}
# What is other than on a fit machine, and what is said about it; nothing said: it is fit.
CASES = {
    "fit": ({}, []),
    "debian 13": ({"version": "13"}, []),
    "ubuntu": ({"id": "ubuntu", "version": "24.04"}, []),
    "ours": (OURS, []),
    "ours, little disk left": ({**OURS, "disk_free_mib": 900}, []),
    "ours, disk full": ({**OURS, "disk_free_mib": 90}, ["Below /var/lib 90 MiB are free"]),
    "a k3s of others": ({"k3s_there": "yes"}, ["a k3s on the machine already"]),
    "others' after ours": ({**OURS, "unit_is_ours": "no"}, ["a k3s on the machine already"]),
    "old": ({"version": "11"}, ["The system is debian 11"]),
    "other": ({"id": "fedora", "version": "42"}, ["The system is fedora 42"]),
    "no systemd": ({"systemd": "no"}, ["not started by systemd"]),
    "no python": ({"python3": "no"}, ["no python3"]),
    "small": ({"memory_mib": 900}, ["has 900 MiB of memory"]),
    "no cgroup": ({"cgroup_memory": "no"}, ["memory cgroup is off"]),
    "no overlay": ({"overlay": "no"}, ["no overlay"]),
    "no route": ({"default_route": "no"}, ["no default route"]),
    "ports": ({"api_port_taken": "yes"}, ["Port 6443 is taken"]),
    "many": ({"memory_mib": 1, "disk_free_mib": 1}, ["1 MiB of memory", "1 MiB are free"]),
}


@pytest.fixture(scope="module")
def said(tmp_path_factory):
    """What is wrong with each case's machine, by the case's name."""
    folder = tmp_path_factory.mktemp("prereq")
    cases = [{"name": "clock off", "machine": {**FIT, "epoch": 1000}}]
    cases += [{"name": name, "machine": {**FIT, **other}} for name, (other, _) in CASES.items()]
    # The clock is asked for at the time of the judgement, so that each case's is right by then.
    machine = "{{ {'epoch': now(utc=true).timestamp() | int} | combine(item.machine) | to_json }}"
    judge = {
        "ansible.builtin.set_fact": {
            "said": "{{ said | default({}) | combine({item.name: prereq_faults}) }}"
        },
        "vars": {"prereq_examined": {"stdout": machine}},
        "loop": "{{ cases }}",
    }
    out = folder / "said.json"
    keep = {"content": "{{ said | to_json }}", "dest": str(out), "mode": "0600"}
    play(folder, "prereq", {"cases": cases}, [judge, {"ansible.builtin.copy": keep}])
    return json.loads(out.read_text())


@pytest.mark.parametrize("name", CASES)
def test_all_faults_of_a_machine_are_named_with_a_next_move(said, name):
    wanted = CASES[name][1]
    assert len(said[name]) == len(wanted), said[name]
    for text, part in zip(said[name], wanted, strict=True):
        assert part in text
        assert " Next: " in text


def test_a_clock_that_is_off_is_named(said):
    assert len(said["clock off"]) == 1
    assert "clock is" in said["clock off"][0]


@pytest.fixture
def root(tmp_path):
    """A machine's files, as far as examine.sh looks at them."""
    files = {
        "etc/os-release": 'ID=ubuntu\nVERSION_ID="24.04"\n',
        "proc/meminfo": "MemTotal:        4014080 kB\n",
        "proc/filesystems": "nodev\tproc\n",
        "proc/cgroups": "#subsys\thierarchy\tnum\tenabled\nmemory\t9\t3\t0\n",
        "proc/net/route": "Iface\tDestination\tGateway\n",
        "proc/net/tcp": "  sl local rem st\n   0: 0100007F:192B 00000000:0000 0A 0\n",
        "proc/net/tcp6": "  sl local rem st\n   0: 0000:280A 00000000:0000 01 0\n",
        "var/lib/x": "",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def examined(root):
    done = subprocess.run(
        ["sh", EXAMINE],
        env={"PATH": os.environ["PATH"], "EXAMINE_ROOT": str(root)},
        capture_output=True,
        text=True,
        timeout=30,
        check=True,
    )
    assert done.stderr == ""
    return yaml.safe_load(done.stdout)


def test_a_machine_is_seen_as_it_is(root):
    seen = examined(root)
    assert (seen["id"], seen["version"], seen["memory_mib"]) == ("ubuntu", "24.04", 3920)
    assert {k for k, v in seen.items() if v == "yes"} >= {"api_port_taken", "unit_is_ours"}
    no = {"systemd", "cgroup_memory", "overlay", "default_route", "kubelet_port_taken", "marked"}
    assert {k for k, v in seen.items() if v == "no"} >= {*no, "k3s_there"}


def test_a_k3s_is_found_wherever_its_script_puts_it(root):
    (root / "var/lib/rancher/k3s/agent").mkdir(parents=True)
    assert examined(root)["k3s_there"] == "yes"
    unit = root / "etc/systemd/system/k3s.service"
    unit.parent.mkdir(parents=True)
    unit.write_text("[Unit]\n")
    mark = root / "etc/gpu-queue-lab/machine"
    mark.parent.mkdir()
    mark.touch()
    seen = examined(root)
    assert (seen["marked"], seen["unit_is_ours"]) == ("yes", "no")
    unit.write_text("# Put there by gpu-queue-lab\n[Unit]\n")
    assert examined(root)["unit_is_ours"] == "yes"


def test_cgroups_of_both_versions_are_seen(root):
    (root / "proc/cgroups").write_text("#\nmemory\t9\t3\t1\n")
    assert examined(root)["cgroup_memory"] == "yes"
    unified = root / "sys/fs/cgroup/cgroup.controllers"
    unified.parent.mkdir(parents=True)
    unified.write_text("cpuset cpu io\n")
    assert examined(root)["cgroup_memory"] == "no"
    unified.write_text("cpuset cpu io memory\n")
    assert examined(root)["cgroup_memory"] == "yes"


@pytest.mark.parametrize(
    ("installed", "missing", "copied"),
    [
        ([], ["make", "tmux", "venv"], ["make_4.3_amd64", "tmux_1%3a3.3a+b_amd64", "venv_2_all"]),
        (
            ["make installed 4.3", "tmux not-installed "],
            ["tmux", "venv"],
            ["tmux_1%3a3.3a+b_amd64", "venv_2_all"],
        ),
        (
            ["make installed 4.2", "tmux installed 1:3.3a+b"],
            ["venv"],
            ["make_4.3_amd64", "venv_2_all"],
        ),
        (["make installed 4.3", "tmux installed 1:3", "venv installed 2"], [], None),
    ],
)
def test_package_files_are_copied_where_the_machine_has_another(
    installed, missing, copied, tmp_path
):
    names = ["make_4.3_amd64", "tmux_1%3a3.3a+b_amd64", "venv_2_all"]
    given = {
        "prereq_debs": [f"/bundle/debs/{name}.deb" for name in names],
        "prereq_installed": {"stdout_lines": installed},
    }
    out = tmp_path / "out.json"
    content = "{{ [prereq_missing, prereq_other_debs] | to_json }}"
    keep = {"content": content, "dest": str(out), "mode": "0600"}
    play(tmp_path, "prereq", given, [{"ansible.builtin.copy": keep}])
    seen = json.loads(out.read_text())
    assert sorted(seen[0]) == missing
    if copied is not None:
        assert seen[1] == [f"/bundle/debs/{name}.deb" for name in copied]


NO_ROOM = [
    "dpkg: error processing archive /x/pip.deb (--unpack):",
    " cannot copy extracted data for './usr/x': failed to write (No space left on device)",
    "dpkg-deb: error: paste subprocess was killed by signal (Broken pipe)",
    "E: Sub-process /usr/bin/dpkg returned an error code (1)",
]


def test_what_apt_said_last_is_the_reason_and_not_that_something_ended(tmp_path):
    said = {
        "no room": NO_ROOM,
        "other": ["Reading ...", "E: Unmet dependencies.", NO_ROOM[-1]],
        "odd": ["Segmentation fault"],
        "none": [],
    }
    out = tmp_path / "out.json"
    judge = {
        "ansible.builtin.set_fact": {
            "told": "{{ told | default({}) | combine({item.key: prereq_last_said}) }}"
        },
        "vars": {"prereq_put": {"stdout_lines": [], "stderr_lines": "{{ item.value }}"}},
        "loop": "{{ said | dict2items }}",
    }
    keep = {"content": "{{ told | to_json }}", "dest": str(out), "mode": "0600"}
    given = {"said": said, "prereq_debs": ["/bundle/make_4_amd64.deb"]}
    play(tmp_path, "prereq", given, [judge, {"ansible.builtin.copy": keep}])
    assert json.loads(out.read_text()) == {
        "no room": NO_ROOM[1].strip(),
        "other": "E: Unmet dependencies.",
        "odd": "Segmentation fault",
        "none": "nothing",
    }


@pytest.mark.parametrize(
    ("audit", "dpkg_ends", "expected"),
    [
        ("", 0, ["apt-get --simulate", "apt-get"]),
        ("half", 0, ["dpkg --install"]),
        ("half", 1, ["dpkg --install", "apt-get --simulate", "apt-get"]),
    ],
)
def test_what_was_cut_short_is_made_whole_by_dpkg_itself(tmp_path, audit, dpkg_ends, expected):
    calls, folder, programs = (tmp_path / name for name in ("calls", "debs", "bin"))
    folder.mkdir()
    programs.mkdir()
    fakes = {
        "tar": f"touch {folder}/make.deb",
        "dpkg-deb": "echo x",
        "dpkg-query": "exit 1",
        "dpkg": f'case "$1" in --audit) echo "{audit}";; '
        f'--install) echo "dpkg --install" >>{calls}; exit {dpkg_ends};; esac',
        "apt-get": f'case "$*" in *--simulate*) echo "apt-get --simulate";; *) echo apt-get;; esac '
        f">>{calls}",
    }
    for name, text in fakes.items():
        (programs / name).write_text(f"#!/bin/sh\n{text}\n")
        (programs / name).chmod(0o755)
    script = ANSIBLE / "roles" / "prereq" / "files" / "install-debs.sh"
    environ = {"PATH": f"{programs}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(["sh", script, folder], env=environ, timeout=20, check=False)
    assert done.returncode == 0
    assert calls.read_text().splitlines() == expected
    assert not folder.exists()
