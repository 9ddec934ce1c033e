"""Hints as data: whole in both languages, bound to what was found, and never the answer."""

import ast
import functools
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from checks.outcome import CheckResult, Finding, Outcome, StepResult
from lab import hints
from lab.catalog import lab_slugs, load_lab
from lab.content import render
from lab.doctor.replay import Replay, read_answers
from lab.doctor.selftest import ANSWERS, judge_files
from lab.fields import CatalogError
from lab.grading import checks_folder
from lab.hints import LEVELS, hint_file, hint_text, offer, read_hints
from lab.model import Lab
from lab.places import Place
from lab.progress import HintUse, ProgressLog, StepRecord
from lab.solving import REPLACES
from lab.text import LANGUAGES, Speech
from provision.message import say
from tests.catalog import collect
from tests.schemas import validate
from tests.unit.lab.test_cli import lab as run_lab

ROOT = Path(__file__).parents[3]
LABS = [load_lab(slug) for slug in lab_slugs()]
EMPTY = Finding(say("a"), say("b"), say("c"), say("d"))
RICH = Finding(
    say(
        "{path}, line {line}, {field}",
        path="/home/me/cq.yaml",
        line=14,
        field='spec.resourceGroups[0].flavors[0].resources[2]["x"].nominalQuota',
    ),
    say("{text}", text="EXPECTED"),
    say("{found} (its Workload: {says})", found=say("{text}", text="FOUND"), says="SAYS"),
    say("this belongs to step {step}: {move}", step=2, move=say("apply {file}", file="cq.yaml")),
)


@pytest.fixture(autouse=True)
def read_once(monkeypatch):
    """These tests show each hint; a command reads the file once or twice."""
    once = functools.cache(lambda slug, language: read_hints(load_lab(slug), language))
    monkeypatch.setattr(hints, "read_hints", lambda lab, language: once(lab.slug, language))


