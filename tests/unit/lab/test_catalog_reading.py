"""lab.yaml is read strictly: each fault is named with its file and its field."""

from pathlib import Path

import pytest
import yaml

from lab.catalog import CONTENT, lab_slugs, load_lab, read_lab
from lab.fields import CatalogError
from lab.text import LANGUAGES
from provision.errors import UsageError

SOURCE = CONTENT / "kueue_quota" / "lab.yaml"


def written(folder: Path, change) -> Path:
    data = yaml.safe_load(SOURCE.read_text(encoding="utf-8"))
    change(data)
    file = folder / "kueue_quota" / "lab.yaml"
    file.parent.mkdir()
    file.write_text(yaml.safe_dump(data, allow_unicode=True), encoding="utf-8")
    return file


@pytest.mark.parametrize("slug", lab_slugs())
def test_every_lab_is_whole(slug):
    lab = load_lab(slug)
    for step in lab.steps:
        assert (CONTENT.parent.parent / "checks" / slug / step.checks).is_file()
        for language in LANGUAGES:
            assert (lab.folder / language / f"step_{step.number}.md").is_file()


CHANGES = {
    "typo at the top": (lambda d: d.update(titel="x"), "titel"),
    "typo in a step": (lambda d: d["steps"][3].update(minuets=3), "steps[3].minuets"),
    "typo in the target": (lambda d: d["target"].update(node=[]), "target.node"),
    "typo in a node": (lambda d: d["target"]["nodes"][0].update(gpu=4), "target.nodes[0].gpu"),
    "typo in a recorded kind": (
        lambda d: d["target"].update(recorded=[{"kind": "A", "plural": "as", "group": "a/v1"}]),
        "target.recorded[0].version",
    ),
    "recorded kind without a version": (
        lambda d: d["target"].update(recorded=[{"kind": "A", "plural": "as", "version": "a.io"}]),
        "target.recorded[0].version",
    ),
    "list for Kueue's settings": (lambda d: d["target"].update(kueue=[]), "target.kueue"),
    "number for a framework": (lambda d: d["target"].update(frameworks=[1]), "frameworks[0]"),
    "missing title": (lambda d: d["steps"][0].pop("title"), "steps[0].title"),
    "missing language": (lambda d: d["title"].pop("ko"), "title.ko"),
    "third language": (lambda d: d["title"].update(fr="x"), "title.fr"),
    "text for a number": (lambda d: d["steps"][0].update(minutes="5"), "steps[0].minutes"),
    "truth for a number": (lambda d: d["steps"][0].update(minutes=True), "steps[0].minutes"),
    "number for a text": (lambda d: d["steps"][1].update(files=[1]), "steps[1].files[0]"),
    "step out of order": (lambda d: d["steps"][1].update(number=3), "steps[1].number"),
    "needs itself": (lambda d: d["steps"][1].update(needs=[2]), "steps[1].needs"),
    "undone by an earlier": (lambda d: d["steps"][4].update(undone_by=2), "steps[4].undone_by"),
    "other slug": (lambda d: d.update(slug="kueue"), "slug"),
    "other schema": (lambda d: d.update(schema=2), "schema"),
    "no steps": (lambda d: d.update(steps=[]), "steps"),
    "list for a mapping": (lambda d: d.update(target=[]), "target"),
}


@pytest.mark.parametrize("case", CHANGES)
def test_fault_is_named(tmp_path, case):
    change, field = CHANGES[case]
    file = written(tmp_path, change)
    with pytest.raises(CatalogError) as caught:
        read_lab(file)
    assert str(file) in str(caught.value)
    assert field in str(caught.value)
    assert caught.value.next_move is not None
    assert caught.value.exit_code == 3


def test_text_that_is_not_yaml(tmp_path):
    file = tmp_path / "kueue_quota" / "lab.yaml"
    file.parent.mkdir()
    file.write_text("title: [", encoding="utf-8")
    with pytest.raises(CatalogError, match="cannot be read"):
        read_lab(file)


def test_unknown_lab_is_a_usage_error():
    with pytest.raises(UsageError) as caught:
        load_lab("kueue_quotas")
    assert "kueue_quotas" in str(caught.value)
    assert "kueue_quota" in str(caught.value.next_move)
