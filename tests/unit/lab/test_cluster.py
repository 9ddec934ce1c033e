"""What lies in a lab's cluster from the start: data of the lab, with its facts put in."""

from dataclasses import replace
from pathlib import Path

import pytest

from lab.catalog import lab_slugs, load_lab
from lab.cluster import cluster_objects
from lab.fields import CatalogError
from lab.model import Lab, RecordedKind
from lab.places import Places


def lab_in(folder: Path, **files: str) -> Lab:
    """A lab without a place, with these files in its `cluster`."""
    (folder / "cluster").mkdir()
    for name, text in files.items():
        (folder / "cluster" / f"{name}.yaml").write_text(text, encoding="utf-8")
    return replace(load_lab("kueue_quota"), folder=folder, facts={"name": "a-name"})


@pytest.mark.parametrize("slug", lab_slugs())
def test_every_lab_lays_out_objects(slug):
    for document in cluster_objects(load_lab(slug)):
        assert document["metadata"]["name"]


def test_facts_are_put_in_and_empty_documents_left_out(tmp_path):
    text = "---\n---\napiVersion: v1\nkind: A\nmetadata: {name: '{{ name }}'}\n"
    lab = lab_in(tmp_path, b=text, a=text.replace("kind: A", "kind: First"))
    assert [d["kind"] for d in cluster_objects(lab)] == ["First", "A"]
    assert cluster_objects(lab)[1]["metadata"] == {"name": "a-name"}


def test_a_lab_without_a_cluster_folder_has_nothing(tmp_path):
    assert cluster_objects(replace(load_lab("kueue_quota"), folder=tmp_path)) == ()


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("kind: {{ nobody }}", "nobody"),
        ("kind: [", "cannot be read"),
        ("- a list", "no object of Kubernetes"),
        ("kind: A", "no object of Kubernetes"),
        ("apiVersion: v1\nkind: A\nmetadata: name", "no object of Kubernetes"),
    ],
)
def test_a_file_that_is_wrong_is_named(tmp_path, text, word):
    with pytest.raises(CatalogError, match=word) as caught:
        cluster_objects(lab_in(tmp_path, bad=text))
    assert "bad.yaml" in str(caught.value)


def test_a_target_is_told_all_that_lab_yaml_says_of_it(tmp_path, monkeypatch):
    kind = RecordedKind("TrainJob", "trainjobs", "trainer.kubeflow.org/v1alpha1")
    document = "apiVersion: v1\nkind: A\nmetadata: {name: '{{ name }}'}\n"
    lab = replace(
        lab_in(tmp_path, a=document),
        kueue_settings={"a": 1},
        frameworks=("pod",),
        recorded=(kind,),
        parts=("jobset",),
    )
    asked = []
    monkeypatch.setattr("lab.places.load_lab", lambda slug: lab)
    monkeypatch.setattr("lab.places.open_target", lambda kind, spec, settings: asked.append(spec))
    Places({"LAB_HOME": str(tmp_path), "LAB_CACHE": "/cache"}, is_root=False).open()
    [spec] = asked
    assert (spec.kueue, spec.frameworks, spec.parts) == ({"a": 1}, ("pod",), ("jobset",))
    assert [d["kind"] for d in spec.objects] == ["A"]
    [recorder] = [c for c in spec.companions if c.name == "recorder"]
    assert recorder.args[-1] == "--record=TrainJob/trainjobs/trainer.kubeflow.org/v1alpha1"


def test_the_first_lab_asks_for_nothing_of_all_this():
    lab = load_lab("kueue_quota")
    assert (lab.parts, lab.kueue_settings, lab.frameworks, lab.recorded) == ((), {}, (), ())
    assert cluster_objects(lab) == ()