def checks_of(lab: Lab) -> Iterator[str]:
    for step in lab.steps:
        file = ROOT / "checks" / lab.slug / step.checks
        for node in ast.parse(file.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
                yield f"{step.number}.{node.name.removeprefix('test_')}"


def failed(check: str, finding: Finding) -> CheckResult:
    return CheckResult(check, say("Title"), Outcome.FAILED, finding=finding)


def place_of(lab: Lab, folder: Path) -> Place:
    return Place(lab, folder, folder / "w", None)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("lab", LABS, ids=lambda lab: lab.slug)
def test_each_check_has_four_levels_and_the_general_ladder_comes_last(lab, language):
    ladders = read_hints(lab, language)
    known = set(checks_of(lab))
    assert {check for ladder in ladders for check in ladder.checks} == known
    for check in known:
        mine = [ladder for ladder in ladders if check in ladder.checks]
        assert all(ladder.about for ladder in mine[:-1]), check
        assert not mine[-1].about, check
        names = [ladder.about for ladder in mine]
        assert len(set(names)) == len(names), check
        for ladder in mine:
            assert len(ladder.levels) == LEVELS, check
            assert all(level.strip() for level in ladder.levels), check


@pytest.mark.parametrize("lab", LABS, ids=lambda lab: lab.slug)
def test_all_languages_have_the_same_ladders(lab):
    first, *others = [
        [(ladder.checks, ladder.about, ladder.when) for ladder in read_hints(lab, language)]
        for language in LANGUAGES
    ]
    assert all(other == first for other in others)
    for language in LANGUAGES:
        for ladder in read_hints(lab, language):
            has_hangul = [bool(re.search("[가-힣]", level)) for level in ladder.levels[:3]]
            assert has_hangul == [language == "ko"] * 3, ladder.levels


@pytest.mark.parametrize("lab", LABS, ids=lambda lab: lab.slug)
def test_each_word_that_chooses_a_ladder_is_said_somewhere(lab):
    """A sentence that is put in other words must not leave a ladder that nobody reaches."""
    files = (ROOT / "checks").rglob("*.py")
    code = "".join(file.read_text(encoding="utf-8") for file in files)
    said = "\n".join(collect())
    words = {w for ladder in read_hints(lab, "en") for ws in ladder.when.values() for w in ws}
    for word in words:
        parts = re.findall(r"\w+", word)
        assert word in said or all(f'"{part}"' in code or part in said for part in parts), word


@pytest.mark.parametrize("finding", [EMPTY, RICH], ids=["empty", "rich"])
@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("lab", LABS, ids=lambda lab: lab.slug)
def test_each_hint_can_be_shown_whatever_was_found(lab, language, finding, tmp_path):
    for ladder, step, check, texts in shown(lab, language, finding, tmp_path):
        assert len(texts) == LEVELS
        for text in texts:
            assert text.strip(), (step, check, ladder.about)
            assert "{{" not in text
            assert "{%" not in text
        assert "```" in texts[-1], (step, check)


def test_a_hint_names_what_was_found(tmp_path):
    lab = load_lab("kueue_quota")
    chosen = offer(lab, lab.step(2), StepRecord(), failed("queue_file", RICH))
    assert chosen is not None
    assert (chosen.ladder.about, chosen.level, chosen.of) == ("quota", 1, 4)
    texts = [hint_text(place_of(lab, tmp_path), chosen, n, Speech("en")) for n in (1, 2, 3, 4)]
    assert "/home/me/cq.yaml, line 14" in texts[0]
    assert "FOUND" in texts[2]
    assert "clusterqueue.spec.resourceGroups.flavors.resources.nominalQuota" in texts[3]
    general = offer(lab, lab.step(2), StepRecord(), failed("queue_file", EMPTY))
    assert general is not None
    assert general.ladder.about == ""
    ground = offer(lab, lab.step(5), StepRecord(), failed("ground", RICH))
    assert ground is not None
    assert "step 2" in hint_text(place_of(lab, tmp_path), ground, 1, Speech("en"))


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("lab", LABS, ids=lambda lab: lab.slug)
def test_no_hint_prints_an_answer(lab, language, tmp_path):
    for ladder, step, check, texts in shown(lab, language, EMPTY, tmp_path):
        text = "\n".join(texts)
        lines = {" ".join(line.split()) for line in text.splitlines()}
        for name, answer in answers(lab, step, tmp_path):
            pairs = set(pairs_of(answer)) if name.endswith(".yaml") else set()
            given = {pair for pair in pairs if re.search(rf"\b{re.escape(pair)}", text)}
            assert len(given) <= 1, (check, ladder.about, given)
            whole = {" ".join(line.split()) for line in answer.splitlines() if len(line) > 3}
            assert not (whole & lines), (check, ladder.about, name, whole & lines)


def shown(lab, language, finding, folder):
    """Each ladder for each of its checks, with its four texts."""
    place = place_of(lab, folder)
    for ladder in hints.read_hints(lab, language):
        for name in ladder.checks:
            number, _, check = name.partition(".")
            step = lab.step(int(number))
            chosen = offer(lab, step, StepRecord(), failed(check, finding))
            assert chosen is not None
            chosen = type(chosen)(step, chosen.failure, finding, ladder, 0)
            texts = [hint_text(place, chosen, n + 1, Speech(language)) for n in range(LEVELS)]
            yield ladder, step, check, texts


def answers(lab, step, folder):
    """What a learner hands in for a step: files, and the commands that change something."""
    for file in sorted((ROOT / "solutions" / lab.slug / f"step_{step.number}").iterdir()):
        text = render(
            file.read_text(encoding="utf-8"), place_of(lab, folder), step, where=file.name
        )
        if file.name == REPLACES:
            continue
        if file.name == "commands.sh":
            names = dict(re.findall(r"(?m)^(\w+)=([\w./-]+)$", text))
            for name, value in names.items():
                text = re.sub(rf'"?\$\{{?{name}\b\}}?"?', value, text)
            text = "\n".join(
                line.strip().removesuffix(" --ignore-not-found")
                for line in text.splitlines()
                if re.search(r"kubectl .*\b(delete job train|patch|create)\b", line)
            )
        yield file.name, text
    base = ROOT / "tests" / "grading" / "base" / lab.slug
    for name in step.files:
        if not name.endswith(".yaml"):
            yield name, (base / name).read_text(encoding="utf-8")


def pairs_of(answer: str) -> Iterator[str]:
    """Each `key: value` of a manifest that says more than which object it is."""

    def walk(value: object) -> Iterator[str]:
        if isinstance(value, dict):
            for key, below in value.items():
                if isinstance(below, dict | list):
                    yield from walk(below)
                elif key not in ("apiVersion", "kind", "name", "namespace"):
                    yield f"{key}: {below}"
        elif isinstance(value, list):
            for item in value:
                yield from walk(item)

    for document in yaml.safe_load_all(answer):
        yield from walk(document)


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("schema: 2\nhints: []", "schema"),
        ("schema: 1\nhint: []", "hint"),
        ("schema: 1\nhints: [{for: [1.a], levels: [a, b, c]}]", "hints[0]"),
        ("schema: 1\nhints: [{for: [], levels: [a, b, c, d]}]", "hints[0]"),
        ("schema: 1\nhints: [{for: [1.a], about: x, levels: [a, b, c, d]}]", "hints[0]"),
        ("schema: 1\nhints: [{for: [1.a], when: {x: [y]}, levels: [a, b, c, d]}]", "when.x"),
        ("schema: 1\nhints: [{for: [1.a], levels: [a, b, c, 4]}]", "levels[3]"),
        ("schema: 1\nhints: [{", "cannot be read"),
    ],
)
def test_hints_are_read_strictly(tmp_path, text, named):
    lab = load_lab("kueue_quota")
    elsewhere = type(lab)(
        **{name: getattr(lab, name) for name in lab.__slots__ if name != "folder"}, folder=tmp_path
    )
    assert read_hints(elsewhere, "en") == ()
    file = hint_file(elsewhere, "en")
    file.parent.mkdir()
    file.write_text(text, encoding="utf-8")
    with pytest.raises(CatalogError) as error:
        read_hints(elsewhere, "en")
    assert named in str(error.value.what)
    assert str(file) in str(error.value.what)


