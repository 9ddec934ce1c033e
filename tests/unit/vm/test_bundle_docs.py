"""What README and docs/vm.md say of versions and keys is what the data say."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from provision.vm.bundle.checking import Kind
from provision.vm.bundle.index import KNOWN
from provision.vm.collecting.plan import cloud_image, read_plan

ROOT = Path(__file__).parents[3]
README = (ROOT / "README.md").read_text("utf-8")
PAGE = (ROOT / "docs" / "vm.md").read_text("utf-8")


@pytest.mark.parametrize(
    ("label", "name", "kind"),
    [
        ("k3s", "k3s", Kind.BINARY),
        ("Kueue", "kueue", Kind.MANIFEST),
        ("JobSet", "jobset", Kind.MANIFEST),
        ("Kubeflow Trainer", "trainer", Kind.MANIFEST),
        ("fake-gpu-operator", "fake-gpu-operator", Kind.CHART),
    ],
)
def test_versions_of_the_readme_are_those_of_the_plan(label: str, name: str, kind: Kind):
    version = read_plan().one(name, kind).version
    assert f"| {label} | {version} |" in README.split("## The vm target")[1]


def test_what_the_readme_calls_pinned_is_pinned_and_the_rest_is_not():
    pinned = {w.name for w in read_plan().artefacts if w.checksum}
    assert pinned == {"k3s", "k3s-images", "busybox", "trainer", cloud_image().name}


def test_the_page_names_every_kind_and_every_key_of_an_artefact():
    example = PAGE.split("```yaml")[1].split("```")[0]
    assert set(KNOWN) <= set(re.findall(r"(\w+):", example))
    for kind in Kind:
        assert str(kind) in example, kind


def test_the_page_names_the_packages():
    for name in read_plan().debs:
        assert f"`{name}`" in PAGE, name
