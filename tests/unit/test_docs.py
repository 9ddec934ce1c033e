"""What the documents name is there, and what is there is named."""

import re
from pathlib import Path

import pytest
import yaml

from lab.catalog import lab_slugs, load_lab
from lab.content import render
from lab.places import Place
from lab.replacing import LiveObject
from lab.solving import read_answer
from lab.text import LANGUAGES
from tests.catalog import collect

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
VERBS = set(re.findall(r"(?m)^([a-z-]+):.*## ", MAKEFILE))
HEADINGS = {
    "en": ["Goal", "What to do", "Why it matters", "Where to look", "Common mistakes", "Reference"],
    "ko": ["목표", "할 일", "왜 중요한가", "어디를 볼까", "흔한 실수", "참고"],
}
STEPS = [(load_lab(slug), step) for slug in lab_slugs() for step in load_lab(slug).steps]


def sources() -> str:
    files = [f for d in ("lab", "provision") for f in (ROOT / d).rglob("*.py")]
    return MAKEFILE + "".join(file.read_text(encoding="utf-8") for file in files)


@pytest.mark.parametrize("document", ["README.md", "CONTRIBUTING.md"])
def test_every_verb_that_a_document_names_exists(document):
    text = (ROOT / document).read_text(encoding="utf-8")
    named = set(re.findall(r"\bmake ([a-z][a-z-]+)", "".join(re.findall(r"`[^`]*`", text))))
    named |= set(re.findall(r"(?m)^make ([a-z][a-z-]+)", text))
    assert named, "the document names no verb"
    assert named <= VERBS


def test_every_verb_that_a_message_names_exists():
    named = {verb for text in collect() for verb in re.findall(r"\bmake ([a-z-]+)", text)}
    known = VERBS | {"sure", "it", "room", "the", "way"}
    assert "provision" in named
    assert named <= known, named - known


def test_every_variable_of_the_readme_is_read_somewhere():
    table = README.split("## Environment variables")[1].split("\n## ")[0]
    names = set(re.findall(r"(?m)^\| `([A-Z_]+)", table))
    assert {"LAB_HOME", "LAB_CACHE", "YES", "KUEUE_VERSION"} <= names
    for name in names:
        assert name in sources(), name


def test_versions_of_the_readme_are_those_of_the_parts():
    modules = (ROOT / "provision/local/data/go/go.mod").read_text(encoding="utf-8")
    for module, label in (
        ("sigs.k8s.io/kueue", "Kueue"),
        ("k8s.io/kubernetes", "Kubernetes"),
        ("sigs.k8s.io/kwok", "KWOK"),
        ("go.etcd.io/etcd/server/v3", "etcd"),
    ):
        version = re.search(rf"(?m)^\s*{re.escape(module)} (v\S+)", modules)[1]
        assert re.search(rf"\| {label} \| {re.escape(version)}", README), label
    training = (ROOT / "provision/local/data/go-training/go.mod").read_text(encoding="utf-8")
    for module, label in (
        ("jobset", "JobSet"),
        ("github.com/kubeflow/trainer/v2", "Kubeflow Trainer"),
    ):
        version = re.search(rf"(?m)^(?:require)?\s*\S*{re.escape(module)} (v\S+)", training)[1]
        assert re.search(rf"\| {label}[^|]* \| {re.escape(version)}", README), label


def test_readme_has_no_gaps():
    assert "GAP-" not in README


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(("lab", "step"), STEPS, ids=lambda value: getattr(value, "id", ""))
def test_text_of_a_step_is_whole(lab, step, language, tmp_path):
    source = (lab.folder / language / f"step_{step.number}.md").read_text(encoding="utf-8")
    place = Place(lab, tmp_path, tmp_path / "w", None)
    text = render(source, place, step, where="text")
    headings = re.findall(r"(?m)^## (.*)$", text)
    assert headings == HEADINGS[language]
    first = text.splitlines()[0]
    numbers = [int(n) for n in re.findall(r"\d+", first)]
    assert numbers[0] == step.minutes
    assert set(step.needs) <= set(numbers[1:])
    for file in step.files:
        assert f"`{file}`" in text, file
    commands = "\n".join(re.findall(r"(?ms)^```sh\n(.*?)^```", text)).splitlines()
    # With a column of indent on each side a command fits into 80, to be copied in one piece.
    assert [c for c in commands if len(c) > 78] == []


@pytest.mark.parametrize(("lab", "step"), STEPS, ids=lambda value: getattr(value, "id", ""))
def test_answers_are_there_and_their_manifests_parse(lab, step, tmp_path):
    folder = ROOT / "solutions" / lab.slug / f"step_{step.number}"
    place = Place(lab, tmp_path, tmp_path / "w", None)
    assert (folder / "commands.sh").is_file() or any(folder.iterdir())
    for file in folder.iterdir():
        text = render(file.read_text(encoding="utf-8"), place, step, where=file.name)
        assert "{{" not in text
        if file.suffix == ".yaml":
            assert all(document["kind"] for document in yaml.safe_load_all(text))


@pytest.mark.parametrize(("lab", "step"), STEPS, ids=lambda value: getattr(value, "id", ""))
def test_answers_name_every_object_that_they_may_replace(lab, step, tmp_path):
    answer = read_answer(Place(lab, tmp_path, tmp_path / "w", None), step)
    named = {LiveObject(*line.split()) for line in answer.replaces}
    laid = {
        LiveObject(
            document["kind"],
            document["metadata"]["name"],
            document["metadata"].get("namespace", ""),
        )
        for name, text in answer.files.items()
        if name.endswith(".yaml")
        for document in yaml.safe_load_all(text)
        for meta in [document["metadata"]]
    }
    assert laid <= named
    assert "replaces.txt" not in answer.files