def failing(step: int, check: str, finding: Finding) -> StepResult:
    return StepResult(step, (failed(check, finding),), 1, 0.1)


def test_levels_are_recorded_one_by_one_and_anew_for_another_cause(tmp_path):
    log = ProgressLog(tmp_path / "kueue_quota" / "progress.jsonl")
    log.record(failing(2, "queue_file", RICH), by_answer=False)
    for level in (1, 2, 3, 4, 4):
        done = run_lab(tmp_path, "hint", "2")
        assert done.returncode == 0, done.stderr
        assert f"hint {level} of 4" in done.stdout
    assert "That was the last" in done.stdout
    assert log.records()[2].hints == tuple(HintUse("queue_file", "quota", n) for n in range(1, 5))
    log.record(failing(2, "queue_file", EMPTY), by_answer=False)
    assert "hint 1 of 4" in run_lab(tmp_path, "hint", "2").stdout
    assert log.records()[2].level_used("queue_file", "") == 1
    assert log.records()[2].attempts == 2


def test_hints_seen_are_shown_again_and_nothing_is_recorded(tmp_path):
    log = ProgressLog(tmp_path / "kueue_quota" / "progress.jsonl")
    log.record(failing(5, "waiting_file", RICH), by_answer=False)
    assert "hint 1" not in run_lab(tmp_path, "hint", "5", "--seen").stdout
    for _ in range(2):
        run_lab(tmp_path, "hint", "5")
    before = (tmp_path / "kueue_quota" / "progress.jsonl").read_bytes()
    said = run_lab(tmp_path, "hint", "5", "--seen", LAB_LANG="ko").stdout
    assert "힌트 1/4" in said
    assert "힌트 2/4" in said
    assert "힌트 3/4" not in said
    assert (tmp_path / "kueue_quota" / "progress.jsonl").read_bytes() == before


def test_commands_of_a_hint_are_not_broken_on_a_narrow_terminal(tmp_path):
    log = ProgressLog(tmp_path / "kueue_quota" / "progress.jsonl")
    log.record(failing(8, "same_job", EMPTY), by_answer=False)
    for _ in range(3):
        run_lab(tmp_path, "hint", "8")
    said = run_lab(tmp_path, "hint", "8", COLUMNS="40").stdout
    assert "\n    kubectl -n team-a get job train-3 -o yaml\n" in said


