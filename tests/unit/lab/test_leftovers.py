"""Where nothing was provisioned commands write nothing, and leftovers go without ado."""

import os

import pytest

from lab.cli import run
from lab.places import Places
from lab.starters import lay_starters
from lab.workspace import entries
from provision.state import claim_home


@pytest.fixture
def lab(tmp_path, capsys):
    environment = {
        "PATH": os.environ["PATH"],
        "LAB_HOME": str(tmp_path / "home"),
        "LAB_CACHE": str(tmp_path / "cache"),
        "LAB_LANG": "en",
    }

    def call(*arguments) -> tuple[int, str]:
        code = run(list(arguments), environment)
        said = capsys.readouterr()
        return code, said.out + said.err

    return call


@pytest.mark.parametrize(
    "command",
    [
        *(("check", "1"), ("shell",), ("step", "1"), ("hint", "1"), ("destroy", "--yes")),
        *(("status",), ("down",), ("open",), ("reset", "--yes"), ("history",), ("solve", "1")),
    ],
)
def test_nothing_is_written_where_there_is_no_place(lab, tmp_path, command):
    lab(*command)
    assert not (tmp_path / "home").exists()


def leave(tmp_path):
    """What earlier versions left."""
    home = tmp_path / "home" / "kueue_quota"
    (home / "verdicts").mkdir(parents=True)
    (home / "verdicts" / "step_1.json").write_text("{}")
    (home / "gsb-kueue").mkdir()
    place = Places({"LAB_HOME": str(tmp_path / "home"), "LAB_CACHE": "/c"}, is_root=False).open()
    lay_starters(place, {})
    assert not entries(place)
    return home


def test_only_leftovers_of_ours_go_without_a_contradiction(lab, tmp_path):
    home = leave(tmp_path)
    code, said = lab("destroy", "--yes")
    assert (code, "Removed." in said) == (0, True), said
    assert not home.exists()


@pytest.mark.parametrize("name", ["thesis.tex", "gsb-kueue/flavor.yaml", "progress.jsonl"])
def test_what_is_not_ours_stays_and_nothing_is_laid_beside_it(lab, tmp_path, name):
    home = leave(tmp_path)
    (home / name).write_text("mine")
    before = sorted(home.rglob("*"))
    lab("destroy", "--yes")
    assert sorted(home.rglob("*")) == before


def test_a_place_that_was_claimed_is_no_leftover(lab, tmp_path):
    home = leave(tmp_path)
    claim_home(home, "kueue_quota")
    assert "remove what earlier commands left" not in lab("destroy")[1]
