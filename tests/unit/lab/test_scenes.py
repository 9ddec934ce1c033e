"""Scenes as data: found by their step, filled with facts and a word that is the place's own."""

import dataclasses
import json
from pathlib import Path

import pytest

from lab.catalog import load_lab
from lab.fields import CatalogError
from lab.places import Place, Places
from lab.scenes import MANAGER, Laid, NotLaid, has_scene, lay_scene, scene_text
from provision.drawing import drawn_word
from provision.state import ensure_life

SCENE = """\
kind: ConfigMap
metadata: {name: "{{ namespace }}-{{ step }}", labels: {word: {{ drawn.word }}}}
"""


@pytest.fixture
def place(tmp_path) -> Place:
    lab = dataclasses.replace(load_lab("kueue_quota"), folder=tmp_path / "content")
    made = Places({"LAB_HOME": str(tmp_path / "home"), "LAB_CACHE": "/c"}, is_root=False).open()
    ensure_life(made.home)
    return dataclasses.replace(made, lab=lab)


def write(place: Place, step: int, name: str, text: str) -> Path:
    folder = place.lab.folder / "scenes" / f"step_{step}"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text, encoding="utf-8")
    return folder / name


def test_a_step_without_a_scene_needs_no_cluster(place):
    step = place.lab.step(1)
    assert not has_scene(place.lab, step)
    assert lay_scene(place, step) == ()


def test_a_scene_is_filled_with_facts_and_the_word_of_the_place(place):
    write(place, 3, "b.yaml", "kind: Second\n")
    write(place, 3, "a.yaml", SCENE)
    write(place, 3, "notes.txt", "not a part of it")
    assert has_scene(place.lab, place.lab.step(3))
    assert not has_scene(place.lab, place.lab.step(2))
    first, second = scene_text(place, place.lab.step(3)).split("\n---\n")
    assert "team-a-3" in first
    assert drawn_word(place.home) in first
    assert second == "kind: Second\n"


@pytest.mark.parametrize("text", ["{{ nobody }}", "{% if %}", "{{ drawn.number }}"])
def test_a_faulty_scene_is_named(place, text):
    file = write(place, 3, "a.yaml", text)
    with pytest.raises(CatalogError, match=str(file)):
        scene_text(place, place.lab.step(3))


def test_a_scene_that_is_no_text_is_named(place):
    file = write(place, 3, "a.yaml", "")
    file.write_bytes(b"\xff\xfe")
    with pytest.raises(CatalogError, match=str(file)):
        scene_text(place, place.lab.step(3))


def test_the_word_lives_as_long_as_the_cluster(tmp_path):
    words = set()
    for _ in range(40):
        ensure_life(tmp_path, is_new=True)
        word = drawn_word(tmp_path)
        assert word == drawn_word(tmp_path)
        first, second = word.split("-")
        assert first.isalpha()
        assert second.isalpha()
        words.add(word)
    assert len(words) > 20


def test_a_life_that_cannot_be_read_gives_a_word_all_the_same(tmp_path):
    nothing = drawn_word(tmp_path)
    (tmp_path / "cluster.id").write_bytes(b"\xff\xfe")
    assert drawn_word(tmp_path) == nothing


def thing(name: str, *managers: str) -> dict[str, object]:
    fields = [{"manager": manager} for manager in managers]
    return {"kind": "ConfigMap", "metadata": {"name": name, "managedFields": fields}}


def with_kubectl(place: Place, monkeypatch, there: list[object]) -> Path:
    """A kubectl that finds what is `there`, applies a and b, and writes down its words."""
    write(place, 3, "a.yaml", SCENE)
    folder = place.home / "bin"
    folder.mkdir()
    found = {"kind": "List", "items": there} if len(there) > 1 else there[0] if there else ""
    (folder / "get").write_text(json.dumps(found) if found else "")
    (folder / "apply").write_text("\n".join(json.dumps(thing(name)) for name in "ab"))
    words = folder / "words"
    kubectl = folder / "kubectl"
    kubectl.write_text(f'#!/bin/sh\ncat >/dev/null\necho "$1" >>{words}\ncat {folder}/$1\n')
    kubectl.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    monkeypatch.setattr("lab.scenes.environment", lambda _place, base: dict(base))
    return words


def test_it_tells_what_is_new_and_what_was_there(place, monkeypatch):
    with_kubectl(place, monkeypatch, [])
    step = place.lab.step(3)
    assert lay_scene(place, step) == (Laid("ConfigMap a", True), Laid("ConfigMap b", True))


def test_what_a_scene_laid_before_is_laid_again(place, monkeypatch):
    with_kubectl(place, monkeypatch, [thing("a", MANAGER, "kubectl-edit"), thing("b", MANAGER)])
    laid = lay_scene(place, place.lab.step(3))
    assert laid == (Laid("ConfigMap a", False), Laid("ConfigMap b", False))


def test_what_is_somebody_elses_is_not_taken_over(place, monkeypatch):
    words = with_kubectl(place, monkeypatch, [thing("a", "a-controller")])
    with pytest.raises(NotLaid, match=r"ConfigMap a is there .* \(made by a-controller\)"):
        lay_scene(place, place.lab.step(3))
    assert words.read_text() == "get\n"