def test_a_hint_as_json(tmp_path):
    log = ProgressLog(tmp_path / "kueue_quota" / "progress.jsonl")
    log.record(failing(7, "ledger_true", RICH), by_answer=False)
    data = json.loads(run_lab(tmp_path, "hint", "7", "--json").stdout)
    validate("hint", data)
    assert (data["step"], data["check"], data["of"], data["verdict"]) == (
        7,
        "ledger_true",
        4,
        "NOT YET",
    )
    assert [hint["level"] for hint in data["hints"]] == [1]
    assert data["finding"]["found"] == "FOUND (its Workload: SAYS)"


def test_without_a_place_there_is_no_hint_and_nothing_is_recorded(tmp_path):
    done = run_lab(tmp_path, "hint", "1")
    assert done.returncode == 3
    assert "CANNOT TELL" in done.stdout
    assert "make provision" in done.stdout
    data = json.loads(run_lab(tmp_path, "hint", "1", "--json").stdout)
    validate("hint", data)
    assert data["verdict"] == "CANNOT TELL"
    assert not list(tmp_path.rglob("progress.jsonl"))


def test_a_failure_of_another_version_is_no_failure(tmp_path):
    """What cannot be read any more is graded again: here without a place, so CANNOT TELL."""
    file = tmp_path / "kueue_quota" / "progress.jsonl"
    file.parent.mkdir()
    file.write_text('{"event":"graded","step":1,"verdict":"NOT YET","first_failure":{"id":1}}\n')
    assert run_lab(tmp_path, "hint", "1").returncode == 3


@pytest.mark.parametrize(
    ("case", "check", "about"),
    [
        ("selector-null", "queue_file", "selector"),
        ("memory-2G", "queue_file", "quota"),
        ("resource-order-mismatch", "queue_file", "resources"),
        ("stop-hold", "queue_file", "extra"),
        ("two-groups-one-flavor", "queue_file", ""),
        ("v1beta1-cohort", "queue_file", "head"),
    ],
)
def test_what_real_checks_find_chooses_the_ladder(case, check, about, tmp_path):
    """A wrong answer of the kit, judged by the real checks on recorded objects."""
    lab = load_lab("kueue_quota")
    folder = ROOT / "tests" / "grading" / "wrong" / lab.slug / "2" / case
    answers = read_answers(checks_folder() / lab.slug / "selftest" / ANSWERS)
    with Replay(answers) as replay:
        result = judge_files(lab, 2, folder / "files", replay, tmp_path)
    failure = result.first_failure
    assert failure is not None, result
    assert failure.id == check
    chosen = offer(lab, lab.step(2), StepRecord(), failure)
    assert chosen is not None
    assert chosen.ladder.about == about
    for language in LANGUAGES:
        text = hint_text(place_of(lab, tmp_path), chosen, 3, Speech(language))
        assert Speech(language).of(failure.finding.found) in text


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("lab", LABS, ids=lambda lab: lab.slug)
def test_no_sentence_of_a_hint_ends_twice(lab, language, tmp_path):
    """What was found may be a whole sentence, and the hint sets its own full stop."""
    ended = Finding(*(say("{part}", part=f"It is so {n}.") for n in range(4)))
    all_texts = [text for *_, texts in shown(lab, language, ended, tmp_path) for text in texts]
    assert any("It is so" in text for text in all_texts)
    for text in all_texts:
        assert ".." not in text.replace("...", ""), text


@pytest.mark.parametrize(("level", "used"), [(-5, 0), (2, 2), (99, LEVELS)])
def test_a_level_that_there_is_not_is_no_level(level, used):
    lab = load_lab("kueue_quota")
    record = StepRecord(hints=(HintUse("flavor_file", "file", level),))
    finding = Finding(say("a"), say("a file of UTF-8 text"), say("c"), say("d"))
    chosen = offer(lab, lab.step(1), record, failed("flavor_file", finding))
    assert chosen.used == used
